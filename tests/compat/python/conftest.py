"""The emulator as a fixture: one `serve` process per test, on ports of the system's choice, with a scenario file."""

import json
import os
import signal
import subprocess
import urllib.request

import pytest


class Emulator:
    def __init__(self, scenario, folder, key="compat-key"):
        self.key = key
        path = folder / f"{scenario['name']}.scenario.json"
        path.write_text(json.dumps(scenario))
        self.process = subprocess.Popen(
            [os.environ["OPENSANDBOX_EMULATOR"], "serve", "--scenario", str(path), "--port", "0", "--control-port", "0",
             "--api-key", key],
            stdout=subprocess.PIPE, text=True)
        ready = json.loads(self.process.stdout.readline())
        self.address = ready["address"]
        self.control = ready["control"]
        self.base = f"http://{self.address}/v1"

    def ask(self, path):
        with urllib.request.urlopen(f"http://{self.control}{path}") as answer:
            return answer.read().decode()

    def ledger(self):
        return json.loads(self.ask("/ledger"))

    def leaks(self):
        return [leak["sentence"] for leak in json.loads(self.ask("/leaks"))["leaks"]]

    def verdict(self):
        return json.loads(self.ask("/verdict"))

    def journal(self, operation=None):
        entries = [json.loads(line) for line in self.ask("/journal").splitlines() if line]
        return [entry for entry in entries if operation in (None, entry["operation"])]

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=20)


@pytest.fixture
def emulate(tmp_path):
    started = []

    def start(**scenario):
        scenario = {"schemaVersion": 1, "name": "compat", "clock": "real", **scenario}
        started.append(Emulator(scenario, tmp_path))
        return started[-1]

    yield start
    for emulator in started:
        assert emulator.stop() == 0
