"""Detect availability in an answer whose metadata has no documented name or shape.

The rules, in the order of their weight; the name of the one that fired is kept:

``transport``
    The HTTP status: 202, 425, 429 and 503 are pending, 204, 404 and 410 unavailable, 401, 402,
    403, 423 and 451 withheld, 409, 424 and 428 not connected, 501 not applicable, 206 partial,
    other errors failed; a code in the body is more precise.
``error``
    An error envelope inside a good answer; errors that name a field are about that alone.
``header``
    A response header whose name is about availability.
A `Rule`
    Where a service is known. The reference service's is applied to every answer that fits it
    whole; nothing else of such an answer is read.
``statement``, ``map``, ``list``
    The value of a key that names availability (``dataAvailability``, ``coverage``,
    ``engineSupport``, ``unavailable``): a word, a flag, an object, a map or list of fields or
    engines.
``flag``, ``status``, ``envelope``, ``reason``, ``note``, ``notice``, ``sampling``, ``source``
    What the answer or its metadata states about the whole: flags, words, notes; notices of
    prose, and messages of an empty answer, only where there is nothing else; no source of data
    where nothing was measured.
``sibling``, ``field``, ``connection``
    A key about the one beside it (``revenueReason``), an object that gives its own state
    (``{"value": null, "status": …}``).
``count``
    A part and a whole under a key about data, what a sample left out, what is missing of the
    rows or days, a moment from which an answer is incomplete.
``row flag``, ``row word``, ``row statement``, ``row reason``, ``row code``, ``cell``
    Inside lists of records, flags and words that are about data by name; everyday ones only
    where no number is beside them; the codes of SDMX and Eurostat.
``sign``, ``footnote``, ``legend``, ``sentinel``, ``minimum``
    A word or sign instead of a number; a note elsewhere that names a field or is marked in a
    row; codes that the answer explains itself; a least sample that rows with null do not reach.
``condition``, ``progress``, ``cap``, ``window``, ``outage``, ``through``
    Forms that many services share, with evidence in the answer.
``options``
    Engines that are not configured by the scope options, or that never ran.

Inside lists of records ``status``, ``state`` and ``availability`` are business; a number is
never a status; what repeats the question (``filters``) is no statement. Where no rule fires,
nothing is found, and that is ``unknown``: never available and never zero. A word that is not
known, under a key that names availability, is ``unknown`` too, kept verbatim, with one
`~aatoolkit.errors.SchemaDriftWarning`.
"""

from __future__ import annotations

import re
import traceback
import warnings
from collections.abc import Collection, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from aatoolkit.availability import Availability, Cause, Status, combine
from aatoolkit.availability.detect import codes, forms, keys, objects, rows
from aatoolkit.availability.detect.context import AnswerContext, Hint, Signal
from aatoolkit.availability.detect.declared_rule import read_rules
from aatoolkit.availability.detect.errors import read_errors
from aatoolkit.availability.detect.fields import FullDocument, is_read_elsewhere
from aatoolkit.availability.detect.hints import find_hints
from aatoolkit.availability.detect.parts import footnote_marks
from aatoolkit.availability.detect.roles import fold, kind_of_entries, tokens
from aatoolkit.availability.detect.transport import read_headers, read_status
from aatoolkit.availability.detect.vocabulary import best, is_code
from aatoolkit.errors import SchemaDriftWarning
from aatoolkit.scope import ScopeOptions
from aatoolkit.sections.availability_rule import Rule, rules_of

_NOTHING = {Status.UNAVAILABLE, Status.NOT_APPLICABLE}

Engine = tuple[str, bool | None, bool | None]
"""An engine's id, whether it is configured, and whether it ever ran, where that is known."""


def listed_engines(options: ScopeOptions | Mapping[str, Any] | None) -> list[Engine]:
    """The engines of scope options, parsed or as they came."""
    if isinstance(options, ScopeOptions):
        frame = options.engines
        configured = (frame["configured"], frame["configured"].isna())
        listed = zip(frame["engine"], *configured, frame["last_run_day"].notna(), strict=True)
        return [
            (str(name), None if na else bool(flag), ran if options.has_runs else None)
            for name, flag, na, ran in listed
        ]
    given = options.get("engines") if isinstance(options, Mapping) else None
    return [
        (
            engine["id"],
            flag if isinstance(flag := engine.get("configured"), bool) else None,
            engine["lastRunDay"] is not None if "lastRunDay" in engine else None,
        )
        for engine in (given if isinstance(given, list) else ())
        if isinstance(engine, dict) and isinstance(engine.get("id"), str)
    ]


def _read_options(answer: AnswerContext, engines: list[Engine]) -> None:
    """Read the scope options: the engines that could not report and are not in the answer."""
    stated = {fold(each.target or "") for each in answer.found if each.scope == "engine"}
    for name, configured, ran in engines:
        cause = Cause.NOT_CONFIGURED if configured is False else Cause.NOT_RUN
        if (configured is False or ran is False) and fold(name) not in stated:
            state = Availability(Status.UNAVAILABLE, cause)
            answer.add("engine", name, state, "scope options", "options", name)


def detect(
    document: Any,
    rule: Rule | tuple[Rule, ...] | None = None,
    *,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
    options: ScopeOptions | Mapping[str, Any] | None = None,
    envelope: Collection[str] = (),
    whole: FullDocument | None = None,
) -> Detection:
    """Detect what an answer states about its own availability. Never raises.

    Parameters
    ----------
    document : object
        The decoded answer; None where there was no body.
    rule : Rule or tuple of Rule, optional
        Where a known service keeps its availability; it wins over the general rules.
    status : int
        The HTTP status.
    headers : mapping of str to str, optional
        The response headers.
    options : ScopeOptions or mapping, optional
        The project's scope options, which name engines and list those that cannot report.
    envelope : collection of str
        The paths that most sections share, as `envelope_of` finds them.
    whole : FullDocument, optional
        All of the answer, where ``document`` has only the beginning of its longest list.

    Returns
    -------
    Detection
        All signals, of the transport first and those of scope options last; and hints, which
        point out what was not read.

    Warns
    -----
    SchemaDriftWarning
        If a word of availability is not known.
    SchemaDriftWarning
        If detection itself failed, which is a fault of this package: what was found until then
        is kept, and the failure is among the hints. The answer is not affected.

    Examples
    --------
    >>> found = detect({"availability": {"status": "not_connected", "reason": "No CNAME."}})
    >>> str(found.signals[0].availability)
    'unavailable (not connected): No CNAME.'
    """
    listed = listed_engines(options)
    answer = AnswerContext(document, [name for name, _, _ in listed], envelope, whole)
    failure = None
    try:
        _read(answer, rules_of(rule), status, headers or {})
        _read_options(answer, listed)
    except Warning:
        raise  # somebody has turned warnings into errors
    except Exception as error:
        failure = _failure(error)
    if failure is not None:
        warnings.warn(failure, SchemaDriftWarning, stacklevel=2)
    return Detection(answer, headers or {}, failure)


def signals_of(
    document: Any, rule: Rule | tuple[Rule, ...] | None = None, **about: Any
) -> list[Signal]:
    """Detect the signals of an answer; the arguments are those of `detect`."""
    return detect(document, rule, **about).signals


class Detection:
    """The signals and hints detected in one answer.

    Attributes
    ----------
    signals : list of Signal
        What the answer states about its availability.
    hints : list of Hint
        What may be about availability and was not read; found on first access.
    failure : str or None
        How detection failed, if it did.
    is_ruled : bool
        Whether an object about the whole answer, as the API documents it, stated everything.
    """

    def __init__(
        self, answer: AnswerContext, headers: Mapping[str, str], failure: str | None
    ) -> None:
        self.signals = answer.found
        self.failure = failure
        self.is_ruled = answer.is_ruled
        self._answer = answer
        self._headers = headers
        if answer.is_ruled:
            answer.document = None
        elif failure is None:
            answer.release()

    @cached_property
    def hints(self) -> list[Hint]:
        """Values that may be about availability and were not read."""
        failed = [Hint("$", None, self.failure)] if self.failure else []
        try:
            return failed + find_hints(self._answer, self._headers)
        except Exception as error:
            return [*failed, Hint("$", None, _failure(error))]


def _read(
    answer: AnswerContext, rules: tuple[Rule, ...], status: int, headers: Mapping[str, str]
) -> None:
    """Read an answer, by its rules or by the general ones."""
    if read_status(answer, status):
        return
    read_errors(answer)
    own = {rule.header for rule in rules if rule.kind == "header"}
    read_headers(answer, {name: text for name, text in headers.items() if name.lower() not in own})
    if read_rules(answer, rules, headers):
        answer.is_ruled = not rules
        return
    before = [*answer.found]
    _read_generally(answer, headers)
    whole = answer.whole
    if whole is not None and _is_statement(answer, whole):
        # The list that was cut short is a statement: it is read in full, and the rest again.
        answer.restart(whole.values.value(0), before)
        _read_generally(answer, headers)
    codes.read_codes(answer)
    rows.read_rows(answer)
    _read_silence(answer)


def _read_silence(answer: AnswerContext) -> None:
    """Read the whole answer as unmeasured, if nothing was counted and its signals say so.

    A map of what lacks alone, such as ``nullReasons``, leaves open what the other engines did, and
    an object of data, such as ``revenue``, is not all of an answer.
    """
    found = [signal for signal in answer.found if signal.rule != "options"]
    if answer.has_section or answer.counted or not found:
        return
    of_engines = len(found) > 1 and all(map(_is_of_each_engine, found))
    of_data = len(found) == 1 and _is_of_data(answer, found[0])
    states = [signal.availability for signal in found]
    if (of_engines or of_data) and {state.status for state in states} <= _NOTHING:
        answer.add("section", None, combine(states), found[0].path, found[0].rule, found[0].raw)


def _is_of_data(answer: AnswerContext, signal: Signal) -> bool:
    """Whether an object at the top gives nothing but a state, by a code about data or runs."""
    document = answer.document if isinstance(answer.document, dict) else {}
    given = document.get(signal.target or "")
    if signal.rule != "field" or not isinstance(given, dict):
        return False
    codes_in = [value for value in given.values() if isinstance(value, str) and is_code(value)]
    known = best(codes_in)
    about = known is not None and (
        known.canonical in ("not_run", "pending") or any("data" in tokens(one) for one in codes_in)
    )
    return about and not any(isinstance(value, dict | list) for value in given.values())


def _is_of_each_engine(signal: Signal) -> bool:
    """Whether a signal is one entry of a map or list that gives the state of each engine."""
    above = re.sub(r"\[[^]]*\]$|\.[^.\[\]]*$", "", signal.path)
    key = re.split(r"[.\[\]\"]+", above.rstrip('"]'))[-1]
    lacks = keys.denial(key) is not None or tokens(key)[-1:] in (("reason",), ("reasons",))
    return signal.scope == "engine" and signal.rule == "map" and not lacks


def _read_generally(answer: AnswerContext, headers: Mapping[str, str]) -> None:
    answer.footnotes = footnote_marks(answer.document)
    objects.read_objects(answer)
    forms.read_forms(answer, headers)


def _failure(error: Exception) -> str:
    """Describe an internal error by its type and place, without anything of the answer."""
    frames = traceback.extract_tb(error.__traceback__)
    at = f" in {Path(frames[-1].filename).name}, line {frames[-1].lineno}" if frames else ""
    return (
        f"availability could not be read in full ({type(error).__name__}{at}): a fault of "
        "aatoolkit, which leaves the answer as it is; please report it"
    )


def _is_statement(answer: AnswerContext, whole: FullDocument) -> bool:
    """Whether the list that was cut short is itself a statement, or holds one."""
    return any(is_read_elsewhere(name) or kind_of_entries(name) for name in whole.steps) or any(
        signal.path.startswith(whole.path) for signal in answer.found
    )
