"""Read the Agent Analytics API into pandas.

The API reports how AI assistants such as ChatGPT, Gemini and Perplexity mention, rank and cite a
brand. Its data come in sections, such as ``domains`` (the cited websites). A section has one or
more tables. Each table is a DataFrame that records which values could not be measured, and why.

>>> import aatoolkit as aa
>>> project = aa.demo()                             # an embedded service, synthetic data
>>> domains = project.read("domains", days=30)      # every table of a section
>>> domains.main.aa.availability.loc["rank"].tolist()  # what could be measured, and why not
['partial', <NA>, 'google-ai-overview: This engine has not run yet.']

Start
    project(host), demo()       a project: a host that your account sees, or a synthetic one
    Client(url, token)          a service with several projects
    project.read(section)       Tables: the DataFrames of one section, by table name
    project.read_all()          Dataset: all sections; .summary, .compare(), .report(path)
    project.scope_options()     the values that each filter may have, such as the engines
    ScopePicker(project)        a form in the notebook to pick filters; SectionPicker: sections
    Scope(days=7, engine=…)     the days and filters of a request

Work with a frame
    df.aa                       every DataFrame has it: print(df.aa) lists the verbs
    concat(frames)              as pd.concat, but keeps the metadata of the columns
    stats                       answers, effects and sample sizes: whole studies, not one frame
    set_theme("dark")           how plots look

Keep
    read_parquet, read_dataset  what df.aa.to_parquet and dataset.to_parquet wrote
    rebuild                     the JSON of a section from its files
    logical_hash(frame)         a SHA-256 of the values, whichever version of pandas holds them
    Study                       responses that are recorded, sealed, cited and replayed
    Archive                     responses of many hosts over time, and SQL over them

Other services and other JSON
    profile                     draft, check: describe a service with other field names
    sections                    the known sections and tables: names(), get(name), describe(name)
    Section, Table, Column      declare the tables of a response, as in a profile
    normalize(section, json)    convert JSON, or the Payload of project.fetch, to DataFrames
    shred, unshred              any JSON to Arrow tables, and back

What is returned
    Project, ScopeOptions, Tables, Dataset, Collection (of client.collect)
    Availability, Status, Cause whether something was measured, and why not

errors has every exception. help(aa.demo), help(df.aa), help(df.aa.aggregate) say more; the guide is
the folder ``notebooks``, and ``aatoolkit --help`` the command line.
"""

from __future__ import annotations

import importlib
import sys
from itertools import pairwise
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aatoolkit import errors as errors, profile as profile, sections as sections, stats as stats
    from aatoolkit.archive import Archive as Archive
    from aatoolkit.availability import (
        Availability as Availability,
        Cause as Cause,
        Status as Status,
    )
    from aatoolkit.client.client import (
        Client as Client,
        Project as Project,
        demo as demo,
        project as project,
    )
    from aatoolkit.client.dataset import Collection as Collection, Dataset as Dataset
    from aatoolkit.client.reading import read_dataset as read_dataset
    from aatoolkit.display.theme import set_theme as set_theme
    from aatoolkit.display.widgets.picker import (
        ScopePicker as ScopePicker,
        SectionPicker as SectionPicker,
    )
    from aatoolkit.frame.merge import concat as concat
    from aatoolkit.frame.parquet import (
        read_parquet as read_parquet,
        rebuild as rebuild,
    )
    from aatoolkit.jsontree.shred import shred as shred, unshred as unshred
    from aatoolkit.metadata.table_hash import logical_hash as logical_hash
    from aatoolkit.normalizer.normalize import normalize as normalize
    from aatoolkit.normalizer.tables import Tables as Tables
    from aatoolkit.payload import Payload as Payload
    from aatoolkit.scope import Scope as Scope, ScopeOptions as ScopeOptions
    from aatoolkit.sections import Column as Column, Section as Section, Table as Table
    from aatoolkit.study import Study as Study

__version__ = "0.1.0"

_NAMES_BY_MODULE = {
    "": "errors profile sections stats",
    "archive": "Archive",
    "availability": "Availability Cause Status",
    "client.client": "Client Project demo project",
    "client.dataset": "Collection Dataset",
    "client.reading": "read_dataset",
    "display.theme": "set_theme",
    "display.widgets.picker": "ScopePicker SectionPicker",
    "frame.merge": "concat",
    "frame.parquet": "read_parquet rebuild",
    "jsontree.shred": "shred unshred",
    "metadata.table_hash": "logical_hash",
    "normalizer.normalize": "normalize",
    "normalizer.tables": "Tables",
    "payload": "Payload",
    "scope": "Scope ScopeOptions",
    "sections": "Column Section Table",
    "study": "Study",
}
"""The public names by the module that defines them; each is imported when it is first used.

The imports above are for type checkers.
"""

_MODULE_BY_NAME = {name: path for path, names in _NAMES_BY_MODULE.items() for name in names.split()}

# Not named __all__, which would have ``help(aatoolkit)`` print every class of it in full.
_PUBLIC_NAMES = sorted([*_MODULE_BY_NAME, "__version__"])


if not TYPE_CHECKING:  # type checkers read the names above

    def __getattr__(name: str) -> Any:
        if name not in _MODULE_BY_NAME:
            from aatoolkit.errors import make_attribute_error

            hint = "" if name[0] == "_" else _hint_on_unknown_name(name)
            raise make_attribute_error("module 'aatoolkit'", name, _PUBLIC_NAMES, hint)
        module_path = _MODULE_BY_NAME[name]
        module = importlib.import_module(f"aatoolkit.{module_path or name}")
        value = getattr(module, name) if module_path else module
        globals()[name] = value
        return value


def _hint_on_unknown_name(name: str) -> str:
    """Return where to find a method that is no function of this package; "" if there is none."""
    package = sys.modules[__name__]
    accessor = importlib.import_module("aatoolkit.display.accessor").Accessor
    owners = {"project": package.Project, "project.read_all()": package.Dataset, "df.aa": accessor}
    methods = [f"{owner}.{name}" for owner, class_ in owners.items() if name in vars(class_)]
    return f"write {' or '.join(methods)}" if methods else ""


def __dir__() -> list[str]:
    return _PUBLIC_NAMES


def _is_command() -> bool:
    """Return whether this process was started as ``aatoolkit`` or ``python -m aatoolkit``."""
    program = PurePath(sys.argv[0] if sys.argv else "").stem
    return program == "aatoolkit" or (
        program == "-m" and ("-m", "aatoolkit") in pairwise(sys.orig_argv)
    )


# The command line prints its help without waiting for pandas; a command imports it when it runs.
if not _is_command():
    importlib.import_module("aatoolkit.frame")
