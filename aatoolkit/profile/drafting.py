"""Drafts: a service met for the first time, section by section, to be reviewed and saved."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aatoolkit._util.files import write_whole
from aatoolkit._util.text import code
from aatoolkit.errors import AAToolkitError, ConfigurationError, PayloadError
from aatoolkit.inference.analysis import Analysis, analyse
from aatoolkit.inference.declare import section_of
from aatoolkit.inference.findings import LIKELY, OPEN, PROVED, SETTLED, ColumnFinding, Finding
from aatoolkit.inference.source import file_of
from aatoolkit.inference.vocabulary import Vocabulary
from aatoolkit.profile.asking import BUDGET, Answers, PlannedRequest, ask
from aatoolkit.profile.page import page_of
from aatoolkit.sections import Aggregation, Section

if TYPE_CHECKING:
    import pandas as pd

    from aatoolkit.client.project import Project
    from aatoolkit.sections import Profile

_UNSET: Any = object()


class SectionDraft:
    """What was found of one section; `review` shows it and `set` settles it.

    Attributes
    ----------
    name : str
        The section.
    notes : list of str
        What a person should look at.
    """

    def __init__(self, analysis: Analysis) -> None:
        self.name = analysis.section
        self.notes = analysis.notes
        self.analysis = analysis

    @property
    def tables(self) -> tuple[str, ...]:
        """The tables, the main one first."""
        return tuple(self.analysis.columns)

    @property
    def section(self) -> Section:
        """The declaration, as far as it is known."""
        return section_of(self.analysis)

    def columns(self) -> Iterator[ColumnFinding]:
        """What was found of each column, table by table."""
        for columns in self.analysis.columns.values():
            yield from columns

    def counts(self) -> dict[str, int]:
        """How many numbers are proved, likely, open and settled by hand."""
        found = dict.fromkeys((PROVED, LIKELY, OPEN, SETTLED), 0)
        for column in self.columns():
            if column.dtype in ("Int64", "Float64") and not column.is_key:
                found[column.confidence] += 1
        return found

    @property
    def review(self) -> pd.DataFrame:
        """One row a column: what it is read as, how sure that is, and why.

        Columns: ``path``, ``dtype``, ``unit``, ``rule``, ``meaning``, ``confidence``,
        ``evidence``, ``example``; the index is the table and the column.
        """
        import pandas as pd

        found = list(self.columns())
        text: dict[str, list[str | None]] = {
            "path": [one.path for one in found],
            "dtype": [one.dtype for one in found],
            "unit": [one.unit.value for one in found],
            "rule": [_rule_words(one) for one in found],
            "meaning": [one.doc for one in found],
            "confidence": [one.confidence for one in found],
            "evidence": [one.evidence for one in found],
            "example": [None if one.example is None else str(one.example)[:80] for one in found],
        }
        index = pd.MultiIndex.from_arrays(
            [[one.table for one in found], [one.name for one in found]], names=["table", "column"]
        )
        return pd.DataFrame(text, index=index, dtype="string")

    def set(
        self,
        column: str,
        *,
        table: str | None = None,
        unit: str | None = _UNSET,
        aggregate: Aggregation = _UNSET,
        dtype: str | None = None,
        parse: str | None = _UNSET,
        scale: float | None = None,
        missing: tuple[Any, ...] | None = None,
        doc: str | None = None,
        name: str | None = None,
    ) -> None:
        """Settle what a column is; what is left out stays as it was found.

        Parameters
        ----------
        column : str
            The column; by its name here, its path, or its name in the service's own words.
        table : str, optional
            The table, where several have such a column.
        unit, dtype, parse, scale, missing, doc, name
            As of `aatoolkit.Column`.
        aggregate : Aggregation
            How rows combine: ``SUM``, ``ratio("cit", "tot")``, ``weighted("tot")``.

        Raises
        ------
        ConfigurationError
            If there is no such column, or several, or the declaration would not hold together.
        """
        found = self._find(column, table)
        before = dict(vars(found))
        if unit is not _UNSET:
            found.unit = Finding(unit, SETTLED, "settled by hand")
        if aggregate is not _UNSET:
            found.rule = Finding(aggregate, SETTLED, "settled by hand")
        found.dtype = dtype or found.dtype
        found.parse = found.parse if parse is _UNSET else parse
        found.scale = found.scale if scale is None else scale
        if scale is not None and scale != 1.0 and found.dtype == "Int64":
            found.dtype = "Float64"
        found.missing = found.missing if missing is None else missing
        found.doc = found.doc if doc is None else doc
        if name is not None:
            self._rename(found, name)
        try:
            declared = self.section
            _check_rule(declared[found.table].names, found)
        except (ValueError, KeyError) as error:
            vars(found).update(before)
            raise ConfigurationError(
                f"{found.table}.{column} cannot be declared so: {error}", setting="column"
            ) from None

    def _find(self, column: str, table: str | None) -> ColumnFinding:
        among = [one for one in self.columns() if table in (None, one.table)]
        spellings: tuple[Callable[[ColumnFinding], str], ...] = (
            lambda one: one.name,
            lambda one: one.path,
            lambda one: one.source.strip("[]^.").rpartition(".")[2],
        )
        for spelt in spellings:
            found = [one for one in among if spelt(one) == column]
            if len(found) > 1 and found[0].table == self.tables[0]:
                found = [one for one in found if one.table == self.tables[0]]
            if len(found) == 1:
                return found[0]
            if found:
                places = ", ".join(sorted({one.table for one in found}))
                raise ConfigurationError(
                    f"{column!r} is in several tables of {self.name} ({places}): say table=",
                    setting="column",
                )
        names = ", ".join(one.name for one in among)
        raise ConfigurationError(
            f"{self.name} has no column {column!r}; it has {names}", setting="column"
        )

    def _rename(self, found: ColumnFinding, name: str) -> None:
        relation = next(one for one in self.analysis.relations if one.name == found.table)
        relation.key = tuple(name if one == found.name else one for one in relation.key)
        relation[found.name].name = name
        for other in self.analysis.columns[found.table]:
            rule = other.rule.value
            if rule is not None:
                other.rule = replace(other.rule, value=_renamed(rule, found.name, name))
        found.name = name

    def __repr__(self) -> str:
        counts = self.counts()
        lines = [f"<Draft of {self.name}: {_counted(counts)}>"]
        for table, columns in self.analysis.columns.items():
            lines.append(f"  {table}  {len(columns)} columns")
        lines += [f"  ! {note}" for note in self.notes]
        return "\n".join(lines)


class Draft(Mapping[str, SectionDraft]):
    """What was found of a service: one `SectionDraft` a section.

    Attributes
    ----------
    requests : list of PlannedRequest
        What was asked, in order.
    errors : dict of str to AAToolkitError
        The sections that could not be read, and why.
    """

    def __init__(self, host: str, base_url: str, answers: Answers) -> None:
        self.host, self.base_url = host, base_url
        self.requests: list[PlannedRequest] = answers.requests
        self.errors: dict[str, AAToolkitError] = dict(answers.errors)
        self.answers = answers
        vocabulary = Vocabulary.of(answers.options, answers.whole.values())
        self._sections: dict[str, SectionDraft] = {}
        for name, whole in answers.whole.items():
            try:
                found = analyse(name, whole, answers.parts.get(name, {}), vocabulary)
                if found.relations:
                    section_of(found)
                    self._sections[name] = SectionDraft(found)
            except Exception as error:  # a fault of ours is one section's, and says what it is
                told = f"no draft of {name} could be made: {type(error).__name__}: {error}"
                self.errors[name] = PayloadError(told, section=name, problems=[told])

    def __getitem__(self, name: str) -> SectionDraft:
        if name not in self._sections:
            raise KeyError(f"no draft of {name!r}; there are {', '.join(self)}")
        return self._sections[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._sections)

    def __len__(self) -> int:
        return len(self._sections)

    def profile(self, name: str = "draft") -> Profile:
        """The profile as it is now, to be used without a file."""
        from aatoolkit.sections import Profile

        return Profile(name, *(one.section for one in self.values()), doc=self._title)

    def save(self, path: str | Path, name: str | None = None) -> Path:
        """Write the profile as a Python file, each guess with its evidence in a comment.

        Parameters
        ----------
        path : path
            The file, such as ``acme_service.py``.
        name : str, optional
            The profile's name; by default that of the file.

        Returns
        -------
        Path
            The file.
        """
        from aatoolkit.profile.checking import baseline_of

        path = Path(path)
        name = name or path.stem
        baseline = baseline_of(self.profile(name), self.answers.payloads)
        analyses = [one.analysis for one in self.values()]
        write_whole(path, file_of(name, self._title, analyses, baseline).encode())
        return path

    def report(self, path: str | Path) -> Path:
        """Write a page of HTML for the person who reviews the draft.

        It shows each section's tables, a sample of rows, each column with its evidence, what is
        open and what to ask the vendor.
        """
        return write_whole(path, page_of(self).encode())

    @property
    def _title(self) -> str:
        return f"Drafted from the answers for {self.host}, {len(self.requests)} requests."

    def __repr__(self) -> str:
        lines = [f"<Draft of {self.host}: {len(self)} sections, {len(self.requests)} requests>"]
        width = max(map(len, self), default=0)
        for name, section in self.items():
            tables = f"{len(section.tables)} tables"
            lines.append(f"  {name:<{width}}  {tables:>10}  {_counted(section.counts())}")
            lines += [f"  {'':<{width}}  ! {note}" for note in section.notes]
        lines += [f"  {name}: {error}" for name, error in self.errors.items()]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return code(repr(self))


def draft(
    project: Project,
    *,
    requests: int = BUDGET,
    sections: Iterable[str] | None = None,
    progress: bool | None = None,
) -> Draft:
    """Find out what the answers of a service mean, within a budget of requests.

    Asks for the scope options, each section, the combined view, and for some engines alone.
    Nothing undocumented is asked. Only what is proved or likely is applied; what a wrong guess
    would break, sums and ratios, only if proved.

    Parameters
    ----------
    project : Project
        A project of the service.
    requests : int
        The most requests to send; `plan` lists the first ones.
    sections : iterable of str, optional
        The sections; all of them if left out.
    progress : bool, optional
        Whether to show a progress bar; by default where somebody watches.

    Raises
    ------
    NotAuthorized, NotVisible
        If nothing could be read for this reason.
    """
    answers = ask(project, requests=requests, names=sections, progress=progress)
    return Draft(project.host, str(project.client.base_url), answers)


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{n} {name}" for name, n in counts.items() if n or name != SETTLED)


def _rule_words(found: ColumnFinding) -> str | None:
    if found.is_key:
        return "key"
    if found.dtype not in ("Int64", "Float64") or found.rule.value is None:
        return None
    return str(found.aggregate)


def _renamed(rule: Aggregation, old: str, new: str) -> Aggregation:
    over = tuple(new if one == old else one for one in rule.over) if rule.over else None
    return replace(
        rule,
        by=new if rule.by == old else rule.by,
        over=over,  # type: ignore[arg-type]
        within=new if rule.within == old else rule.within,
    )


def _check_rule(names: Iterable[str], found: ColumnFinding) -> None:
    rule = found.aggregate
    used = {*(rule.over or ()), rule.by, rule.within} - {None}
    lacking = sorted(str(one) for one in used - set(names))
    if lacking:
        raise ValueError(f"its rule needs {', '.join(lacking)}, which the table does not have")
