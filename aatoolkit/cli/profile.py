"""``aatoolkit profile``: draft and check the profile of a service, and write it as types."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from aatoolkit._util.text import counted, visible
from aatoolkit.cli import options
from aatoolkit.cli.options import CONNECTION, Output, argument, examples, option
from aatoolkit.cli.output import note, print_frame, print_json, write_data
from aatoolkit.errors import ArgumentError


@click.group(cls=options.Group)
def profile() -> None:
    """Draft and check what is known of a service.

    A profile is a Python file, and is executed when it is read: use only those that you trust.
    """


@profile.command(epilog=examples("profile draft acme.example -o service.py", note=CONNECTION))
@options.host
@option("-o", "--out", type=Output(), required=True, help="The Python file to write.")
@option("--report", type=Output(), help="Write a page of HTML to review, too.")
@option(
    "--requests", type=options.Number(1), default=60, show_default=True, help="At most so many."
)
@option(
    "--seconds",
    type=options.Number(1, whole=False),
    default=120,
    show_default=True,
    help="No longer than this.",
)
@option(
    "--beside",
    multiple=True,
    metavar="HOST",
    help="Another project, to see what differs there; may be repeated.",
)
@option("--own-names", is_flag=True, help="Keep the service's names where there are others.")
@options.service
@options.cache
@options.as_json
def draft(
    host: str,
    out: Path,
    report: Path | None,
    requests: int,
    seconds: float,
    beside: Sequence[str],
    own_names: bool,
    as_json: bool,
    **given: Any,
) -> int:
    """Find out what a service's responses mean, and write a profile.

    Exits with 1 if a section could not be read.
    """
    from aatoolkit.profile import draft as draft_profile

    with options.project_of(host, given) as project:
        drafted = draft_profile(
            project, requests=requests, seconds=seconds, hosts=beside, standard_names=not own_names
        )
        path = drafted.save(out)
        if report is not None:
            drafted.report(report)
    if as_json:
        counts = {name: section.counts() for name, section in drafted.items()}
        errors = {name: str(error) for name, error in drafted.errors.items()}
        facts = {"file": str(path), "requests": len(drafted.requests)}
        print_json({**facts, "sections": counts, "errors": errors})
    else:
        text = repr(drafted).replace("<", "", 1).replace(">", "", 1)
        print("\n".join(map(visible, text.splitlines())))
    note(f"the profile is in {path}; review it, and read with --profile {path}")
    return 1 if drafted.errors or drafted.stopped else 0


@profile.command(
    epilog=examples("profile check acme.example \\\n      --profile service.py", note=CONNECTION),
)
@options.host
@options.connection
@options.as_json
def check(host: str, as_json: bool, **given: Any) -> int:
    """List where a service's responses differ from its profile; exits with 1 if they do."""
    from aatoolkit.profile import check as compare

    if given["profile"] is None:
        raise ArgumentError("name a profile with --profile FILE", argument="profile")
    with options.project_of(host, given) as project:
        changes = compare(project.client.profile, project)
    if as_json:
        print_frame(changes, as_json)
    else:
        for row in changes.itertuples(index=False):
            print(visible(f"{row.section}: {row.change} {row.path} ({row.count})"))
    note(counted(len(changes), "change") if len(changes) else "nothing changed")
    return 1 if len(changes) else 0


@profile.command(epilog=examples("profile types service.py -o types.py"))
@argument("file", type=options.PATH)
@option("-o", "--out", type=Output(), help="The Python file to write.")
def types(file: Path, out: Path | None) -> int:
    """Write the tables and columns of a profile as a typed module for editors."""
    from aatoolkit._util.files import write_whole
    from aatoolkit.sections import Profile, typed_module

    text = typed_module(Profile.load(file)).encode()
    if out is None:
        write_data(text)
    else:
        write_whole(out, text)
        note(f"the types are in {out}; use them as {out.stem}.typed(project)")
    return 0
