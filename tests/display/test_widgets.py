"""Pickers without a browser: what is chosen, offered, refused, and shown without a kernel."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np
import pytest
from pickers import HOSTILE, options_of

import aatoolkit as aa
from aatoolkit.errors import ScopeError


def group(picker: Any, name: str) -> dict[str, Any]:
    """What the browser is sent of one group."""
    return next(entry for entry in picker._groups["groups"] if entry["name"] == name)


def choose(picker: Any, **chosen: list[int]) -> None:
    """Choose options by their places, as the browser does."""
    groups = picker._groups["groups"]
    bits = []
    for entry, now in zip(groups, picker._choice["bits"], strict=True):
        flags = np.zeros(len(entry["values"]), dtype=np.uint8)
        flags[chosen.get(entry["name"], [])] = 1
        packed = np.packbits(flags, bitorder="little").tobytes()
        bits.append(memoryview(packed if entry["name"] in chosen else bytes(now)))
    picker.set_state({"_choice": {"number": 1 + picker._received, "bits": bits}})


# --- scopes ---------------------------------------------------------------------------------


def test_a_choice_in_the_browser_is_a_scope_and_notifies() -> None:
    picker = aa.ScopePicker(options_of())
    changes: list[aa.Scope] = []
    picker.observe(lambda change: changes.append(change["new"]), "value")
    choose(picker, engine=[1, 0], days=[2])
    choose(picker, topic=[0])
    choose(picker, engine=[])
    assert changes == [
        aa.Scope(90, engine=("chatgpt", "gemini")),
        aa.Scope(90, engine=("chatgpt", "gemini"), topic="CRM"),
        aa.Scope(90, topic="CRM"),
    ]
    assert picker.scope == changes[-1]


@pytest.mark.parametrize(
    ("scope", "parameter", "near"),
    [
        (aa.Scope(engine=("chatgbt", "gemini")), "engine", ("chatgpt",)),
        (aa.Scope(brand="acme"), "brand", ("Acme",)),
        (aa.Scope(topic="(none)"), "topic", ()),
        (aa.Scope(7), "days", ("30", "90")),
        ("CRM", "scope", None),
        (None, "scope", None),
    ],
)
def test_an_unknown_value_is_refused_with_near_matches_and_changes_nothing(
    scope: Any, parameter: str, near: tuple[str, ...] | None
) -> None:
    picker = aa.ScopePicker(options_of(days=(30, 90)), aa.Scope(90, engine="gemini"))
    before = dict(picker._choice)
    with pytest.raises(ScopeError) as refused:
        picker.scope = scope
    assert (refused.value.parameter, refused.value.suggestions) == (parameter, near)
    assert picker.scope == aa.Scope(90, engine="gemini")
    assert picker._choice == before


def test_a_project_is_requested_once_and_never_by_a_choice(scripted: Any, reply: Any) -> None:
    scripted.script = reply(
        {
            "engines": [{"id": "chatgpt", "label": "ChatGPT", "configured": True}],
            "topics": [{"topic": "CRM", "count": 2}],
            "categories": [],
            "brands": [],
            "ownTerms": [],
            "days": [7, 30],
        }
    )
    with aa.Client(scripted.url, "token", cache=False) as client, warnings.catch_warnings():
        warnings.simplefilter("ignore", aa.errors.SchemaDriftWarning)
        picker = aa.ScopePicker(client.project("acme.example"))
        choose(picker, topic=[0])
        picker.scope = aa.Scope(7)
        picker._repr_mimebundle_()
        repr(picker)
    assert [request.path.partition("?")[0].rpartition("/")[2] for request in scripted.requests] == [
        "scope-options"
    ]


# --- names meant to do harm -----------------------------------------------------------------


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_comes_back_exactly_and_shows_safely(name: str) -> None:
    picker = aa.ScopePicker(options_of(topics=HOSTILE, host="<b>host\u202e</b>"))
    choose(picker, topic=[HOSTILE.index(name)])
    assert picker.scope.topic == (name,)
    assert len(picker._repr_html_()) < 4000
    assert repr(picker).isprintable()
    assert len(repr(picker)) < 1000
    if len(name) < 300:
        line = re.search(r"aa\.Scope\(.*\)(?=>$)", repr(picker))
        assert line is not None
        assert eval(line[0], {"aa": aa}) == picker.scope


def test_what_a_function_returns_is_shown_again_for_each_choice() -> None:
    picker = aa.ScopePicker(options_of())
    shown: list[aa.Scope] = []
    assert picker.show(shown.append).children[0] is picker
    picker.scope = aa.Scope(days=7)
    assert [scope.days for scope in shown] == [30, 7]
    assert picker.compact


# --- sections -------------------------------------------------------------------------------


def test_all_sections_are_chosen_to_begin_with_and_each_shows_what_it_holds() -> None:
    picker = aa.SectionPicker()
    assert picker.sections == aa.sections.names()
    sent = group(picker, "sections")
    assert tuple(sent["values"]) == aa.sections.names()
    assert sent["details"] == [aa.sections.get(name).doc for name in sent["values"]]
    assert not any(sent["notes"])
    assert repr(aa.SectionPicker(chosen="urls")) == "<SectionPicker: ('urls',)>"


def test_sections_are_chosen_watched_and_set() -> None:
    picker = aa.SectionPicker(chosen=())
    changes: list[tuple[str, ...]] = []
    picker.observe(lambda change: changes.append(change["new"]), "value")
    choose(picker, sections=[1, 0])
    picker.sections = ["urls", "gaps"]
    picker.sections = "domains"
    assert changes == [("actions", "ads"), ("gaps", "urls"), ("domains",)]


def test_a_project_has_sections_too_and_what_has_none_is_refused() -> None:
    assert aa.SectionPicker(aa.demo(), "urls").sections == ("urls",)
    with pytest.raises(ScopeError):
        aa.SectionPicker(aa.demo(), "url")


def test_a_filter_whose_values_are_not_known_can_be_set_and_outlives_other_choices() -> None:
    options = options_of(topics=())
    options.unknown = ("topic",)
    with pytest.warns(aa.errors.AAToolkitWarning, match="could not be checked"):
        picker = aa.ScopePicker(options, aa.Scope(topic="CRM"))
    with pytest.warns(aa.errors.AAToolkitWarning, match="could not be checked"):
        choose(picker, engine=[0])
    assert picker.scope == aa.Scope(engine="chatgpt", topic="CRM")
