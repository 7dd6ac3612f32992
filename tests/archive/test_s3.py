"""An archive in an object store: all that it does, and credentials that are written nowhere."""

from __future__ import annotations

import json
import logging
import pickle
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from typing import Any

import pytest
import requests

import aatoolkit as aa
from aatoolkit.errors import ArchiveError
from aatoolkit.payload import Payload
from aatoolkit.sections import Column, Profile, Section, Table, count, records

pytestmark = pytest.mark.thorough

FIRST = date(2026, 9, 28)
COLUMNS = (Column("day", "date"), count("n"))
PROFILE = Profile(
    "days", Section("daily", "Days.", Table("days", "Days.", records("rows"), "day", COLUMNS))
)
KEY, SECRET = "KEYOFTHETEST", "secret/of+the+test/9f2c1d"


def responses(first: int, last: int) -> list[Payload]:
    """Responses about the same three days, fetched on some days, of two hosts."""
    return [
        Payload(
            json.dumps(
                {
                    "availability": {"status": "available"},
                    "rows": [
                        {"day": f"2026-09-0{row + 1}", "n": 10 * number + row} for row in range(3)
                    ],
                }
            ).encode(),
            url=f"https://api.example/{host}",
            fetched_at=datetime.combine(FIRST + timedelta(days=number), time(6), UTC),
            section="daily",
            scope=aa.Scope(days=7),
            host=host,
        )
        for number in range(first, last)
        for host in ("a.example", "b.example")
    ]


SERVER = """
import logging, sys
from moto.server import ThreadedMotoServer
logging.getLogger("werkzeug").setLevel(logging.ERROR)
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
print(*server.get_host_and_port(), flush=True)
sys.stdin.read()
"""


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    """The address of an S3 server, in a process of its own."""
    command = [sys.executable, "-c", SERVER]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        host, port = server.stdout.readline().split()
        yield f"http://{host}:{port}"
        server.stdin.close()
        server.kill()


@pytest.fixture
def bucket(endpoint: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """A bucket, with credentials in the environment."""
    for name, value in {
        "AWS_ACCESS_KEY_ID": KEY,
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_REGION": "us-east-1",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ALLOW_HTTP": "true",
    }.items():
        monkeypatch.setenv(name, value)
    requests.put(f"{endpoint}/histories", timeout=10).raise_for_status()
    return "s3://histories/archive"


def names(endpoint: str) -> list[str]:
    """The names of all that is stored."""
    pages = _s3(endpoint).get_paginator("list_objects_v2").paginate(Bucket="histories")
    return [entry["Key"] for page in pages for entry in page.get("Contents", ())]


def objects(endpoint: str) -> dict[str, bytes]:
    """All that is stored, by name."""
    get = _s3(endpoint).get_object
    return {name: get(Bucket="histories", Key=name)["Body"].read() for name in names(endpoint)}


@cache
def _s3(endpoint: str) -> Any:
    import boto3

    return boto3.client("s3", endpoint_url=endpoint)


@pytest.mark.timeout(300)  # hundreds of requests
def test_an_archive_in_an_object_store_is_one_like_any_other(
    bucket: str, endpoint: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "aatoolkit")
    archive = aa.Archive(bucket, profile=PROFILE)
    for first in (0, 3):
        assert archive.add(responses(first, first + 3), progress=False).responses == 6
    assert archive.add(responses(0, 6), progress=False).responses == 0, "each is there once"
    wanted = archive.read("daily")
    assert wanted["n"].sum() == sum(10 * day + row for day in range(6) for row in range(3)) * 2
    assert archive.history("daily", hosts="a.example")["n"].tolist() == [50, 51, 52]
    assert archive.history("daily", as_of=FIRST)["n"].tolist() == [0, 1, 2] * 2
    total = "SELECT host, sum(n), count(*) FROM days GROUP BY host ORDER BY host"
    before = archive.sql(total).fetchall()

    assert archive.compact(keep_hours=0).files[1] < len(names(endpoint))
    assert archive.sql(total).fetchall() == before

    assert archive.forget("b.example").hosts == 1
    left = archive.read("daily")
    assert {*left["host"]} == {"a.example"}
    assert len(left) == len(wanted) / 2
    assert archive.rebuild()
    assert archive.read("daily").equals(left)
    assert archive.verify(replay=True)

    stored = objects(endpoint)
    data = {name: body for name, body in stored.items() if "_delta_log" not in name}
    assert all(stored.values())
    assert 0 < len(data) < len(stored)
    assert not [name for name, body in data.items() if b"b.example" in body]
    texts = "".join((repr(archive), repr(vars(archive._store)), caplog.text))
    for secret in (KEY, SECRET):
        assert not [name for name, body in stored.items() if secret.encode() in body]
        assert secret not in texts
        assert secret.encode() not in pickle.dumps(archive._store)


@pytest.mark.parametrize("has_credentials", [True, False], ids=["options", "environment"])
def test_errors_of_an_object_store_hold_no_credentials(
    bucket: str, has_credentials: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    options: dict[str, Any] = {}
    if has_credentials:
        options = {"AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET}
        for name in options:
            monkeypatch.delenv(name)
    # A bucket that is not there, and a server that is not there.
    for place, port in (("s3://nothing/archive", ""), (bucket, "http://127.0.0.1:9")):
        if port:
            monkeypatch.setenv("AWS_ENDPOINT_URL", port)
            options["max_retries"] = options["retry_timeout"] = "1"
        archive = aa.Archive(place, {**options}, profile=PROFILE)
        with pytest.raises(ArchiveError) as refused:
            archive.add(responses(0, 1), progress=False)
        texts = f"{refused.value!s}{refused.value!r}{vars(refused.value)}{archive._store.root}"
        assert KEY not in texts
        assert SECRET not in texts
