"""litellm's own opensandbox provider, as published, against the emulator.

The last group shows what litellm gets wrong: there the client notices nothing and the emulator's ledger does.
"""

import httpx
import litellm
import pytest

MIB = 1024 * 1024


def arguments(emulator):
    return {"provider": "opensandbox", "api_base": emulator.base, "api_key": emulator.key}


def run_arguments(emulator):
    return {"provider": "opensandbox", "api_key": emulator.key}


PRINTS_42 = [{"match": {"code": "print(6*7)"}, "events": [{"stdout": "42\n"}]}]


async def test_create_run_delete(emulate):
    emulator = emulate(execution=PRINTS_42)
    sandbox = await litellm.acreate_sandbox(**arguments(emulator))
    assert sandbox.provider == "opensandbox"
    result = await litellm.arun_code(container=sandbox, code="print(6*7)", **run_arguments(emulator))
    assert (result.stdout, result.stderr, result.error) == ("42\n", "", None)
    assert await litellm.adelete_sandbox(container=sandbox, **arguments(emulator)) is True
    assert emulator.ledger()["summary"] == {"created": 1, "deleted": 1, "expired": 0, "live": 0}
    assert emulator.leaks() == []
    assert [entry["operation"] for entry in emulator.journal()] == [
        "createSandbox", "getEndpoint", "runCode", "deleteSandbox"]


async def test_results_errors_and_counts_reach_the_caller(emulate):
    emulator = emulate(execution=[
        {"match": {"code": "2+2"}, "events": [{"executionCount": 7}, {"result": {"text": "4", "text/html": "<b>4</b>"}}]},
        {"match": {"code": "1/0"}, "events": [
            {"stderr": "about to fail\n"},
            {"error": {"name": "ZeroDivisionError", "value": "division by zero", "traceback": ["line 1"]}}]}])
    sandbox = await litellm.acreate_sandbox(**arguments(emulator))
    result = await litellm.arun_code(container=sandbox, code="2+2", **run_arguments(emulator))
    assert result.results == [{"text": "4", "text/html": "<b>4</b>"}]
    assert result.execution_count == 7
    result = await litellm.arun_code(container=sandbox, code="1/0", **run_arguments(emulator))
    assert result.stderr == "about to fail\n"
    assert result.error == {"name": "ZeroDivisionError", "value": "division by zero", "traceback": ["line 1"]}
    await litellm.adelete_sandbox(container=sandbox, **arguments(emulator))


async def test_boots_through_pending_and_a_late_endpoint(emulate):
    emulator = emulate(
        sandboxes=[{"lifecycle": [{"state": "Pending", "polls": 2}, {"state": "Running"}],
                    "endpoint": {"readyAfterPolls": 2}}],
        execution=PRINTS_42)
    sandbox = await litellm.acreate_sandbox(poll_interval=0.01, **arguments(emulator))
    assert len(emulator.journal("getSandbox")) >= 2
    assert len(emulator.journal("getEndpoint")) == 3
    await litellm.adelete_sandbox(container=sandbox, **arguments(emulator))


async def test_ephemeral_code_interpreter_call(emulate):
    emulator = emulate(execution=PRINTS_42)
    result = await litellm.acode_interpreter_tool(code="print(6*7)", **arguments(emulator))
    assert result.stdout == "42\n"
    assert emulator.ledger()["summary"]["live"] == 0
    assert len(emulator.journal("deleteSandbox")) == 1


async def test_ephemeral_call_deletes_although_the_run_fails(emulate):
    emulator = emulate(faults=[{"id": "broken-run", "on": "runCode", "nth": 1, "respond": {"status": 400}}])
    with pytest.raises(Exception):
        await litellm.acode_interpreter_tool(code="print(6*7)", **arguments(emulator))
    assert emulator.ledger()["summary"] == {"created": 1, "deleted": 1, "expired": 0, "live": 0}


async def test_output_over_the_cap_is_refused(emulate):
    emulator = emulate(execution=[
        {"match": {"code": "flood"}, "events": [{"stdout": {"fill": "x", "bytes": 11 * MIB, "lines": 1}}]}])
    sandbox = await litellm.acreate_sandbox(**arguments(emulator))
    with pytest.raises(Exception, match="Sandbox output exceeded 10485760 bytes"):
        await litellm.arun_code(container=sandbox, code="flood", **run_arguments(emulator))
    await litellm.adelete_sandbox(container=sandbox, **arguments(emulator))
    assert emulator.leaks() == []


async def test_deleting_an_unknown_id_is_false(emulate):
    emulator = emulate()
    assert await litellm.adelete_sandbox(container="no-such-sandbox", **arguments(emulator)) is False


async def test_a_wrong_key_is_told_at_create(emulate):
    emulator = emulate()
    with pytest.raises(Exception, match="401"):
        await litellm.acreate_sandbox(provider="opensandbox", api_base=emulator.base, api_key="wrong")
    assert emulator.ledger()["summary"]["created"] == 0


# --- what litellm gets wrong, and the ledger tells --------------------------------------------------------------------


@pytest.mark.parametrize("state", ["Failed", "Stopping", "Terminated"])
async def test_a_terminal_state_raises_and_litellm_leaks_the_sandbox(emulate, state):
    emulator = emulate(sandboxes=[{"lifecycle": [
        {"state": "Pending", "polls": 1}, {"state": state, "reason": "ImagePullFailed", "message": "no such image"}]}])
    with pytest.raises(Exception, match=f"entered {state}"):
        await litellm.acreate_sandbox(poll_interval=0.01, **arguments(emulator))
    assert emulator.ledger()["summary"]["live"] == 1
    [sentence] = emulator.leaks()
    assert "sb-1 leaked: created by POST #1" in sentence and "never deleted" in sentence
    assert emulator.verdict()["passed"] is False


async def test_a_sandbox_that_is_never_ready_is_leaked_by_litellm(emulate):
    emulator = emulate(sandboxes=[{"lifecycle": [{"state": "Pending"}]}])
    with pytest.raises(Exception, match="was not Running within 0.2 seconds"):
        await litellm.acreate_sandbox(ready_timeout=0.2, poll_interval=0.02, **arguments(emulator))
    assert len(emulator.leaks()) == 1


async def test_a_cut_stream_costs_litellm_the_output_that_came_before(emulate):
    emulator = emulate(
        execution=[{"match": {"code": "count"}, "events": [{"stdout": "one\n"}, {"stdout": "two\n"}, {"stdout": "three\n"}]}],
        faults=[{"id": "torn", "on": "runCode", "nth": 1, "cut": {"atEvent": 4, "how": "fin"}}])
    sandbox = await litellm.acreate_sandbox(**arguments(emulator))
    with pytest.raises(httpx.TransportError) as raised:  # the bare library error: no output, no sandbox id
        await litellm.arun_code(container=sandbox, code="count", **run_arguments(emulator))
    assert "one" not in str(raised.value) and sandbox.id not in str(raised.value)
    await litellm.adelete_sandbox(container=sandbox, **arguments(emulator))
    [run] = emulator.journal("runCode")
    assert run["rules"].count("torn") == 1
    assert run["end"]["ending"] == "fin" and run["end"]["clientClosed"] is False


async def test_a_stream_without_its_completion_event_looks_complete_to_litellm(emulate):
    emulator = emulate(execution=[
        {"match": {"code": "die"}, "events": [{"stdout": "half\n"}, {"end": "noCompletion"}]}])
    sandbox = await litellm.acreate_sandbox(**arguments(emulator))
    result = await litellm.arun_code(container=sandbox, code="die", **run_arguments(emulator))
    assert (result.stdout, result.error) == ("half\n", None)
    await litellm.adelete_sandbox(container=sandbox, **arguments(emulator))
