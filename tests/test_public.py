"""The public names, and what importing them costs."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import pydoc
import sys
import textwrap
from collections.abc import Mapping
from pathlib import Path

import pandas as pd
import pytest
from processes import ROOT, python

import aatoolkit as aa

HEAVY = (
    "matplotlib",
    "duckdb",
    "deltalake",
    "dask",
    "starlette",
    "ipywidgets",
    "anywidget",
    "requests",
    "requests_cache",
)


def printed_by(code: str, *arguments: object) -> str:
    """What a fresh interpreter prints."""
    done = python("-c", textwrap.dedent(code), *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_dir_shows_the_public_names_and_nothing_else() -> None:
    assert dir(aa) == sorted([*aa._MODULE_BY_NAME, "__version__"])
    assert {"Column", "Dataset", "Section", "Table", "rebuild"} <= {*dir(aa)}
    assert all(getattr(aa, name) is not None for name in dir(aa))
    assert {"get", "records", "SUM", "Aggregation", "weighted", "ratio"} <= {*dir(aa.sections)}


def test_a_public_name_is_where_it_claims_to_be() -> None:
    for name, home in aa._MODULE_BY_NAME.items():
        module = importlib.import_module(f"aatoolkit.{home or name}")
        assert getattr(aa, name) is (getattr(module, name) if home else module)


def test_there_is_no_other_name() -> None:
    with pytest.raises(AttributeError, match="'aatoolkit' has no attribute 'nonsense'"):
        _ = aa.nonsense  # type: ignore[attr-defined]


def test_importing_it_loads_nothing_heavy_but_pandas_and_pyarrow() -> None:
    code = f"""
        import sys, aatoolkit
        print(*[name for name in {HEAVY!r} if name in sys.modules])
        import pandas
        assert hasattr(pandas.DataFrame, "aa")
    """
    assert printed_by(code) == ""


def test_a_notebook_that_begins_with_it_waits_for_pandas_alone() -> None:
    code = """
        import sys, aatoolkit
        print(*[name for name in sys.modules if name.startswith("aatoolkit.")])
        import pandas
        assert "availability" in dir(pandas.DataFrame({"n": [1]}).aa)
        assert "availability" in dir(pandas.DataFrame.aa)
        assert "Parameters" in pandas.DataFrame.aa.aggregate.__doc__
        assert callable(aatoolkit.normalize), callable(aatoolkit.shred)
    """
    assert printed_by(code, "notebook") == "aatoolkit.frame"


@pytest.mark.thorough
def test_normalize_stays_the_function_whatever_is_imported() -> None:
    modules = [
        module.name
        for module in pkgutil.walk_packages(aa.__path__, "aatoolkit.")
        if not module.name.startswith(("aatoolkit.__main__", "aatoolkit.service"))
    ]
    code = f"""
        import importlib, sys
        sys.argv[0] = sys.argv[1]
        import aatoolkit as aa
        for name in {modules!r}:
            importlib.import_module(name)
            for public in dir(aa):
                kind = type(getattr(aa, public)).__name__
                is_module = public in ("errors", "profile", "sections", "stats")
                assert (kind == "module") == is_module, (public, name)
        print(callable(aa.normalize))
    """
    assert printed_by(code, "notebook") == "True"


def test_it_needs_none_of_the_extras() -> None:
    code = """
        import sys

        EXTRAS = ("duckdb", "starlette", "uvicorn", "matplotlib", "keyring")

        class Refusing:
            def find_spec(self, name, path=None, target=None):
                if name.partition(".")[0] in EXTRAS:
                    raise ModuleNotFoundError(name)

        sys.meta_path.insert(0, Refusing())
        import aatoolkit as aa
        for name in dir(aa):
            getattr(aa, name)
        tables = aa.normalize("gaps", open(sys.argv[1], "rb").read())
        print(len(tables.main.aa.codebook) > 0)
    """
    assert printed_by(code, ROOT / "data" / "samples" / "gaps.json") == "True"


def test_help_loads_no_pandas() -> None:
    code = """
        import runpy, sys
        sys.argv = ["-m", "--help"]
        sys.orig_argv = ["python", "-m", "aatoolkit", "--help"]
        try:
            runpy.run_module("aatoolkit", run_name="__main__", alter_sys=True)
        except SystemExit as done:
            assert not done.code
        print("loaded:", *{"pandas", "pyarrow", "requests"} & {*sys.modules})
    """
    assert printed_by(code).splitlines()[-1].strip() == "loaded:"


def test_a_module_of_a_users_that_is_run_with_m_has_the_accessor(tmp_path: Path) -> None:
    package = tmp_path / "study"
    package.mkdir()
    (package / "__init__.py").write_text("import aatoolkit\n")
    (package / "run.py").write_text("import pandas\nprint(hasattr(pandas.DataFrame, 'aa'))\n")
    assert python("-m", "study.run", folder=tmp_path).stdout.strip() == "True"


def test_python_m_prints_the_help() -> None:
    done = python("-X", "importtime", "-m", "aatoolkit", "--help")
    assert "Usage: aatoolkit" in done.stdout
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "aatoolkit.cli" in loaded
    assert not {"pandas", "pyarrow", "numpy", "requests"} & loaded


def test_the_version_is_that_of_the_distribution() -> None:
    project = (Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8")
    assert f'version = "{aa.__version__}"' in project


def help_of(thing: object) -> list[str]:
    return pydoc.render_doc(thing, renderer=pydoc.plaintext).splitlines()


def test_help_can_be_read() -> None:
    text = help_of(aa)
    assert len(text) <= 120
    assert [name for name in dir(aa) if name[0] != "_" and name not in "\n".join(text)] == []
    frame = pd.DataFrame({"n": [1]})
    text = help_of(frame.aa)
    assert len(text) <= 150
    verbs = [name for name in dir(type(frame.aa)) if not name.startswith("_")]
    assert [name for name in verbs if name not in "\n".join(text)] == []
    assert "Parameters" in "\n".join(help_of(frame.aa.aggregate))


CHAPTERS = (
    *("Study", "Archive", "Project", "Client", "Dataset", "Tables", "Collection", "Scope"),
    *("ScopeOptions", "Payload", "ScopePicker", "SectionPicker", "sections", "errors", "profile"),
)


@pytest.mark.parametrize("name", CHAPTERS)
def test_help_of_a_class_is_a_chapter_and_of_its_members_a_line_each(name: str) -> None:
    thing = getattr(aa, name)
    text = help_of(thing)
    most = 75 if "Picker" in name else 60
    if sys.version_info >= (3, 13):  # it writes the arguments of a class on lines of their own
        most += len(inspect.signature(thing).parameters) + 2 if isinstance(thing, type) else 0
    assert 30 <= len(text) <= most
    members = [member for member in vars(thing) if not member.startswith("_")]
    if isinstance(thing, type):
        documented = [member for member in members if callable(getattr(thing, member))]
        assert [member for member in documented if member not in "\n".join(text)] == []
        assert {*members} <= {*dir(thing)}, "Tab has them all"


def test_there_are_no_more_names_than_can_be_learned() -> None:
    of_classes = (
        *(type(pd.DataFrame({"n": [1]}).aa), aa.Project, aa.Client, aa.Dataset, aa.Tables),
        *(aa.Collection, aa.Study, aa.Archive, aa.Scope, aa.ScopeOptions, aa.Payload),
    )
    of_mappings = {"get", "items", "keys", "values"}
    names = [
        f"{thing.__name__}.{name}"
        for thing in (*of_classes, aa, aa.errors, aa.profile, aa.stats)
        for name in dir(thing)
        if not name.startswith("_")
        and not (
            name in of_mappings and issubclass(thing, Mapping) if isinstance(thing, type) else 0
        )
    ]
    assert len(names) <= MOST, len(names)


MOST = 166
"""How many public names there may be, beside the words of declarations; fewer are better."""
