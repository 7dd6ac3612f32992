"""The reference service is killed while it answers: answers are whole, or errors."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hostile.measure import open_sockets

from aatoolkit import errors
from aatoolkit.http import Fetcher, cache_info
from aatoolkit.payload import Request

TOKEN = "a-token-of-the-killed-service"
SECTIONS = ("overview", "chats", "urls", "prompts", "domains")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("store")
    command = [sys.executable, "-m", "aatoolkit", "synth", str(folder), "--answers", "2000"]
    subprocess.run(command, check=True, timeout=100, capture_output=True)
    (folder.parent / "token").write_text(TOKEN)
    return folder


@contextmanager
def serving(store: Path, port: int = 0) -> Iterator[tuple[str, int]]:
    """The service in a process of its own; its address and process."""
    token = str(store.parent / "token")
    command = ["serve", str(store), "--port", str(port), "--token-file", token]
    with subprocess.Popen(
        [sys.executable, "-u", "-m", "aatoolkit", *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            for line in process.stdout:
                found = re.search(r"http://[0-9.]+:\d+", line)
                if found:
                    yield found[0], process.pid
                    break
        finally:
            process.kill()


def ask(fetcher: Fetcher, section: str) -> Any:
    """The body of an answer, or the error."""
    try:
        params = {"section": section, "days": "90"}
        return fetcher.get(Request("agent-analytics", "acme.example", params=params)).body
    except errors.FetchError as error:
        return error


@pytest.mark.thorough
def test_a_service_killed_while_it_answers_leaves_whole_answers_or_errors(
    store: Path, tmp_path: Path
) -> None:
    sockets = open_sockets()
    killed = threading.Event()
    with serving(store) as (url, pid):
        settings: dict[str, Any] = {"deadline": 20, "sleep": lambda _: None}
        asking = Fetcher(url, TOKEN, cache=False, workers=4, **settings)
        whole = {section: ask(asking, section) for section in SECTIONS}
        assert all(isinstance(body, bytes) for body in whole.values())
        keeping = Fetcher(url, TOKEN, cache=tmp_path, **settings)

        def hammer(number: int) -> list[tuple[str, Any, bool]]:
            found = []
            while not found or not isinstance(found[-1][1], errors.FetchError):
                section = SECTIONS[(number + len(found)) % len(SECTIONS)]
                one = keeping if number == 0 and len(found) < len(SECTIONS) else asking
                found.append((section, ask(one, section), killed.is_set()))
            return found

        with ThreadPoolExecutor(4) as pool:
            hammering = [pool.submit(hammer, number) for number in range(4)]
            time.sleep(0.4)
            os.kill(pid, signal.SIGKILL)
            killed.set()
            outcomes = [each for one in hammering for each in one.result(timeout=60)]
        failed = [found for _, found, _ in outcomes if isinstance(found, errors.FetchError)]
        assert len(failed) == 4
        assert {type(error) for error in failed} == {errors.ConnectionFailed}
        for section, found, _ in outcomes:
            assert isinstance(found, errors.FetchError) or found == whole[section]
        kept = {section: ask(keeping, section) for section in SECTIONS}
        whole_or_failed = [
            body == whole[section] if isinstance(body, bytes) else True
            for section, body in kept.items()
        ]
        assert all(whole_or_failed)
        assert cache_info(tmp_path).answers == sum(
            isinstance(body, bytes) for body in kept.values()
        )
    with serving(store, int(url.rpartition(":")[2])) as (again, _):
        assert again == url
        assert ask(asking, "urls") == whole["urls"]
        assert ask(keeping, "urls") == whole["urls"]
    asking.close()
    keeping.close()
    assert open_sockets() == sockets
