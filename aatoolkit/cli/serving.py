"""``aatoolkit synth`` and ``serve``: write a synthetic store, and serve one."""

from __future__ import annotations

import os
import secrets
from argparse import Namespace
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from aatoolkit.cli.arguments import read_token
from aatoolkit.errors import ConfigurationError

if TYPE_CHECKING:
    from aatoolkit.service import Accounts


def synthesize(folder: Path, seed: int, answers: int, icc: float) -> list[Path]:
    """Write a synthetic store; returns its files.

    Raises
    ------
    ConfigurationError
        If a number cannot be used, or the folder holds another store.
    """
    from aatoolkit.service import StoreError, write_synthetic_store

    problem = ""
    try:
        write_synthetic_store(folder, seed=seed, answers=answers, icc=icc)
    except (StoreError, ValueError) as error:
        problem = str(error)
    if problem:
        raise ConfigurationError(problem, setting="store")
    return sorted(folder.glob("*.parquet"))


def description() -> str:
    """Return the tables that a store may hold, as Markdown."""
    from aatoolkit.service import describe_store

    return str(describe_store())


def serve(args: Namespace, note: Callable[[str], None]) -> None:
    """Serve a store in the foreground; prints the address and the token.

    Raises
    ------
    ConfigurationError
        If the store, the accounts or an option cannot be used.
    """
    from aatoolkit.service import Accounts, Service, Store, StoreError, run_server

    if args.store is None:
        raise ConfigurationError("say which store to serve: aatoolkit serve DIR", setting="store")
    as_of = None if args.as_of is None else datetime.fromisoformat(args.as_of)
    problem = ""
    try:
        if args.accounts is not None:
            accounts, whom = _accounts(args.accounts), "the accounts of that file"
        else:
            token, whom = _token(args.token_file)
            accounts = Accounts.single(token)
        store = Store.open(args.store, as_of=as_of)
    except (StoreError, ValueError) as error:
        problem = str(error)
    if problem:
        raise ConfigurationError(problem, setting="store")

    def ready(base_url: str) -> None:
        note(f"serving {', '.join(store.hosts)} at {base_url} for {whom}; Ctrl-C stops it")

    try:
        run_server(Service(store, accounts), args.address, args.port, on_ready=ready)
    except OSError as error:
        problem = f"{args.address}, port {args.port}: {_reason(error)}"
    if problem:
        raise ConfigurationError(
            f"nothing can be served at {problem}; choose others with --address and --port",
            setting="port",
        )


def _reason(error: OSError) -> str:
    return os.strerror(error.errno) if error.errno else str(error)


def _accounts(file: Path) -> Accounts:
    """Load the accounts in a file; an error does not repeat its name, which may be a token."""
    from aatoolkit.service import Accounts

    try:
        return Accounts.load(file)
    except OSError:
        pass
    raise ConfigurationError(
        "the file that --accounts names cannot be read; check its path and permissions",
        setting="accounts",
    )


def _token(file: Path | None) -> tuple[str, str]:
    """Read or make the one token that may see every host, and describe it."""
    if file is not None:
        return read_token(file), "the token in that file"
    known = os.environ.get("AATOOLKIT_TOKEN")
    if known:
        return known.strip(), "the token in AATOOLKIT_TOKEN"
    made = secrets.token_urlsafe(24)
    return made, f"the new token {made}"
