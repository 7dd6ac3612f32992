"""Adding with workers: threads, processes, and a Dask cluster of two processes."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, Executor, Future
from pathlib import Path
from typing import Any

import pytest
from samples import sample_bytes

import aatoolkit as aa
from aatoolkit.errors import ArchiveError, NotAuthorized

HOSTS = ("acme.example", "globex.example")
TOKEN = "a-token-of-the-test-3f9a77"
SAMPLE = sample_bytes("domains")
CITATIONS = int(aa.normalize("domains", SAMPLE).main["citation_count"].sum())
QUERY = "SELECT host, sum(citation_count) FROM source_domains GROUP BY host ORDER BY host"


@pytest.fixture
def client(scripted: Any, reply: Any) -> Iterator[aa.Client]:
    """A client of a service that answers alike to all who have the token."""

    def script(request: Any) -> Any:
        allowed = request.headers.get("authorization") == f"Bearer {TOKEN}"
        return reply(json.loads(SAMPLE)) if allowed else reply({"error": "no"}, 401)

    scripted.script = script
    with aa.Client(scripted.url, token=TOKEN, cache=False) as client:
        yield client


class Recording(Executor):
    """Runs what is submitted at once, and keeps it as it would travel."""

    def __init__(self, dies: bool = False) -> None:
        self.sent: list[bytes] = []
        self._dies = dies

    def submit(self, act: Any, /, *arguments: Any, **options: Any) -> Future[Any]:
        self.sent.append(pickle.dumps((act, arguments, options)))
        future: Future[Any] = Future()
        if self._dies and len(self.sent) > 2:
            future.set_exception(BrokenExecutor("a worker died"))
            return future
        act, arguments, options = pickle.loads(self.sent[-1])
        try:
            # What comes back travels too.
            future.set_result(pickle.loads(pickle.dumps(act(*arguments, **options))))
        except Exception as error:
            future.set_exception(error)
        return future


def test_a_task_has_no_token_and_a_worker_takes_it_from_its_environment(
    place: Path, client: aa.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive, executor = aa.Archive(place), Recording()
    monkeypatch.delenv("AATOOLKIT_TOKEN", raising=False)
    monkeypatch.setattr("aatoolkit.archive.adding._client_by_settings", {})
    scope = aa.Scope(days=7)
    with pytest.raises((NotAuthorized, aa.errors.ArgumentError)):
        archive.add(client, HOSTS, scope, ["domains"], executor=executor, progress=False)
    monkeypatch.setenv("AATOOLKIT_TOKEN", TOKEN)
    monkeypatch.setattr("aatoolkit.archive.adding._client_by_settings", {})
    report = archive.add(client, HOSTS, scope, ["domains"], executor=executor, progress=False)
    assert report.responses == len(HOSTS)
    assert executor.sent
    for sent in executor.sent:
        assert TOKEN.encode() not in sent
        assert any(host.encode() in sent for host in HOSTS)
    for path in place.rglob("*"):
        assert path.is_dir() or TOKEN.encode() not in path.read_bytes()


def test_adding_again_continues_where_a_worker_died(
    place: Path, client: aa.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AATOOLKIT_TOKEN", TOKEN)
    monkeypatch.setattr("aatoolkit.archive.adding._client_by_settings", {})
    archive = aa.Archive(place)
    hosts = [f"host{number}.example" for number in range(5)]
    what = (client, hosts, aa.Scope(days=7), ["domains"])
    with pytest.raises(ArchiveError, match="add again"):
        archive.add(*what, executor=Recording(dies=True), progress=False)
    report = archive.add(*what, executor=Recording(), progress=False)
    assert report.responses == len(hosts)
    assert archive.sql(QUERY).fetchall() == [(host, CITATIONS) for host in hosts]


def test_workers_are_for_what_is_fetched(place: Path, days: Any) -> None:
    with pytest.raises(aa.errors.ArgumentError, match="leave executor= out"):
        aa.Archive(place).add(days(1), executor=Recording(), progress=False)


@pytest.mark.thorough
def test_a_cluster_of_two_processes_adds_and_asks(
    place: Path, client: aa.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    import distributed

    monkeypatch.setenv("AATOOLKIT_TOKEN", TOKEN)
    archive, hosts = aa.Archive(place), [f"host{number:02d}.example" for number in range(24)]
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as dask,
    ):
        report = archive.add(
            client, hosts, aa.Scope(days=7), ["domains"], executor=dask.get_executor()
        )
        assert report.responses == len(hosts)
        wanted = archive.sql(QUERY).fetchall()
        assert wanted == [(host, CITATIONS) for host in hosts]
        # The workers read the files themselves.
        frame = archive.dask("domains")
        summed = frame.groupby("host")["citation_count"].sum().compute().sort_index()
        assert [*summed.items()] == wanted
    assert archive.verify(replay=True)
    assert json.dumps(TOKEN) not in repr(report)


@pytest.mark.thorough
def test_dask_gives_what_sql_gives(filled: aa.Archive) -> None:
    frame = filled.dask("domains")
    sums = frame.groupby("host")["citation_count"].sum().compute(scheduler="sync").sort_index()
    assert [*sums.items()] == filled.sql(QUERY).fetchall()
    early = filled.as_of("2026-09-29").dask("domains")
    assert len(early.compute(scheduler="sync")) == len(filled.read("domains", until="2026-09-29"))
