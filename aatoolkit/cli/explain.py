"""``aatoolkit explain``: from a number of a study or archive to its evidence."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aatoolkit.cli.arguments import output
from aatoolkit.cli.table_files import check_suffix
from aatoolkit.errors import ColumnNotFound, ConfigurationError, ItemNotFound

if TYPE_CHECKING:
    from aatoolkit.frame.explain import Explanation

Note = Callable[[str], None]


def add_explain(
    listed: Any, commands: Mapping[str, Any], command: Callable[..., argparse.ArgumentParser]
) -> None:
    """Add the command that explains a number."""
    doc = "explain a number of a study or archive, down to the bytes of its answer"
    added = command(listed, "explain", doc, commands["explain"])
    added.add_argument(
        "study",
        type=Path,
        metavar="STUDY",
        help="a study, packed or not, a publication that ships its answers, or an archive",
    )
    added.add_argument("table", metavar="TABLE", help="the table, such as overview.overview_kpis")
    added.add_argument("--column", required=True, metavar="NAME", help="the column of the number")
    added.add_argument(
        "--where",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="what identifies the row, such as engine=chatgpt; may be given several times",
    )
    added.add_argument(
        "--row",
        type=int,
        metavar="N",
        help="the row by its number, from 0; by default the first without a value",
    )
    added.add_argument("--host", metavar="HOST", help="the project, where there are several")
    added.add_argument(
        "--scope",
        metavar="QUERY",
        help="the filters, where there are several, such as days=30&engine=claude",
    )
    output(added, "-o", "--out", metavar="FILE", help="write a page of HTML with folds")


def explain(args: argparse.Namespace, note: Note) -> int:
    """Print how a number is known; 1 if its trail ends before the bytes of an answer."""
    if args.out is not None:
        check_suffix(args.out, ".html", ".htm")
    problem = ""
    try:
        found = _explained(args)
    except (ColumnNotFound, ItemNotFound) as error:
        problem = str(error)
    if problem:
        raise ConfigurationError(problem, setting="where")
    if args.out is not None:
        from aatoolkit._util.files import write_whole
        from aatoolkit.cli import report

        write_whole(args.out, _page(found).encode())
        report.files([args.out], args.json)
    elif args.json:
        from aatoolkit.cli import report

        report.print_json(found.to_dict())
    else:
        print(found)
    for why in found.ends:
        note(f"the trail ends early: {why}")
    return 0 if found.is_complete else 1


def _explained(args: argparse.Namespace) -> Explanation:
    from aatoolkit.scope import Scope

    row: Any = _where(args.where) if args.where else args.row
    scope = None if args.scope is None else Scope.from_query(args.scope)
    found: Explanation = _opened(args.study).explain(
        args.table, row, args.column, host=args.host, scope=scope
    )
    return found


def _where(given: list[str]) -> dict[str, str]:
    """The values that identify a row.

    Raises
    ------
    ConfigurationError
        If one is not a name, an equals sign and a value.
    """
    pairs = [each.partition("=") for each in given]
    wrong = ["".join(pair) for pair in pairs if not (pair[0] and pair[1])]
    if wrong:
        raise ConfigurationError(f"{wrong[0]!r} is not NAME=VALUE", setting="where")
    return {name: value for name, _, value in pairs}


def _opened(path: Path) -> Any:
    """The study, packed study, publication or archive at a path."""
    from aatoolkit.study import Study
    from aatoolkit.study.publication import PACKED

    if (path / PACKED).is_file():
        return Study(path / PACKED)
    if (path / "answers" / "_delta_log").is_dir():
        from aatoolkit.archive import Archive

        return Archive(path)
    return Study(path)


def _page(found: Explanation) -> str:
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width"><title>How a number is known</title>'
        "<style>:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;"
        "max-width:60rem;margin:2rem auto;padding:0 1rem;overflow-wrap:anywhere}"
        "summary{cursor:pointer;font-weight:600}ul{padding-left:1.2rem}</style></head>"
        f"<body><h1>How a number is known</h1>{found._repr_html_()}</body></html>\n"
    )
