"""`Tables` and `Dataset`: safe representations, and no failure is lost."""

from __future__ import annotations

import copy
import html.parser
import json
import pickle
from collections.abc import Mapping

import pandas as pd
import pytest
from samples import sample, sample_bytes

import aatoolkit as aa
from aatoolkit._util.text import visible
from aatoolkit.errors import ServerFailed

HOSTILE = "<script>alert(1)</script>\x1b[31m\u202e&\n"


@pytest.fixture
def tables() -> aa.Tables:
    return aa.normalize("domains", sample_bytes("domains"))


def make_tables(
    name: str, words: str, calls: list[str] | None = None, drifts: int = 0
) -> aa.Tables:
    def load() -> pd.DataFrame:
        if calls is not None:
            calls.append(name)
        return pd.DataFrame({"a": [1, 2]})

    return aa.Tables(
        name,
        {name: load},
        rows={name: 1234},
        availability_texts=lambda: {name: words},
        extra=load,
        availability=pd.DataFrame,
        hints=pd.DataFrame,
        drift=lambda: pd.DataFrame({"kind": ["new"] * drifts}),
    )


def test_it_is_a_mapping_from_name_to_frame(tables: aa.Tables) -> None:
    assert isinstance(tables, Mapping)
    assert [*tables] == ["source_domains", "source_domain_engines", "source_domain_types"]
    assert len(tables) == 3
    assert "source_domains" in tables
    assert "domains" not in tables
    assert tables.main is tables["source_domains"]
    assert dict(tables)["source_domain_types"] is tables["source_domain_types"]
    assert tables._ipython_key_completions_() == [*tables]


def test_an_unknown_table_is_refused_with_those_there_are(tables: aa.Tables) -> None:
    with pytest.raises(KeyError, match="'domain'; did you mean 'source_domains'"):
        tables["domain"]
    for name in ("", "zzz"):
        with pytest.raises(KeyError, match=f"'{name}'; there are source_domains, "):
            tables[name]


def test_a_frame_is_built_on_first_access_and_kept() -> None:
    calls: list[str] = []
    tables = make_tables("t", "available", calls)
    assert repr(tables)
    assert "t" in tables
    assert calls == []
    assert tables["t"] is tables["t"] is tables.main
    assert calls == ["t"]
    assert tables.extra is tables.extra
    assert calls == ["t", "t"]


def test_in_a_line_each(tables: aa.Tables) -> None:
    assert repr(tables).splitlines() == [
        "<Tables of domains>",
        "  source_domains               3 rows  ● available",
        "  source_domain_engines        7 rows  ● available",
        "  source_domain_types          5 rows  ● available",
    ]
    assert repr(make_tables("t", "unknown", drifts=2)).splitlines() == [
        "<Tables of t, 2 drifts (see .drift)>",
        "  t    1,234 rows  ? unknown",
    ]


@pytest.mark.parametrize(
    ("words", "mark"),
    [
        ("available", "●"),
        ("partial (not run): gemini: Not run.", "◐"),
        ("unavailable (not connected): No CNAME.", "○"),
        ("not applicable (not supported)", "–"),
        ("unknown", "?"),
    ],
)
def test_a_mark_shows_what_was_measured(words: str, mark: str) -> None:
    tables = make_tables("t", words)
    assert repr(tables).endswith(f"rows  {mark} {words}")
    assert f"{mark} {words}" in tables._repr_html_()
    assert f"{mark} {words}" in aa.Dataset({"t": tables})._repr_html_()
    assert tables._availability_texts == {"t": words}


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ({"status": "available", "domains": []}, "● available, and there is nothing"),
        ({"domains": []}, "? unknown: the response gives no reason why it is empty"),
        ({"domains": None}, "? unknown: the response gives nothing here"),
        ({}, "? unknown: the response gives nothing here"),
        ({"status": "not_connected", "domains": []}, "○ unavailable (not connected): Said so."),
    ],
)
@pytest.mark.filterwarnings("ignore::aatoolkit.errors.SchemaDriftWarning")
def test_an_empty_table_shows_why_it_is_empty(answer: dict[str, object], reason: str) -> None:
    stated = {"status": answer.pop("status", None), "reason": None}
    if stated["status"] == "not_connected":
        stated["reason"] = "Said so."
    tables = aa.normalize("domains", {**answer, "availability": stated})
    assert tables._format_status("source_domains") == reason
    assert reason in repr(tables)


class Elements(html.parser.HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.add(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


ALLOWED = {"div", "table", "caption", "thead", "tbody", "tr", "th", "td", "code"}
ALLOWED |= {"b", "details", "summary", "wbr"}


def dataset() -> aa.Dataset:
    failure = ServerFailed(HOSTILE, status=502)
    return aa.Dataset({HOSTILE: make_tables(HOSTILE, HOSTILE, drifts=1)}, {HOSTILE + "2": failure})


@pytest.mark.parametrize(
    "thing", [make_tables(HOSTILE, HOSTILE), dataset()], ids=["Tables", "Dataset"]
)
def test_hostile_text_is_shown_as_text(thing: aa.Tables | aa.Dataset) -> None:
    elements = Elements(thing._repr_html_())
    assert elements.tags <= ALLOWED
    assert "<script>" in elements.text
    assert "tex2jax_ignore" in thing._repr_html_()
    text = repr(thing)
    assert visible(HOSTILE) in text
    assert text.replace("\n", "").isprintable()


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("plain é 😀 $x$", "plain é 😀 $x$"),
        ("a\tb\r\n", "a\\tb\\r\\n"),
        ("\x1b[2J\x9b", "\\x1b[2J\\x9b"),
        ("\u202eevil\u2066", "\\u202eevil\\u2066"),
        ("\ud800", "\\ud800"),
        ("\U000e0001", "\\U000e0001"),
    ],
)
def test_what_does_not_print_is_escaped(text: str, escaped: str) -> None:
    assert visible(text) == escaped


# --- many sections --------------------------------------------------------------------------


def test_what_drift_quotes_steers_no_terminal() -> None:
    evil = "a\x85b\x9b31m\u202ec\x7f"
    body = {"domains": [{"domain": "a.example", evil: evil, "domainType": evil}]}
    with pytest.warns(aa.errors.SchemaDriftWarning) as caught:
        tables = aa.normalize("domains", body)
    text = "".join(str(message.message) for message in caught)
    text += " ".join(tables.drift[["path", "example"]].stack().dropna())
    assert r"a\u0085b\u009b31m\u202ec" in text
    assert not {*"\x85\x9b\u202e\x7f"} & {*text}
    # Nothing is lost: the examples are JSON.
    assert evil in {json.loads(message) for message in tables.drift["example"].dropna()}


def test_tables_are_pickled_copied_and_compared(tables: aa.Tables) -> None:
    parsed = aa.normalize("domains", sample("domains"))
    for own in (tables, parsed):
        own.main["mine"] = range(len(own.main))
        for again in (pickle.loads(pickle.dumps(own)), copy.deepcopy(own)):
            assert again == own
            assert repr(again) == repr(own)
            assert again.main["mine"].tolist() == own.main["mine"].tolist()
            assert again.main.aa.availability.equals(own.main.aa.availability)
            assert all(
                getattr(again, name).equals(getattr(own, name))
                for name in ("extra", "availability", "drift", "hints")
            )
            again.main["mine"] = 0
            assert again != own
    assert tables != 1
    dataset = aa.Dataset({"domains": tables}, {"crawl": ServerFailed("down", url="u")})
    again = pickle.loads(pickle.dumps(dataset))
    assert again == dataset
    assert str(again.errors) == str(dataset.errors)
