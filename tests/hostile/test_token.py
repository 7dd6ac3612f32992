"""The token goes to its origin and nowhere else: every surface is searched for it."""

from __future__ import annotations

import http.client
import io
import logging
import pickle
import signal
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import urllib3
from hostile.server import HostileServer, Script, Wire, head, message, replying
from hostile.surfaces import of_error, of_folder, of_thing
from samples import sample_bytes

import aatoolkit as aa
from aatoolkit import errors
from aatoolkit.http import Secret

CANARY = "canary-5e8d1c.NEVER_shown~0+/=="
SAMPLE = sample_bytes("domains")


def holds_canary(text: bytes) -> bool:
    """Whether a text shows the token, or half of it, in whatever spelling."""
    halves = (CANARY[at : at + 12].lower().encode() for at in range(len(CANARY) - 11))
    folded = text.lower()
    return any(half in folded for half in halves) or Secret(CANARY).occurs_in(text)


@dataclass
class World:
    """What a session left behind: things, errors, files and streams."""

    folder: Path
    things: dict[str, Any] = field(default_factory=dict)
    errors: dict[str, BaseException] = field(default_factory=dict)
    streams: dict[str, bytes] = field(default_factory=dict)

    def surfaces(self) -> Iterator[tuple[str, bytes]]:
        for name, thing in self.things.items():
            yield from of_thing(name, thing)
        for name, error in self.errors.items():
            yield from of_error(name, error)
        yield from of_folder("files", self.folder)
        yield from self.streams.items()


ECHO = b'{"error": {"message": "Bearer %b is no good", "code": "%b"}}' % ((CANARY.encode(),) * 2)
ECHOING = [f"X-Request-Id: {CANARY}", f"Set-Cookie: t={CANARY}", f"ETag: {CANARY}"]

FAULTS: dict[str, Script] = {
    **{
        f"status {status}": replying(message(ECHO, f"{status} {CANARY}", *ECHOING))
        for status in (400, 401, 403, 404, 407, 418, 422, 429, 500, 502)
    },
    "a redirect": replying(message(ECHO, "302 F", f"Location: https://{CANARY[:12]}.example/{CANARY}")),
    "a web page": replying(message(b"<html>" + CANARY.encode())),
    "no JSON": replying(message(CANARY.encode())),
    "a key twice": replying(message(b'{"%b": 1, "%b": 2}' % ((CANARY.encode(),) * 2))),
    "not UTF-8": replying(message(b"\xff" + ECHO)),
    "an echo": replying(message(ECHO, "200 OK", *ECHOING)),
    "an echo in part": replying(message(b"<p>" + CANARY[3:20].encode())),
    "cut off": replying(head("200 OK", "Content-Length: 999") + ECHO),
    "too large": replying(message(ECHO + b" " * 2**21)),
    "late": replying(head("200 OK", "Content-Length: 999") + ECHO, Wire.stall),
    "late and silent": replying(Wire.stall),
    "no HTTP": replying(CANARY.encode() + b"\r\n\r\n"),
    "a bad header": replying(head("200 OK", f"{CANARY} no colon", f"A: {CANARY}") + ECHO),
    "a bad length": replying(head("200 OK", f"Content-Length: {CANARY}")),
    "a bad chunk": replying(
        head("200 OK", "Transfer-Encoding: chunked"), CANARY.encode() + b"\r\n"
    ),
    "a bad coding": replying(message(ECHO, "200 OK", f"Content-Encoding: {CANARY}")),
    "a reset": replying(Wire.reset),
    "an early end": replying(b""),
}  # fmt: skip


def failing(project: aa.Project) -> BaseException:
    """The error that reading ends in; no local of this frame holds the token."""
    try:
        project.read("urls", days=7)
    except BaseException as error:
        return error
    raise AssertionError("nothing failed")


def project_of(server: HostileServer, folder: Path, **settings: Any) -> aa.Project:
    options = {"base_url": server.url, "token": CANARY, "cache": folder, **settings}
    return aa.project("acme.example", **options)


def provoke(world: World) -> None:
    """Have every kind of error happen."""
    for name, script in FAULTS.items():
        with HostileServer(script) as server:
            deadline = 2 if name.startswith("late") else 5
            project = project_of(server, world.folder / "cache", deadline=deadline)
            world.errors[name] = failing(project)
            project.client.close()
            assert any(f"Bearer {CANARY}".encode() in head for head in server.heads)
    with HostileServer(replying(Wire.stall)) as server:
        project = project_of(server, world.folder / "cache")
        main = threading.main_thread().ident
        assert main is not None
        timer = threading.Timer(0.2, signal.pthread_kill, (main, signal.SIGINT))
        timer.start()
        world.errors["an interrupt"] = failing(project)
        timer.join()
        project.client.close()
        offline = project_of(server, world.folder / "cache", offline=True)
        world.errors["offline"] = failing(offline)
        server.script = replying(b"")
    refused = project_of(server, world.folder / "cache")
    world.errors["refused"] = failing(refused)
    for name, bad in {"a bad token": f"{CANARY} x", "two tokens": f"{CANARY}\n{CANARY}"}.items():
        with pytest.raises(errors.ArgumentError) as caught:
            aa.project("acme.example", base_url="https://api.example", token=bad, cache=False)
        world.errors[name] = caught.value
    with pytest.raises(errors.ScopeError) as no_host:
        aa.project("no host", base_url="https://api.example", token=CANARY, cache=False)
    world.errors["no host"] = no_host.value


def succeed(world: World) -> None:
    """Have a session go well, and write down what it read."""
    with HostileServer(replying(message(SAMPLE, "200 OK", *ECHOING))) as server:
        project = project_of(server, world.folder / "cache")
        payload = project.fetch("domains", days=7)
        tables = project.read("domains", days=7)
        dataset = project.read_all(sections=["domains"], days=7)
        tables.main.aa.to_parquet(world.folder / "domains.parquet")
        tables.main.to_csv(world.folder / "domains.csv")
        tables.main.to_pickle(world.folder / "domains.pickle")
        (world.folder / "payload.pickle").write_bytes(pickle.dumps(payload))
        fetcher: Any = project.client._source
        world.things |= {
            "client": project.client,
            "project": project,
            "fetcher": fetcher,
            "secret": Secret(CANARY),
            "adapter": fetcher._transport,
            "cache": fetcher._cache,
            "payload": payload,
            "tables": tables,
            "frame": tables.main,
            "dataset": dataset,
        }  # fmt: skip
        project.client.close()


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    """A session with everything turned on that might tell tales."""
    world = World(tmp_path_factory.mktemp("world"))
    logged, out, err = io.StringIO(), io.StringIO(), io.StringIO()
    handler = logging.StreamHandler(logged)
    handler.setLevel(1)
    root = logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(1)
    talker = urllib3.add_stderr_logger(1)
    talker.setStream(err)
    debug, http.client.HTTPConnection.debuglevel = http.client.HTTPConnection.debuglevel, 9
    try:
        with (
            redirect_stdout(out),
            redirect_stderr(err),
            warnings.catch_warnings(record=True) as warned,
        ):
            warnings.simplefilter("always")
            succeed(world)
            provoke(world)
    finally:
        http.client.HTTPConnection.debuglevel = debug
        logging.getLogger("urllib3").removeHandler(talker)
        root.removeHandler(handler)
        root.setLevel(level)
    world.streams = {
        "logs": logged.getvalue().encode(),
        "standard output": out.getvalue().encode(),
        "standard error": err.getvalue().encode(),
        "warnings": " ".join(str(warning.message) for warning in warned).encode(),
    }
    return world


@pytest.mark.thorough
def test_no_surface_shows_the_token(world: World) -> None:
    surfaces = dict(world.surfaces())
    assert len(surfaces) > 250
    assert [name for name, text in surfaces.items() if holds_canary(text)] == []
    assert b"agent-analytics" in surfaces["logs"], "the logs must be there to be searched"
    assert any(b"source_domain" in text for name, text in surfaces.items() if "parquet" in name)


def test_what_was_provoked_is_typed(world: World) -> None:
    foreign = {
        name: error
        for name, error in world.errors.items()
        if not isinstance(error, errors.AAToolkitError) and name != "an interrupt"
    }
    assert foreign == {}
    assert type(world.errors["an interrupt"]) is KeyboardInterrupt


# -- other ways out --------------------------------------------------------------------------


def test_the_environment_neither_replaces_nor_receives_the_token(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login a password b\ndefault login c password d\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    with (
        HostileServer(replying(message())) as proxy,
        HostileServer(replying(message(b"{}"))) as server,
    ):
        for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.url)
        for token in (CANARY, None):
            project = project_of(server, tmp_path / "cache", token=token)
            project.fetch("urls")
            project.client.close()
        assert proxy.connections == 0
    sent = [
        line for head in server.heads for line in head.split(b"\r\n") if b"uthorization" in line
    ]
    assert sent == [f"Authorization: Bearer {CANARY}".encode()]


def test_who_watches_http_client_sees_no_token(tmp_path: Path) -> None:
    """Recorders and tracers wrap the classes that requests go through; the token joins below."""
    seen: list[Any] = []
    watch = sys.gettrace()

    def tracer(frame: Any, event: str, _: Any) -> Any:
        name = frame.f_code.co_filename
        if "urllib3" in name or "requests" in name or name.endswith("http/client.py"):
            with suppress(Exception):  # what is half made cannot be shown
                seen.append(repr(frame.f_locals))
        return tracer if event == "call" else None

    with HostileServer(replying(message(b"{}"))) as server:
        project = project_of(server, tmp_path)
        threading.settrace(tracer)
        try:
            project.fetch("urls")
        finally:
            threading.settrace(watch)  # type: ignore[arg-type]
        project.client.close()
    assert any("Bearer ***" in line for line in seen), "the frames must be there to be searched"
    assert not any(holds_canary(line.encode()) for line in seen)
    assert f"Bearer {CANARY}".encode() in server.heads[0]
