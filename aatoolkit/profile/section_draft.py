"""The draft of one section, to be reviewed and settled column by column."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from aatoolkit.availability import Status
from aatoolkit.availability.detect import raw, read_word
from aatoolkit.availability.detect.words import name_of
from aatoolkit.errors import ArgumentError, did_you_mean, near_matches
from aatoolkit.jsontree.coerce import read_as
from aatoolkit.jsontree.paths import Entries, format_path, parse_pattern
from aatoolkit.jsontree.vectors import MISSING
from aatoolkit.profile.candidates import Candidate
from aatoolkit.profile.rule_check import complete, problem_of, values_at
from aatoolkit.sections import Aggregation, Rule, Section
from aatoolkit.sections.availability_rule import with_rule
from aatoolkit.sections.column import PARSES, Reading
from aatoolkit.sections.inference.analysis import Analysis, rename
from aatoolkit.sections.inference.relations import (
    LIKELY,
    OPEN,
    PROVED,
    SETTLED,
    ColumnFinding,
    Finding,
)

if TYPE_CHECKING:
    import pandas as pd


_UNSET: Any = object()


class SectionDraft:
    """The draft of one section; `review` shows it and `set` settles it.

    Attributes
    ----------
    name : str
        The section.
    notes : list of str
        What a person should look at.
    """

    def __init__(
        self,
        analysis: Analysis,
        candidates: Iterable[Candidate] = (),
        answers: Sequence[Any] = (),
        headers: Sequence[Mapping[str, str]] = (),
    ) -> None:
        self._answers, self._headers = answers, headers
        self.candidates: tuple[Candidate, ...] = tuple(candidates)
        analysis.watched = tuple(one.at for one in self.candidates)
        self.name: str = analysis.section
        self.notes: list[str] = analysis.notes
        self.analysis = analysis

    @property
    def tables(self) -> tuple[str, ...]:
        """The tables, the main one first."""
        return tuple(relation.name for relation in self.analysis.relations)

    @property
    def section(self) -> Section:
        """The declaration, as far as it is known."""
        return self.analysis.declared

    def columns(self) -> Iterator[ColumnFinding]:
        """Yield the findings of each column, table by table."""
        for relation in self.analysis.relations:
            yield from relation.columns

    def counts(self) -> dict[str, int]:
        """Count the numbers that are proved, likely, open and settled by hand."""
        found = dict.fromkeys((PROVED, LIKELY, OPEN, SETTLED), 0)
        for column in self.columns():
            if column.reading.is_number and not column.is_key:
                found[column.confidence] += 1
        return found

    @property
    def review(self) -> pd.DataFrame:
        """The columns, one row each: how they are read, how sure that is, and why.

        Columns: ``path``, ``dtype``, ``unit``, ``rule``, ``meaning``, ``confidence``,
        ``evidence``, ``example``; the index is the table and the column.
        """
        import pandas as pd

        from aatoolkit._util.show import Shown

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
        frame = Shown(pd.DataFrame(text, index=index, dtype="string"))
        return frame.fold_by("table", "column", "confidence")

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
        """Settle facts of a column by hand; arguments left out keep what was found.

        Parameters
        ----------
        column : str
            The column; by its name here, its path, or its name in the service's own words.
        table : str, optional
            The table, where several have such a column.
        unit, dtype, parse, scale, missing, doc, name
            As of `aatoolkit.Column`. A parse is tried on the values of the answers, and without
            a dtype it takes the first one that it gives.
        aggregate : Aggregation
            How rows combine: ``SUM``, ``ratio("cit", "tot")``, ``weighted("tot")``.

        Raises
        ------
        ArgumentError
            If there is no such column, or several, if the declaration would not hold together, or
            if a parse or dtype cannot read what the answers have.
        """
        found = self._find(column, table)
        before = dict(vars(found))
        if unit is not _UNSET:
            found.unit = Finding(unit, SETTLED, "settled by hand")
        if aggregate is not _UNSET:
            found.rule = Finding(aggregate, SETTLED, "settled by hand")
        if dtype is None and isinstance(parse, str) and found.dtype not in PARSES.get(parse, ()):
            dtype = next(iter(PARSES.get(parse, ())), None)
        given: dict[str, Any] = {"dtype": dtype, "missing": missing}
        given = {name: value for name, value in given.items() if value is not None}
        given |= {} if parse is _UNSET else {"parse": parse}
        found.reading = replace(found.reading, **given)
        found.scale = found.scale if scale is None else scale
        found.doc = found.doc if doc is None else doc
        if name is not None:
            rename(found, name)
        try:
            declared = self.section
            _check_rule(declared[found.table].names, found)
            if given:
                _check_values(found)
        except (ValueError, KeyError) as error:
            if found.name != before["name"]:
                rename(found, before["name"])
            vars(found).update(before)
            raise ArgumentError(
                f"{found.table}.{column} cannot be declared so: {error}", argument="column"
            ) from None

    @property
    def availability(self) -> pd.DataFrame:
        """Candidates for where availability is stated, the likeliest first.

        None of them is read as such until `set_rule` says so; ``tables.hints`` points them out.

        Columns: ``at``, ``value``, ``elsewhere`` (what is there where only some engines were
        asked for, if that differs), ``why``, ``rule`` (the line that confirms it, with the words
        that were seen), and one for each other host that was asked, with what is there.
        """
        import pandas as pd

        from aatoolkit._util.show import Shown

        found = self.candidates
        text = {
            "at": [one.at for one in found],
            "value": [raw(one.value) for one in found],
            "elsewhere": [", ".join(map(raw, one.others)) or None for one in found],
            "why": [one.why for one in found],
            "rule": self.rule_lines(),
        }
        for host in dict.fromkeys(host for one in found for host in one.beside):
            text[host] = [raw(one.beside[host]) if host in one.beside else None for one in found]
        return Shown(pd.DataFrame(text, dtype="string"))

    def rule_lines(self) -> list[str | None]:
        """The line of code per row of `availability` that reads it; None where no rule can."""
        return [None if rule is None else _rule_line(rule) for rule in self.proposals()]

    def proposals(self) -> list[dict[str, Any] | None]:
        """The rule per row of `availability`, with what its words probably mean; None without."""
        keyed = {
            format_path(one.steps[:-1]) for one in self.analysis.relations
            if one.key == ("engine",) and isinstance(one.steps[-1], Entries)
        }  # fmt: skip
        return [
            _proposal(one, complete(one.at, self._answers, keyed), keyed, self._answers)
            for one in self.candidates
        ]

    def set_rule(self, **rule: Any) -> None:
        """Add a rule by which the service states this section's availability.

        Rules of several places hold together; one of the same place, ``at``, is replaced, and
        `remove_rule` takes one away. ``section.rules`` has them.

        Parameters
        ----------
        **rule
            As of `aatoolkit.sections.Rule`: ``at``, ``words`` and the others. Whether the keys of a
            map are engines is known from the draft; for a place of `availability`, ``at`` alone
            takes the words that are proposed there.

        Raises
        ------
        ArgumentError
            If that is no such place, if no answer of the draft has it, or if no value that is
            there has a meaning by the rule.
        """
        if set(rule) == {"at"}:
            rule = next((one for one in self.proposals() if one and one["at"] == rule["at"]), rule)
        try:
            found = Rule(**rule)
            steps = parse_pattern(found.at) if found.kind == "map" else ()
            of_engines = any(
                one.steps == steps and one.key == ("engine",) for one in self.analysis.relations
            )
            if found.of is None and of_engines:
                found = replace(found, of="engine")
        except (TypeError, ValueError) as error:
            raise ArgumentError(f"that is no rule: {error}", argument="rule") from None
        self.add_rule(found)

    def add_rule(self, found: Rule) -> None:
        """Add a rule that was made before; of those of one place the last one holds.

        Raises
        ------
        ArgumentError
            If no response of the draft has the place, or no value there has a meaning by it.
        """
        problem = problem_of(found, self._answers, self._headers)
        if problem is not None:
            raise ArgumentError(problem, argument="rule")
        self.analysis.rules = with_rule(self.analysis.rules, found)

    def remove_rule(self, at: str) -> None:
        """Take away the rule of a place, by its ``at``.

        Raises
        ------
        ArgumentError
            If there is none.
        """
        rules = {one.at: one for one in self.analysis.rules}
        if at not in rules:
            hint = did_you_mean(near_matches(at, rules), f"there are {', '.join(rules) or 'none'}")
            raise ArgumentError(f"there is no rule of {at!r}; {hint}", argument="rule")
        self.analysis.rules = tuple(one for one in rules.values() if one.at != at)

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
                raise ArgumentError(
                    f"{column!r} is in several tables of {self.name} ({places}): say table=",
                    argument="column",
                )
        names = ", ".join(one.name for one in among)
        raise ArgumentError(
            f"{self.name} has no column {column!r}; it has {names}", argument="column"
        )

    def __repr__(self) -> str:
        counts = self.counts()
        lines = [f"<Draft of {self.name}: {counted(counts)}>"]
        for relation in self.analysis.relations:
            lines.append(f"  {relation.name}  {len(relation.columns)} columns")
        lines += [f"  ! {note}" for note in self.notes]
        if self.candidates and not self.analysis.rules:
            places = ", ".join(one.at for one in self.candidates)
            lines.append(f"  ? may be about availability: {places}; see .availability")
        return "\n".join(lines)


def counted(counts: Mapping[str, int]) -> str:
    """Format the number of proved, likely, open and settled columns in words."""
    return ", ".join(f"{n} {name}" for name, n in counts.items() if n or name != SETTLED)


def _rule_words(found: ColumnFinding) -> str | None:
    if found.is_key:
        return "key"
    if not found.reading.is_number or found.rule.value is None:
        return None
    return str(found.aggregate)


def _proposal(
    one: Candidate,
    whole: tuple[dict[str, str], list[str]] | None,
    keyed: Collection[str],
    answers: Sequence[Any],
) -> dict[str, Any] | None:
    """The rule that reads a place, whole with what is beside it; None without one."""
    if whole is not None and isinstance(one.value, str):
        states = {word: read_word(word) for word in whole[1]}
        meant = {
            word: "unavailable"
            if state.status == Status.UNKNOWN
            else str(state.cause or state.status)
            for word, state in states.items()
        }
        return {**whole[0], "words": {**meant, **one.words}}
    flags = {"true": True, "false": False}
    words = {flags.get(word, word): text for word, text in one.words.items()}
    above, _, last = one.at.rpartition(".")
    rule: dict[str, Any] = {"at": one.at}
    if isinstance(one.value, list):
        rule = {"at": f"{one.at}[]", "of": "section"}
    elif isinstance(one.value, dict):
        rule = {"at": f"{one.at}{{}}", "of": None if "{" in one.at or "[" in one.at else "engine"}
    elif above.removesuffix("{}") in keyed:
        rule = {"at": above, "status": last, "of": "engine"}
    elif "[]" in above:
        records = [one for answer in answers for one in values_at(answer, parse_pattern(above))]
        objects = [record for record in records if isinstance(record, dict)]
        if all((name_of(record) or ("",))[0] == "engine" for record in objects):
            rule["of"] = "engine"
        elif not any(type(v) in (int, float) for record in objects for v in record.values()):
            rule["of"] = "section"
    try:
        Rule(**rule)
    except ValueError:
        return None
    return {**rule, "words": words}


def _rule_line(rule: Mapping[str, Any]) -> str:
    """Write a rule as the line of code that sets it."""
    return f"set_rule({', '.join(f'{name}={value!r}' for name, value in rule.items())})"


def _check_values(found: ColumnFinding) -> None:
    """Refuse a reading that loses values of the answers.

    Raises
    ------
    ValueError
        With examples of what it cannot read.
    """
    known = [None if value is MISSING else value for value in found.values]
    dtype, parse = found.reading.dtype, found.reading.parse
    if found.reading.year is not None or not known:
        return
    odd = read_as(known, Reading(dtype, parse, None, None, found.reading.missing)).odd
    if odd:
        texts = [*dict.fromkeys(raw(known[row]) for row in odd)]
        how = f"parse={parse!r}" if parse else f"dtype={dtype!r}"
        raise ValueError(
            f"{how} reads {len(known) - len(odd)} of {len(known)} values, and not "
            f"{', '.join(texts[:3])}; say another parse=, or missing= for what stands for none"
        )


def _check_rule(names: Iterable[str], found: ColumnFinding) -> None:
    """Refuse a rule that needs columns which the table does not have.

    Raises
    ------
    ValueError
        With the columns that are lacking.
    """
    rule = found.aggregate
    used = {*(rule.over or ()), rule.by, rule.within} - {None}
    lacking = sorted(str(one) for one in used - set(names))
    if lacking:
        raise ValueError(f"its rule needs {', '.join(lacking)}, which the table does not have")
