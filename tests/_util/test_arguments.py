"""Arguments of a wrong kind: each is an error of this package that names the argument."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable
from datetime import timedelta
from pathlib import Path
from typing import Any, Literal

import pandas as pd
import pytest
from serving import shared_client

import aatoolkit as aa
from aatoolkit._util.arguments import checks_arguments, names_wrong_arguments
from aatoolkit.errors import (
    AAToolkitError,
    ArgumentError,
    ArgumentTypeError,
    ConfigurationError,
    InternalError,
    MergeWarning,
    PayloadError,
)

FRAME = pd.DataFrame({"prompt_id": [*"aabbccddee"], "n": range(10), "named": [True, False] * 5})
BAD = (None, "", -1, "nmaed", ["nmaed"], 1.5, FRAME, {}, True, object(), b"x", float("nan"), [None])
KNOWN: dict[str, object] = {
    "column": "named",
    "by": "prompt_id",
    "before": FRAME,
    "right": FRAME,
    "path": "n.parquet",
}
KNOWN["frames"] = [FRAME]
VERBS = [
    name
    for name in dir(type(FRAME.aa))
    if not name.startswith("_") and name != "plot" and callable(getattr(type(FRAME.aa), name))
]


def calls(function: Any) -> list[tuple[list[object], dict[str, object]]]:
    """Each argument given each of the bad values in turn, and the others something that will do."""
    parameters = inspect.signature(function).parameters.values()
    needed = {p.name: KNOWN.get(p.name, "n") for p in parameters if p.default is p.empty}
    found: list[tuple[list[object], dict[str, object]]] = []
    for each in parameters:
        if each.kind == each.VAR_KEYWORD:
            continue
        for value in BAD:
            if each.kind == each.VAR_POSITIONAL:
                found.append(([value], {}))
                continue
            others = {
                name: given
                for name, given in needed.items()
                if name != each.name and name not in ("columns", "levels", "values")
            }
            found.append(([], {**others, each.name: value}))
    return found


def refused(function: Any, arguments: list[object], named: dict[str, object]) -> None:
    """Call it; whatever it raises is of this package, and no fault of its own."""
    error = None
    try:
        function(*arguments, **named)
    except AAToolkitError as caught:
        error = caught
    assert not isinstance(error, InternalError)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("verb", VERBS)
def test_verbs_raise_errors_of_this_package(
    verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for arguments, named in calls(getattr(FRAME.aa, verb)):
        refused(getattr(FRAME.aa, verb), arguments, named)


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore")
def test_functions_and_mappings_raise_errors_of_this_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    project = shared_client().project("acme.example")
    dataset = project.read_all(sections=["overview", "prompts"], progress=False)
    tables = dataset["overview"]
    functions: list[Any] = [
        *(aa.answers, aa.cited_and_mentioned, aa.concat, aa.effect, aa.samples, aa.unshred),
        *(aa.read_parquet, aa.read_metadata, aa.read_dataset, aa.logical_hash, aa.Scope.from_query),
        *(aa.sections.get, aa.sections.table, aa.sections.describe, aa.sections.unregister),
        *(dataset.__getitem__, dataset.funnel, dataset.to_parquet, dataset.to_excel),
        *(tables.__getitem__, tables.arrow, tables.explain, tables.to_parquet, tables.to_excel),
        *(project.scope_options().values, aa.Scope().check),
    ]
    for function in functions:
        for arguments, named in calls(function):
            refused(function, arguments, named)
    shapes = (getattr(aa.sections, name) for name in aa.sections.__all__)
    functions = [each for each in shapes if callable(each) and not inspect.isclass(each)]
    functions += [aa.Column, aa.sections.Rule, aa.Scope, aa.Payload, aa.Dataset]
    functions += [project.scope_options, project.fetch, tables.shown]
    functions += [aa.Study.create, aa.Study, aa.profile.plan, aa.sections.default_profile().check]
    for function in functions:
        for arguments, named in calls(function):
            refused(function, arguments, named)
    for bad in BAD:
        for call in (lambda b: project.read(b), lambda b: project.read_all(sections=b)):
            if not isinstance(bad, pd.DataFrame) and bad is not None:
                refused(call, [bad], {})


def test_the_error_names_argument_and_kind() -> None:
    for call, message in (
        (lambda: FRAME.aa.interval(3), "column=3 is no text"),
        (lambda: FRAME.aa.interval(""), "column='' is empty"),
        (lambda: FRAME.aa.compare(3, "n"), "before=3 is no DataFrame"),
        (lambda: FRAME.aa.interval("named", level="high"), "level='high' is no number"),
        (lambda: FRAME.aa.aggregate({"n": "sum"}), "by={'n': 'sum'} is neither the name of a"),
        (lambda: FRAME.aa.aggregate(rules="sum"), "rules='sum' is no rules, such as"),
        (lambda: FRAME.aa.to_parquet(FRAME), "path=a DataFrame is no path"),
        (lambda: FRAME.aa.rank(), "rank: missing a required argument"),
    ):
        with pytest.raises(ArgumentError, match=message.replace("(", r"\(")):
            call()
    with pytest.raises(TypeError):
        FRAME.aa.interval(3)
    with pytest.raises(ValueError, match="between 0 and 1"):
        FRAME.aa.interval("named", level=2.0)


def test_what_is_made_by_reading_names_its_arguments_too(tmp_path: Path) -> None:
    study = aa.Study.create(tmp_path / "study")
    project = shared_client().project("acme.example")
    calls: list[tuple[Callable[[], Any], str]] = [
        (lambda: aa.Tables("a"), "missing a required argument: 'loaders'"),  # type: ignore[call-arg]
        (lambda: aa.Project(None, "a.example"), "client=None cannot be used; give a Client"),  # type: ignore[arg-type]
        (lambda: aa.Dataset(FRAME), "results=a DataFrame"),  # type: ignore[arg-type]
        (lambda: study.record("acme.example"), "give a Project or a Client"),  # type: ignore[type-var]
        (lambda: study.held_answers(None), "give a Source"),  # type: ignore[arg-type]
        (lambda: FRAME.aa.measured(["n", "named"]), r"measured\(\*columns\)"),
        (lambda: aa.Project(project.client, None), "host=None is no text"),  # type: ignore[arg-type]
    ]
    for call, words in calls:
        with pytest.raises(ArgumentTypeError, match=words):
            call()
    assert aa.sections.keyed("a.b", key=(each for each in "cd")).labels == ("c", "d")  # type: ignore[arg-type]
    with pytest.raises(PayloadError, match="not a JSON value"):
        aa.sections.propose({1: 2})

    @names_wrong_arguments
    class Keeper:
        def keep(self, hours: float) -> timedelta:
            return timedelta(hours=hours)

    with pytest.raises(ArgumentError, match=r"hours=1e\+30 is too large"):
        Keeper().keep(1e30)


def test_what_fits_passes_as_it_is() -> None:
    @checks_arguments
    class Adder:
        def add(self, one: float, other: int = 2, *, name: str | None = None) -> float:
            """Add."""
            return one + other

        def _private(self, one: str) -> str:
            return one

    assert Adder().add(1.5) == 3.5
    assert Adder().add(1, other=3, name=None) == 4
    assert Adder.add.__doc__ == "Add."
    assert Adder()._private(3) == 3  # type: ignore[arg-type,comparison-overlap]
    assert [*FRAME.aa.require("n", "named").columns] == [*FRAME.columns]
    assert FRAME.aa.adopt(FRAME, FRAME).equals(FRAME)
    with pytest.raises(ArgumentTypeError, match="frames=3 is no DataFrame"):
        FRAME.aa.adopt(FRAME, 3)  # type: ignore[arg-type]
    with pytest.raises(ArgumentTypeError, match="unexpected keyword argument 'nam'"):
        Adder().add(1, nam="x")  # type: ignore[call-arg]
    with pytest.raises(ArgumentTypeError, match="argument 'colour'; did you mean 'color'"):
        FRAME.aa.plot(colour="red")
    with pytest.raises(ArgumentTypeError, match="argument 'tokn'; did you mean 'token'") as caught:
        aa.Client("https://api.example", tokn="secret-word")  # type: ignore[call-arg]
    assert "secret-word" not in str(caught.value)
    with pytest.raises(ConfigurationError, match="no text") as refused:
        aa.Client("https://api.example", token=b"secret-word")  # type: ignore[arg-type]
    assert "secret-word" not in str(refused.value)


def test_keys_of_a_merge_have_near_matches_and_their_dtypes() -> None:
    mine = pd.DataFrame({"Prompt": ["a"], "prompt_id": [1], "spend": [2.0]})
    with pytest.raises(KeyError, match=r"right frame has no column 'prompt_id'"):
        FRAME.aa.merge(mine.drop(columns="prompt_id"), on="prompt_id")
    with pytest.raises(
        KeyError, match=r"left frame has no column 'prompt'; did you mean 'prompt_id'"
    ):
        FRAME.aa.merge(mine, on="prompt")
    with pytest.raises(ValueError, match=r"right\.astype\(\{'prompt_id': 'str'\}\)"):
        FRAME.aa.merge(mine, on="prompt_id")
    with pytest.warns(MergeWarning, match="no partner"):
        assert len(FRAME.aa.merge(mine, left_on="prompt_id", right_on="Prompt")) == 2


def test_a_file_that_is_not_there_or_no_parquet(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="there is no file"):
        aa.read_parquet(tmp_path / "n.parquet")
    (tmp_path / "n.parquet").write_text("a,b")
    for read in (aa.read_parquet, aa.read_metadata):
        with pytest.raises(OSError, match="is no Parquet file") as caught:
            read(tmp_path / "n.parquet")
        assert isinstance(caught.value, AAToolkitError)


@pytest.mark.parametrize("name", ["x", "y", "by", "facet", "title", "interactive"])
def test_a_frame_where_a_picture_takes_a_word_is_named(name: str) -> None:
    frame = pd.DataFrame({"engine": ["a", "b"], "n": [1, 2]})
    with pytest.raises(ArgumentTypeError) as found:
        frame.aa.plot(**{name: frame})
    assert found.value.argument == name
    assert found.value.__context__ is None


def test_what_is_no_path_is_named() -> None:
    for call in (lambda: aa.Archive(3), lambda: aa.normalize("domains", {}, profile=3.5)):
        with pytest.raises(ArgumentTypeError, match="is no path"):
            call()


def test_what_a_setting_takes_is_named_before_anything_is_done() -> None:
    project = shared_client().project("acme.example")
    for call, message in (
        (lambda: aa.Scope(days=FRAME), "days=a DataFrame is not a window of the API"),
        (lambda: aa.Scope(engine={}), "engine={} is no filter value; give text, or a list"),
        (lambda: project.read_all(progress=FRAME), "progress=a DataFrame is neither True nor"),
        (lambda: project.read("domains", refresh="no"), "refresh='no' is neither True nor False"),
        (lambda: project.read("domains", FRAME), "a DataFrame is not a Scope"),
        (lambda: aa.demo(cache=None), "cache=None cannot be used; give True or False or a path"),
        (lambda: aa.demo(offlin=True), "takes no 'offlin'; did you mean 'offline'"),
        (lambda: aa.demo(base_url="https://api.example"), "the demo has a service of its own"),
        (lambda: aa.project("a.example", base_urls="x"), "did you mean 'base_url'"),
        (lambda: aa.Client("https://api.example", workers="two"), "give a whole number"),
        (lambda: aa.Status("partail"), "no Status; did you mean"),
        (lambda: aa.sections.text("a", uint="count"), "did you mean 'unit'"),
        (lambda: FRAME.aa.to_parquet("a\0b"), "path holds a null character"),
    ):
        with pytest.raises(ValueError, match=message) as caught:
            call()
        assert isinstance(caught.value, AAToolkitError), message


def test_what_fails_names_the_argument_to_blame_and_else_raises_as_it_was() -> None:
    @names_wrong_arguments
    class Divider:
        def __init__(self, parts: int = 1) -> None:
            self.share = 100 / parts

        def of(self, names: Iterable[str], how: Literal["floor", "ceil"] = "floor") -> list[str]:
            return [getattr(math, how)(self.share) and name.title() for name in names]

    assert Divider().of(["a"]) == ["A"]
    with pytest.raises(ArgumentTypeError, match="parts='two' cannot be used; give a whole number"):
        Divider("two")  # type: ignore[arg-type]
    with pytest.raises(ZeroDivisionError):
        Divider(0)
    with pytest.raises(ArgumentTypeError, match=r"names=\[3\] cannot be used; give a list of text"):
        Divider().of([3])  # type: ignore[list-item]
    with pytest.raises(ArgumentError, match=r"how=.flor. is not known; did you mean") as found:
        Divider().of(["a"], "flor")  # type: ignore[arg-type]
    assert found.value.__context__ is None
    with pytest.raises(ArgumentTypeError, match=r"Divider: .*'part'; did you mean 'parts'"):
        Divider(part=2)  # type: ignore[call-arg]


def test_mistyped_names_of_modules_and_objects_have_near_matches() -> None:
    for owner, name, near in (
        (aa, "demoo", "demo"),
        (aa.sections, "recods", "records"),
        (aa.profile, "drafted", "draft"),
        (aa.errors, "ScopeEror", "ScopeError"),
        (aa.Scope(), "engin", "engine"),
        (FRAME.aa.plot(y="n"), "savefig", r"picture\.figure\.savefig"),
    ):
        with pytest.raises(AttributeError, match=near) as caught:
            getattr(owner, name)
        assert isinstance(caught.value, AAToolkitError)
    with pytest.raises(KeyError, match="did you mean 'domains'") as missing:
        aa.sections.default_profile()["domain"]
    assert isinstance(missing.value, AAToolkitError)
    assert "domain" not in aa.sections.default_profile()
