"""The official opensandbox Python SDK, as published, against the emulator.

Its code interpreter (opensandbox-code-interpreter 1.1.1) runs a shell command while it starts, a route that is not emulated yet.
"""

from datetime import timedelta

import pytest
from opensandbox import SandboxSync
from opensandbox.config import ConnectionConfigSync


def connection(emulator):
    return ConnectionConfigSync(domain=emulator.address, api_key=emulator.key, request_timeout=timedelta(seconds=10))


def create(emulator, **more):
    return SandboxSync.create("python:3.12", connection_config=connection(emulator), timeout=timedelta(minutes=5), **more)


def test_create_reports_a_running_sandbox_and_kill_deletes_it(emulate):
    emulator = emulate()
    sandbox = create(emulator, metadata={"tag": "compat"})
    info = sandbox.get_info()
    assert info.status.state == "Running"
    assert info.metadata["tag"] == "compat"
    assert info.entrypoint == ["tail", "-f", "/dev/null"]
    assert (info.expires_at - info.created_at).total_seconds() == pytest.approx(300, abs=1)
    assert sandbox.is_healthy()
    assert sandbox.get_endpoint(44772).endpoint.endswith("/44772")
    sandbox.kill()
    assert emulator.leaks() == []


def test_pause_resume_renew_and_metadata(emulate):
    emulator = emulate()
    sandbox = create(emulator)
    before = sandbox.get_info().expires_at
    sandbox.pause()
    assert sandbox.get_info().status.state == "Paused"
    SandboxSync.resume(sandbox.id, connection_config=connection(emulator))
    assert sandbox.get_info().status.state == "Running"
    sandbox.renew(timedelta(minutes=30))
    assert sandbox.get_info().expires_at > before
    sandbox.patch_metadata({"team": "a"})
    assert sandbox.get_info().metadata["team"] == "a"
    sandbox.kill()


def test_connect_to_an_existing_sandbox(emulate):
    emulator = emulate()
    first = create(emulator)
    second = SandboxSync.connect(first.id, connection_config=connection(emulator))
    assert second.get_info().id == first.id
    second.kill()


def test_a_sandbox_that_never_answers_pings_is_deleted_by_the_sdk(emulate):
    emulator = emulate(faults=[{"id": "unhealthy", "on": "ping", "every": 1, "respond": {"status": 503}}])
    with pytest.raises(Exception):
        create(emulator, ready_timeout=timedelta(seconds=1))
    assert emulator.ledger()["summary"]["live"] == 0
