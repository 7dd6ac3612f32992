"""Serving a store to a test: the reference service on a free loopback port, and a client."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import aatoolkit as aa
from aatoolkit.service import Accounts, Service, Store, start_server

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
