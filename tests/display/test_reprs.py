"""What a notebook shows: short, safe whatever the answers hold, and complete on Tab."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pages import Page, hostile
from pickers import HOSTILE, options_of
from samples import sample

import aatoolkit as aa
from aatoolkit import Dataset

TAGS = {
    *("div", "p", "b", "small", "code", "pre", "bdi", "ul", "li", "wbr", "details", "summary"),
    *("table", "caption", "thead", "tbody", "tr", "th", "td"),
}

NASTY = "".join(HOSTILE[:8]) + "n" * 3000


def everything() -> Iterator[tuple[str, Any]]:
    """One of every kind of thing that a notebook shows."""
    tables = aa.normalize("domains", sample("domains"))
    section = aa.sections.get("domains")
    yield (
        "ScopePicker",
        aa.ScopePicker(options_of(topics=HOSTILE, host=NASTY), aa.Scope(topic=HOSTILE)),
    )
    yield "SectionPicker", aa.SectionPicker()
    yield "Tables", tables
    data = hostile()
    yield "Tables of another shape", next(iter(data.values()))
    yield "Dataset", data
    yield "Section", section
    yield "Table", section.tables[0]
    yield "Column", section.tables[0].columns[0]
    yield "a column of another's", aa.Column("x", "string", NASTY)
    yield "a description", aa.sections.describe("domains")
    yield "df.aa", tables.main.aa


@pytest.mark.parametrize(
    ("kind", "thing"), [pytest.param(*pair, id=pair[0]) for pair in everything()]
)
def test_everything_shows_itself_in_a_notebook_short_and_safely(kind: str, thing: Any) -> None:
    page = thing._repr_html_()
    read = Page(page)
    assert {tag for tag, _ in read.elements} <= TAGS
    names = {name for _, attributes in read.elements for name in attributes}
    assert names <= {"class", "style", "border", "scope"}, kind
    assert "tex2jax_ignore" in page
    assert len(page) < 40_000
    # Nothing in it turns the direction of a line, or hides in it; the spaces are pandas' own.
    assert {char for char in "".join(read.text) if not char.isprintable()} <= {"\n", "\xa0"}


# --- Tab ------------------------------------------------------------------------------------


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """An IPython of its own, with a dataset in it."""
    from IPython.core import interactiveshell
    from traitlets import config

    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    settings = config.Config()
    settings.HistoryManager.enabled = False
    shell = interactiveshell.InteractiveShell(config=settings)
    tables = aa.normalize("domains", sample("domains"))
    shell.push({"aa": aa, "tables": tables, "dataset": Dataset({"domains": tables})})
    shell.push({"df": tables.main})
    monkeypatch.setattr("IPython.get_ipython", lambda: shell)
    shell.push({"project": aa.Client("https://api.example", cache=False).project("acme.example")})
    return shell


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ('tables["', {"source_domains", "source_domain_engines"}),
        ('dataset["', {"domains"}),
        ('dataset["domains"]["', {"source_domains"}),
        ("aa.", {"ScopePicker", "SectionPicker", "demo", "project"}),
        ("aa.sections.", {"get", "names", "default_profile"}),
        ("aa.errors.", {"ScopeError", "FetchError"}),
        ("project.read('domains', days=7, split='", {"engine", "topic", "category", "brand"}),
        pytest.param(  # the completer looks through all of pandas
            "df.aa.", {"availability", "codebook", "merge", "to_parquet"},
            marks=pytest.mark.thorough,
        ),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_tab_completes_and_offers_nothing_that_is_not_ours(
    shell: Any, typed: str, expected: set[str]
) -> None:
    from IPython.core.completer import provisionalcompleter

    with provisionalcompleter():
        names = {completion.text for completion in shell.Completer.completions(typed, len(typed))}
    assert expected <= names
    assert not names & STRAYS


STRAYS = {"Any", "annotations", "importlib", "inspect", "difflib", "TYPE_CHECKING", "cache"}
