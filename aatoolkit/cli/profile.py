"""``aatoolkit profile``: draft, check and show the profile of a service, also as types."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING

from aatoolkit._util.files import writing
from aatoolkit._util.text import counted, visible
from aatoolkit.cli import report
from aatoolkit.cli.streams import write_data
from aatoolkit.errors import ConfigurationError
from aatoolkit.profile import draft as draft_profile
from aatoolkit.sections import Description, Profile, typed_module

if TYPE_CHECKING:
    from aatoolkit.client.project import Project

Note = Callable[[str], None]


def draft(args: argparse.Namespace, project: Project, note: Note) -> int:
    """Draft a profile and write its file; 1 if a section could not be read."""
    drafted = draft_profile(
        project,
        requests=args.requests,
        seconds=args.seconds,
        hosts=args.beside,
        standard_names=not args.own_names,
    )
    path = drafted.save(args.out)
    if args.report is not None:
        drafted.report(args.report)
    if args.json:
        counts = {name: one.counts() for name, one in drafted.items()}
        errors = {name: str(error) for name, error in drafted.errors.items()}
        found = {"file": str(path), "requests": len(drafted.requests)}
        report.print_json({**found, "sections": counts, "errors": errors})
    else:
        _print_lines(repr(drafted).replace("<", "", 1).replace(">", "", 1))
    note(f"the profile is in {path}; review it, and read with --profile {path}")
    return 1 if drafted.errors or drafted.stopped else 0


def check(args: argparse.Namespace, project: Project, note: Note) -> int:
    """List where a service's answers differ from its profile; return 1 if they do."""
    if args.profile is None:
        raise ConfigurationError("name a profile with --profile FILE", setting="profile")
    found = project.client.profile.check(project)
    if args.json:
        report.frame(found, json=True)
    elif len(found):
        for row in found.itertuples(index=False):
            print(visible(f"{row.section}: {row.change} {row.path} ({row.count})"))
    note("nothing changed" if not len(found) else counted(len(found), "change"))
    return 1 if len(found) else 0


def show(args: argparse.Namespace) -> int:
    """Print what a profile declares."""
    profile = Profile.load(args.file)
    if args.json:
        held = {name: {t.name: list(t.names) for t in profile[name]} for name in profile}
        report.print_json({"name": profile.name, "sections": held})
        return 0
    print(visible(f"{profile.name}: {profile.doc}"))
    for name in profile:
        print()
        _print_lines(str(Description(profile[name])))
    return 0


def _print_lines(text: str) -> None:
    """Print text of several lines, none of which can steer a terminal."""
    print("\n".join(map(visible, text.splitlines())))


def types(args: argparse.Namespace, note: Note) -> int:
    """Write the tables and columns of a profile as a typed module."""
    text = typed_module(Profile.load(args.file))
    if args.out is None:
        write_data(text.encode())
        return 0
    with writing(args.out) as temporary:
        temporary.write_text(text, encoding="utf-8")
    note(f"the types are in {args.out}; use them as {args.out.stem}.typed(project)")
    return 0
