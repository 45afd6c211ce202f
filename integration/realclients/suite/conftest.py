import json
import os
import pathlib
import subprocess
import time

import pytest
import requests


class Forgetest:
    """The server that all tests share."""

    def __init__(self, ready):
        self.url, self.token, self.control_token = ready["url"], ready["token"], ready["control_token"]

    def control(self, method, path, body=None):
        response = requests.request(method, f"{self.url}/_forgetest/{path}", json=body,
                                    headers={"Authorization": "Bearer " + self.control_token}, timeout=10)
        assert response.ok, response.text
        return response.json()


@pytest.fixture(scope="session")
def forgetest(tmp_path_factory):
    if shared := os.environ.get("FORGETEST_READY"):  # a server that runs already
        yield Forgetest(json.loads(pathlib.Path(shared).read_text()))
        return
    ready = tmp_path_factory.mktemp("forgetest") / "ready.json"
    server = subprocess.Popen(["forgetest", "-addr", "127.0.0.1:0", "-ready-file", str(ready)])
    while not ready.exists():
        assert server.poll() is None, "forgetest has ended"
        time.sleep(0.01)
    yield Forgetest(json.loads(ready.read_text()))
    server.terminate()
    assert server.wait(5) == 0
