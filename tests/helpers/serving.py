"""Serving a store to a test: the reference service on a free loopback port, and a client."""

from __future__ import annotations

import atexit
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache

import aatoolkit as aa
from aatoolkit.service import Accounts, Service, Store, start_server, synthesize

TOKEN = "test-token-of-one-account"


@contextmanager
def client_of(store: Store) -> Iterator[aa.Client]:
    """A client of a service that serves a store for as long as the block runs."""
    with (
        start_server(Service(store, Accounts.single(TOKEN))) as server,
        aa.Client(server.base_url, TOKEN, cache=False) as client,
    ):
        yield client
    store.close()


@cache
def shared_client(answers: int = 3000) -> aa.Client:
    """A client of one service for all tests of a process that change nothing there."""
    opened = ExitStack()
    atexit.register(opened.close)
    return opened.enter_context(client_of(Store.of(synthesize(seed=7, answers=answers))))


@cache
def shared_dataset(host: str = "acme.example") -> aa.Dataset:
    """Every section of a host of that service, read once; nobody changes its tables."""
    return shared_client().project(host).read_all(progress=False)


@cache
def demo_dataset() -> aa.Dataset:
    """Every section of the demonstration, read once; nobody changes its tables."""
    return aa.demo().read_all(days=30, progress=False)
