"""The official opensandbox Python SDK and its code interpreter, as published, against the emulator."""

from datetime import timedelta

import pytest
from code_interpreter import CodeInterpreterSync
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


def test_code_interpreter_runs_and_surfaces_errors(emulate):
    emulator = emulate(execution=[
        {"match": {"code": "print(1)\n2+2"},
         "events": [{"stdout": "1\n"}, {"executionCount": 2}, {"result": {"text": "4"}}]},
        {"match": {"code": "1/0"},
         "events": [{"error": {"name": "ZeroDivisionError", "value": "division by zero", "traceback": ["t"]}}]}])
    interpreter = CodeInterpreterSync.create(create(emulator))
    execution = interpreter.codes.run("print(1)\n2+2")
    assert [message.text for message in execution.logs.stdout] == ["1\n"]
    assert [result.text for result in execution.result] == ["4"]
    failed = interpreter.codes.run("1/0")
    assert (failed.error.name, failed.error.value) == ("ZeroDivisionError", "division by zero")
    interpreter.sandbox.kill()
    assert emulator.leaks() == []


def test_a_sandbox_that_never_answers_pings_is_deleted_by_the_sdk(emulate):
    emulator = emulate(faults=[{"id": "unhealthy", "on": "ping", "every": 1, "respond": {"status": 503}}])
    with pytest.raises(Exception):
        create(emulator, ready_timeout=timedelta(seconds=1))
    assert emulator.ledger()["summary"]["live"] == 0
