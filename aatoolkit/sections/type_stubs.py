"""Write Python types for the tables and columns of a service, for editors and type checkers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from aatoolkit._util.dtypes import DTYPES
from aatoolkit._util.text import find_unused_name
from aatoolkit.scope import FILTERS
from aatoolkit.sections.profile import SCOPE_OPTIONS, Profile
from aatoolkit.sections.section import Section, Table

_FILE_HEADER_TEMPLATE = '''\
"""Types of the tables of the profile {name!r}, made by aatoolkit: not to be edited.

``typed(project)`` returns the project itself, as a type that knows its sections, their tables and
the columns of those.
"""

# mypy: disable-error-code="misc, no-overload-impl, overload-overlap, override"
# pyright: reportIncompatibleMethodOverride=false, reportOverlappingOverload=false
# pyright: reportNoOverloadImplementation=false, reportInconsistentOverload=false

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, cast, overload

import aatoolkit as aa

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from aatoolkit.display.accessor import Accessor

    # Names in a list are not checked: pyright takes it for a list of any text, and a list that was
    # computed is one.
    _Selection = (
        list[Any] | pd.Series[bool] | pd.Index[Any] | pd.DataFrame | slice
        | np.ndarray[Any, Any] | Callable[[pd.DataFrame], Any]
    )

    _Values = str | Iterable[str] | None

    class _DataFrame(pd.DataFrame):
        """A table of the profile: what gives its columns other names gives a plain DataFrame."""

        @property
        def aa(self) -> Accessor: ...
        @property
        def T(self) -> pd.DataFrame: ...
        @property
        def columns(self) -> pd.Index[Any]: ...
        @columns.setter
        def columns(self, names: Any) -> None: ...
        def __iter__(self) -> Iterator[Any]: ...
        def items(self) -> Iterator[tuple[Any, pd.Series[Any]]]: ...
{methods}'''

# Type checkers would take what these return for the table itself, without the columns it gained.
_PLAIN_FRAME_METHODS = (
    *("add_prefix", "add_suffix", "assign", "join", "melt", "merge", "pivot", "pivot_table"),
    *("reindex", "rename", "reset_index", "set_axis", "set_index", "transpose"),
)

_FRAME_CLASS_TEMPLATE = '''
    class {frame}(_DataFrame):
        """{doc}"""

{getters}'''


_TABLES_CLASS_TEMPLATE = '''
    class {tables}(aa.Tables):
        """{doc}"""

{getters}
        @property
        def main(self) -> {main}: ...
'''

_GETTER_TEMPLATE = """        @overload
        def __getitem__(self, {argument}: {key}) -> {value}: ...
"""

_READ_METHOD_TEMPLATE = """        @overload
        def read(
            self,
            section: Literal[{section}],
            scope: aa.Scope | aa.ScopePicker | None = None,
            *,
            strict: bool = False,
            dtype_backend: str = "numpy_nullable",
            refresh: bool = False,
            split: str | None = None,
{filters}        ) -> {tables}: ...
"""

_PROJECT_CLASS_TEMPLATE = '''
    class {name}Dataset(aa.Dataset):
        """Sections of a project, read together."""

{getters}
    class {name}Project(aa.Project):
        """A project whose service responds as the profile says."""

{reads}
        def read_all(
            self,
            sections: str | Iterable[str] | None = None,
            scope: aa.Scope | aa.ScopePicker | None = None,
            *,
            progress: bool | None = None,
{filters}        ) -> {name}Dataset: ...


def typed(project: aa.Project) -> {name}Project:
    """The project itself, as a type that knows its tables."""
    return cast("{name}Project", project)
'''


_FILTER_PARAMETERS_CODE = "".join(
    f"            {name}: {type_code} = ...,\n"
    for name, type_code in {"days": "int", **dict.fromkeys(FILTERS, "_Values")}.items()
)


def typed_module(profile: Profile) -> str:
    """Return the source of a Python module with a class for each table of a service.

    Editors use the module to complete the names of tables and columns. Type checkers use it to find
    misspelt names.

    Parameters
    ----------
    profile : Profile
        The tables of the service, section by section.

    Returns
    -------
    str
        The source of the module.

    Examples
    --------
    >>> from aatoolkit.sections import declared
    >>> text = typed_module(Profile.load(declared))
    >>> "class SourceDomainsFrame(_DataFrame)" in text
    True
    """
    declared_sections = [section for section in profile.values() if section.name != SCOPE_OPTIONS]
    frame_class_by_table = _make_class_names(
        (table.name for section in declared_sections for table in section.tables), "Frame"
    )
    tables_class_by_section = _make_class_names(
        (section.name for section in declared_sections), "Tables"
    )
    project_class_code = _PROJECT_CLASS_TEMPLATE.format(
        filters=_FILTER_PARAMETERS_CODE,
        name=_make_class_name(profile.name),
        getters="".join(
            _format_getter("name", [name], class_name)
            for name, class_name in tables_class_by_section.items()
        ),
        reads="".join(
            _READ_METHOD_TEMPLATE.format(
                section=repr(name), tables=class_name, filters=_FILTER_PARAMETERS_CODE
            )
            for name, class_name in tables_class_by_section.items()
        ),
    )
    methods_code = (
        f"        def {name}(self, *args: Any, **options: Any) -> pd.DataFrame: ...\n"
        for name in _PLAIN_FRAME_METHODS
    )
    return "".join(
        [
            _FILE_HEADER_TEMPLATE.format(name=profile.name, methods="".join(methods_code)),
            *(
                _format_frame_class(table, frame_class_by_table[table.name])
                for section in declared_sections
                for table in section.tables
            ),
            *(
                _format_tables_class(
                    section, tables_class_by_section[section.name], frame_class_by_table
                )
                for section in declared_sections
            ),
            project_class_code,
        ]
    )


def _format_frame_class(table: Table, class_name: str) -> str:
    """Return the source of the class for the DataFrame of a table."""
    column_names_by_type: dict[str, list[str]] = {}
    for column in table.columns:
        column_names_by_type.setdefault(DTYPES[column.dtype].python, []).append(column.name)
    getter_codes = [
        _format_getter("key", column_names, f"pd.Series[{value_type}]")
        for value_type, column_names in column_names_by_type.items()
    ]
    getter_codes.append(
        _GETTER_TEMPLATE.format(argument="key", key="_Selection", value="pd.DataFrame")
    )
    return _FRAME_CLASS_TEMPLATE.format(
        frame=class_name, doc=_format_doc(table.doc), getters="".join(getter_codes)
    )


def _format_tables_class(
    section: Section, class_name: str, frame_class_by_table: Mapping[str, str]
) -> str:
    """Return the source of the class for the tables of a section.

    ``frame_class_by_table`` maps the name of each table to the name of the class of its DataFrame.
    """
    getters_code = "".join(
        _format_getter("name", [table_name], frame_class_by_table[table_name])
        for table_name in section.names
    )
    main_frame_class = frame_class_by_table[section.names[0]]
    return _TABLES_CLASS_TEMPLATE.format(
        tables=class_name, doc=_format_doc(section.doc), getters=getters_code, main=main_frame_class
    )


def _make_class_names(source_names: Iterable[str], suffix: str) -> dict[str, str]:
    """Return a dict from names to class names; a class name that is already used gets a number.

    Examples
    --------
    >>> _make_class_names(["crawl_bots", "crawlBots"], "Frame")
    {'crawl_bots': 'CrawlBotsFrame', 'crawlBots': 'CrawlBotsFrame_2'}
    """
    class_name_by_name: dict[str, str] = {}
    for name in source_names:
        class_name_by_name[name] = find_unused_name(
            f"{_make_class_name(name)}{suffix}", class_name_by_name.values()
        )
    return class_name_by_name


def _format_getter(argument: str, literal_names: Iterable[str], value_type: str) -> str:
    """Return the source of an overload of ``__getitem__`` for some names.

    ``argument`` is the name of its parameter, and ``value_type`` the type that it returns.
    """
    key_type = f"Literal[{', '.join(map(repr, literal_names))}]"
    return _GETTER_TEMPLATE.format(argument=argument, key=key_type, value=value_type)


def _make_class_name(name: str) -> str:
    """Convert a name in snake_case to CamelCase, such as ``CrawlBots``."""
    class_name = "".join(word[:1].upper() + word[1:] for word in re.split(r"\W|_", name) if word)
    return class_name if class_name.isidentifier() else f"_{class_name}"


def _format_doc(text: str) -> str:
    """Return a text as one line, escaped for use in a docstring."""
    doc_line = " ".join(text.split()).replace("\\", "\\\\").replace('"', "'")
    return doc_line.rstrip("'") if doc_line else "A table."
