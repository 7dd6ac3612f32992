"""What stores of responses keep to: subclass `StoreContract`, and name how one is opened.

The name is that of a function here, so that processes of their own can open the store, too.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from processes import python

from aatoolkit.errors import AAToolkitError, AAToolkitWarning
from aatoolkit.payload import Request, Response
from aatoolkit.scope import Scope

BASE = "https://api.example/v1"
MOMENT = datetime(2026, 11, 20, 12, 30, 15, 123456, tzinfo=UTC)
PATHS = os.pathsep.join(map(str, (Path(__file__).parent, Path(__file__).parents[2])))
"""Where a process of its own finds this module, and the package."""


def open_cache(folder: Path) -> Any:
    """The cache of a client."""
    from aatoolkit.http import ResponseCache, Secret

    return ResponseCache(folder, Secret("token-of-the-contract"))


def open_study(folder: Path) -> Any:
    """A study that is recorded."""
    from aatoolkit.study import Record, Study

    study = Study.create(folder, title="The contract")

    class Responses:
        def put(self, response: Response) -> None:
            study._require_writer().append(Record.from_response(response), response.body)

        def get(self, request: Request) -> Response | None:
            records = {record.request.key: record for record in study._current_records}
            record = records.get(request.key)
            return None if record is None else record.response(study._read_body(record))

    return Responses()


def response_to(topic: str, body: bytes | None = None, **facts: Any) -> Response:
    """A response to one of many requests; by default its body tells to which."""
    request = Request.for_section("acme.example", "urls", Scope(topic=topic)).with_base_url(BASE)
    body = b'{"topic": "%b"}' % topic.encode() if body is None else body
    return Response(request, **{"status": 200, "headers": {"etag": "x"}, "fetched_at": MOMENT,
                                "body": body, **facts})  # fmt: skip


def write(opener: str, folder: str, name: str, size: str, count: str) -> None:
    """Put responses, and acknowledge each: what a process of its own runs."""
    store = globals()[opener](Path(folder))
    for number in range(int(count)):
        store.put(response_to(f"{name} {number}", b"%d" % number + b" " * int(size)))
        os.write(1, f"{number}\n".encode())
    getattr(store, "close", lambda: None)()


class StoreContract:
    """The laws of a store; a subclass names the function that opens it.

    - After ``put`` has returned, ``get`` of an equal request (`Request.key`) returns that
      response, in this process and in others, also if this one is killed.
    - What is returned is what was put, byte for byte; where a byte has changed since, the
      response is missing or an error of the package is raised.
    - ``fetched_at`` is what it was, whatever the clock of the machine says.
    - A disk that is full or a file in use costs a warning or an error of the package, and nothing
      that was there.
    """

    opener: str
    pause = 0.1
    """How many seconds a writer has at most before it is killed."""
    puts = 60
    """How many responses each of four writers puts."""
    large = "20000"
    """How long the bodies are that a full disk has no room for."""

    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        return tmp_path / "store"

    def open(self, folder: Path) -> Any:
        return globals()[self.opener](folder)

    def close(self, store: Any) -> None:
        getattr(store, "close", lambda: None)()

    def writer(self, folder: Path, *arguments: Any) -> subprocess.Popen[str]:
        code = "import sys, stores; stores.write(*sys.argv[1:])"
        command = [sys.executable, "-W", "error", "-c", code, self.opener, str(folder)]
        return subprocess.Popen(
            [*command, *map(str, arguments)],
            env={**os.environ, "PYTHONPATH": PATHS},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def test_what_is_put_is_got_by_an_equal_request_and_in_another_store(
        self, folder: Path
    ) -> None:
        store = self.open(folder)
        scope = Scope(days=7, engine=["b", "a"], topic='ä, "x" & %2F'.replace(",", ""))
        request = Request.for_section("acme.example", "urls", scope).with_base_url(BASE)
        bodies = [b"", b"{}", b'{"a": "\xc3\xa9"}', bytes(range(256)) * 300]
        kept = [
            Response(request, 200, {"etag": "a", "x-data": "ä"}, MOMENT, bodies[2]),
            Response(
                Request.for_scope_options("acme.example").with_base_url(BASE),
                200,
                {},
                MOMENT,
                b"{}",
            ),
            *(response_to(f"{n}", body, status=200 + n) for n, body in enumerate(bodies)),
        ]
        for response in kept:
            assert store.get(response.request) is None
            store.put(response)
        other = replace(request, params=dict(reversed(request.params.items())))
        for where in (store, self.open(folder)):
            assert [where.get(response.request) for response in kept] == kept
            assert where.get(other) is not None
            assert where.get(request.with_base_url("https://api.example")) is None
            assert where.get(replace(request, host="globex.example")) is None
            self.close(where)

    def test_the_latest_response_counts(self, folder: Path) -> None:
        store = self.open(folder)
        for n in range(3):
            store.put(response_to("a", b"%d" % n, fetched_at=MOMENT + timedelta(hours=n)))
        assert store.get(response_to("a").request).body == b"2"
        self.close(store)

    @pytest.mark.parametrize("year", [1971, 2026, 2199])
    def test_no_clock_changes_when_a_response_was_fetched(self, folder: Path, year: int) -> None:
        store = self.open(folder)
        response = response_to("a", fetched_at=MOMENT.replace(year=year))
        store.put(response)
        assert store.get(response.request).fetched_at == response.fetched_at
        self.close(store)

    def test_threads_lose_nothing(self, folder: Path) -> None:
        store = self.open(folder)

        def work(thread: int) -> list[bool]:
            draw, right = random.Random(thread), []
            for _ in range(20):
                topic = str(draw.randrange(30))
                store.put(response_to(topic))
                right.append(store.get(response_to(topic).request) == response_to(topic))
            return right

        with ThreadPoolExecutor(8) as pool:
            assert all(all(right) for right in pool.map(work, range(8)))
        self.close(store)

    @pytest.mark.thorough
    def test_processes_lose_nothing(self, folder: Path) -> None:
        writers = [self.writer(folder, f"w{n}", 2000, self.puts) for n in range(4)]
        for writer in writers:
            _, wrong = writer.communicate(timeout=120)
            assert (writer.returncode, wrong) == (0, "")
        store = self.open(folder)
        for topic in (f"w{n} {number}" for n in range(4) for number in range(self.puts)):
            assert store.get(response_to(topic).request) is not None
        self.close(store)

    @pytest.mark.timeout(600)  # each turn starts an interpreter
    @pytest.mark.parametrize("turns", [2, pytest.param(30, marks=pytest.mark.thorough)])
    def test_what_was_acknowledged_survives_a_kill(self, folder: Path, turns: int) -> None:
        draw, acknowledged = random.Random(20261123), 0
        for turn in range(turns):
            with self.writer(folder, f"t{turn}", 20_000, 10**6) as process:
                assert process.stdout is not None
                lines = [process.stdout.readline()]
                time.sleep(draw.uniform(self.pause / 2, self.pause))
                os.kill(process.pid, signal.SIGKILL)
                lines += process.stdout.readlines()
            store = self.open(folder)
            for line in lines[:-1]:
                number = int(line)
                kept = store.get(response_to(f"t{turn} {number}").request)
                assert kept.body == b"%d" % number + b" " * 20_000
            self.close(store)
            acknowledged += len(lines) - 1
        assert acknowledged >= turns

    @pytest.mark.parametrize("turns", [30, pytest.param(300, marks=pytest.mark.thorough)])
    def test_a_flipped_bit_never_gives_another_response(self, folder: Path, turns: int) -> None:
        store = self.open(folder)
        kept = [response_to(topic, topic.encode() * 700) for topic in "abcdefgh"]
        for response in kept:
            store.put(response)
        self.close(store)
        intact = folder.with_name("whole")
        shutil.copytree(folder, intact)
        draw, used, refused = random.Random(20261121), 0, 0
        for _ in range(turns):
            shutil.rmtree(folder)
            shutil.copytree(intact, folder)
            file = draw.choice([path for path in sorted(folder.rglob("*")) if path.is_file()])
            content = bytearray(file.read_bytes())
            for _ in range(draw.choice((1, 1, 4, 64)) if content else 0):
                content[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
            file.write_bytes(content)
            responses = self.got(folder, kept)
            used += sum(response is not None for response in responses)
            refused += sum(response is None for response in responses)
            for response, again in zip(kept, responses, strict=True):
                assert again in (None, response)
        assert used > refused > 0, (used, refused)

    def got(self, folder: Path, kept: list[Response]) -> list[Response | None]:
        """What a store that may be damaged has; None also where it says that it is."""
        responses: list[Response | None] = [None] * len(kept)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AAToolkitWarning)
            with suppress(AAToolkitError):
                store = self.open(folder)
                for place, response in enumerate(kept):
                    with suppress(AAToolkitError):
                        responses[place] = store.get(response.request)
                self.close(store)
        return responses

    @pytest.mark.thorough
    def test_a_full_disk_takes_nothing_away(self, folder: Path) -> None:
        store = self.open(folder)
        store.put(response_to("before"))
        self.close(store)
        code = (
            "import resource, sys, warnings, stores; warnings.simplefilter('ignore')\n"
            "resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))\n"
            "try: stores.write(*sys.argv[1:])\n"
            "except stores.AAToolkitError: pass\n"
        )
        what = (self.opener, folder, "full", self.large, self.puts)
        done = python("-c", code, *what, PYTHONPATH=PATHS)
        assert done.stderr == ""
        store = self.open(folder)
        store.put(response_to("after"))
        for topic in ("before", "after"):
            assert store.get(response_to(topic).request) == response_to(topic)
        self.close(store)
