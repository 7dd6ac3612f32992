"""A Jupyter/pandas toolkit for the Agent Analytics API.

>>> import aatoolkit as aa
>>> project = aa.demo()                             # an embedded service, synthetic data
>>> domains = project.read("domains", days=30)      # every table of a section
>>> domains.main.aa.availability                    # what could be measured, and why not
...  # doctest: +ELLIPSIS
                           status ...

Importing the package gives every DataFrame the accessor ``df.aa``.
"""

from __future__ import annotations

import importlib
import sys
from itertools import pairwise
from pathlib import PurePath
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aatoolkit import errors, sections
    from aatoolkit.availability import Availability, Cause, Status
    from aatoolkit.client import Client, Project
    from aatoolkit.collection import Collection
    from aatoolkit.dataset import Dataset
    from aatoolkit.entry import collect, demo, project
    from aatoolkit.logical import logical_hash
    from aatoolkit.normalize import normalize
    from aatoolkit.parquet import read_metadata, read_parquet, rebuild
    from aatoolkit.payload import Payload
    from aatoolkit.scope import Scope, ScopeOptions
    from aatoolkit.section import Column, Section, Table
    from aatoolkit.shred import shred, unshred
    from aatoolkit.study import Study
    from aatoolkit.tables import Tables
    from aatoolkit.tracked import concat
    from aatoolkit.widgets import ScopePicker, SectionPicker

__version__ = "0.1.0"

_HOMES = {
    "Availability": "availability",
    "Cause": "availability",
    "Client": "client",
    "Collection": "collection",
    "Column": "section",
    "Dataset": "dataset",
    "Payload": "payload",
    "Project": "client",
    "Scope": "scope",
    "ScopeOptions": "scope",
    "ScopePicker": "widgets",
    "Section": "section",
    "SectionPicker": "widgets",
    "Status": "availability",
    "Study": "study",
    "Table": "section",
    "Tables": "tables",
    "collect": "entry",
    "concat": "tracked",
    "demo": "entry",
    "errors": "",
    "logical_hash": "logical",
    "normalize": "normalize",
    "project": "entry",
    "read_metadata": "parquet",
    "read_parquet": "parquet",
    "rebuild": "parquet",
    "sections": "",
    "shred": "shred",
    "unshred": "shred",
}
"""The public names and the module each lives in; loaded when first used."""

__all__ = [
    "Availability",
    "Cause",
    "Client",
    "Collection",
    "Column",
    "Dataset",
    "Payload",
    "Project",
    "Scope",
    "ScopeOptions",
    "ScopePicker",
    "Section",
    "SectionPicker",
    "Status",
    "Study",
    "Table",
    "Tables",
    "__version__",
    "collect",
    "concat",
    "demo",
    "errors",
    "logical_hash",
    "normalize",
    "project",
    "read_metadata",
    "read_parquet",
    "rebuild",
    "sections",
    "shred",
    "unshred",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'aatoolkit' has no attribute {name!r}")
    home = _HOMES[name]
    module = importlib.import_module(f"aatoolkit.{home or name}")
    found = getattr(module, name) if home else module
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return __all__


def load_ipython_extension(shell: Any) -> None:
    """``%load_ext aatoolkit``: frames say what was not measured; keys complete in a dataset."""
    importlib.import_module("aatoolkit.notebook").load(shell)


def unload_ipython_extension(shell: Any) -> None:
    """``%unload_ext aatoolkit``: frames are shown as pandas shows them."""
    importlib.import_module("aatoolkit.notebook").unload(shell)


def _is_command() -> bool:
    """Whether the process is ``aatoolkit`` or ``python -m aatoolkit``."""
    program = PurePath(sys.argv[0] if sys.argv else "").stem
    return program == "aatoolkit" or (
        program == "-m" and ("-m", "aatoolkit") in pairwise(sys.orig_argv)
    )


class _Package(ModuleType):
    """The package: a module does not hide the public function of the same name."""

    def __setattr__(self, name: str, value: object) -> None:
        if isinstance(value, ModuleType) and _HOMES.get(name) == name:
            value = getattr(value, name)
        super().__setattr__(name, value)


class _Door:
    """``df.aa``, as what stands behind it does: that is loaded when it is first used."""

    def __call__(self, frame: Any) -> Any:
        return self._behind()(frame)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._behind(), name)

    def __dir__(self) -> list[str]:
        return dir(self._behind())

    @staticmethod
    def _behind() -> Any:
        return importlib.import_module("aatoolkit.accessor").Accessor


sys.modules[__name__].__class__ = _Package

# The command line holds no frames of a user's: it does without the accessor, and so starts
# without waiting for pandas.
if not _is_command():
    importlib.import_module("pandas").api.extensions.register_dataframe_accessor("aa")(_Door())
