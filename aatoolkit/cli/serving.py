"""``aatoolkit serve``: serve a store of observations, or a synthetic one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aatoolkit.cli import options
from aatoolkit.cli.options import argument, examples, option
from aatoolkit.cli.output import note, write_data
from aatoolkit.errors import ArgumentError

if TYPE_CHECKING:
    from aatoolkit.service import Accounts


@click.command(cls=options.Command, epilog=examples("serve store --synth --answers 2000 --port 0"))
@argument("store", type=options.PATH, metavar="DIR", required=False)
@option("--synth", is_flag=True, help="Write a synthetic store into DIR first.")
@options.synthetic
@option("--describe", is_flag=True, help="Print the tables that a store may hold, and exit.")
@option(
    "--address",
    default="127.0.0.1",
    show_default=True,
    metavar="IP",
    help="The address to listen on.",
)
@option(
    "--port",
    type=options.Number(0, 65_535),
    default=8765,
    show_default=True,
    help="0 takes a free one.",
)
@option(
    "--accounts",
    type=options.PATH,
    help="JSON: the SHA-256 of each token, and the hosts that it may see.",
)
@option(
    "--token-file",
    type=options.PATH,
    help="One token that may see every host (default: AATOOLKIT_TOKEN, else a new one, which is "
    "printed).",
)
def serve(
    store: Path | None,
    synth: bool,
    seed: int,
    answers: int,
    icc: float,
    describe: bool,
    address: str,
    port: int,
    accounts: Path | None,
    token_file: Path | None,
) -> int:
    """Serve a store of observations until Ctrl-C."""
    from aatoolkit.service import (
        Accounts,
        Service,
        Store,
        StoreError,
        describe_store,
        run_server,
        write_synthetic_store,
    )

    if describe:
        write_data(f"{describe_store()}\n".encode())
        return 0
    if store is None:
        raise ArgumentError("say which store to serve: aatoolkit serve DIR", argument="store")
    problem = ""
    try:
        if synth:
            write_synthetic_store(store, seed=seed, answers=answers, icc=icc)
        if accounts is not None:
            allowed, whom = _accounts(accounts), "the accounts of that file"
        else:
            token, whom = _token(token_file)
            allowed = Accounts.single(token)
        opened = Store.open(store)
    except (StoreError, ValueError) as error:
        problem = str(error)
    if problem:
        raise ArgumentError(problem, argument="store")

    def ready(base_url: str) -> None:
        note(f"serving {', '.join(opened.hosts)} at {base_url} for {whom}; Ctrl-C stops it")

    try:
        run_server(Service(opened, allowed), address, port, on_ready=ready)
    except OSError as error:
        problem = os.strerror(error.errno) if error.errno else str(error)
    if problem:
        raise ArgumentError(
            f"nothing can be served at {address}, port {port}: {problem}; choose others with "
            "--address and --port",
            argument="port",
        )
    return 0


def _accounts(file: Path) -> Accounts:
    """Load the accounts in a file; an error does not repeat its name, which may be a token."""
    from aatoolkit.service import Accounts

    try:
        return Accounts.load(file)
    except OSError:
        pass
    raise ArgumentError(
        "the file that --accounts names cannot be read; check its path and permissions",
        argument="accounts",
    )


def _token(file: Path | None) -> tuple[str, str]:
    """Read or make the one token that may see every host, and describe it."""
    if file is not None:
        return str(options.read_token(file)), "the token in that file"
    known = os.environ.get("AATOOLKIT_TOKEN")
    if known:
        return known.strip(), "the token in AATOOLKIT_TOKEN"
    import secrets

    token = secrets.token_urlsafe(24)
    return token, f"the new token {token}"
