"""Detect availability in an answer whose metadata has no documented name or shape.

The rules, in the order of their weight; the name of the one that fired is kept:

``transport``
    The HTTP status: 202, 425, 429 and 503 are pending, 204, 404 and 410 unavailable, 401, 402,
    403, 423 and 451 withheld, 409, 424 and 428 not connected, 501 not applicable, 206 partial,
    other errors failed; a code in the body is more precise.
``error``
    An error envelope inside a good answer; errors that name their place speak of that alone.
``header``
    A response header whose name is about availability.
A `Rule`
    Where a service is known. The reference service's is applied to every answer that fits it
    whole; nothing else of such an answer is read.
``statement``, ``map``, ``list``
    What stands under a key that says availability (``dataAvailability``, ``coverage``,
    ``engineSupport``, ``unavailable``): a word, a flag, an object, a map or list of fields or
    engines.
``flag``, ``status``, ``envelope``, ``reason``, ``note``, ``notice``, ``sampling``, ``source``
    What the answer or its metadata says of the whole: flags, words, notes; notices of prose,
    and messages of an empty answer, only where nothing else speaks; no source of data where
    nothing was measured.
``sibling``, ``field``, ``connection``
    A key that speaks of the one beside it (``revenueReason``), an object that gives its own
    state (``{"value": null, "status": …}``).
``count``
    A part and a whole under a key about data, what a sample left out, what is missing of the
    rows or days, a moment from which an answer is incomplete.
``row flag``, ``row word``, ``row statement``, ``row reason``, ``row code``, ``cell``
    Inside lists of records, flags and words that speak of data by name; everyday ones only
    where no number stands beside them; the codes of SDMX and Eurostat.
``sign``, ``footnote``
    A word or sign where a number should stand; a note elsewhere that names a field or is
    marked in a row.
``options``
    Engines that scope options call not configured, or that never ran.

Inside lists of records ``status``, ``state`` and ``availability`` are business; a number is
never a status; what repeats the question (``filters``) says nothing. Where no rule fires,
nothing is found, and that is ``unknown``: never available and never zero. A word that is not
known, under a key that says availability, is ``unknown`` too, kept verbatim, with one
`~aatoolkit.errors.UnknownAvailabilityWarning`.
"""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Collection, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from aatoolkit.availability import Availability, Cause, Status
from aatoolkit.availability.detect import codes, forms, objects, roles, rows, transport
from aatoolkit.availability.detect.context import AnswerContext, FullDocument
from aatoolkit.availability.detect.declared_rule import read_rule
from aatoolkit.availability.detect.errors import read_errors
from aatoolkit.availability.detect.hints import find_hints
from aatoolkit.availability.detect.parts import footnote_marks
from aatoolkit.availability.detect.roles import fold
from aatoolkit.availability.detect.signals import Hint, Signal
from aatoolkit.errors import DetectionWarning
from aatoolkit.scope import ScopeOptions
from aatoolkit.sections.availability_rule import Rule

Engine = tuple[str, bool | None, bool | None]
"""An engine's id, whether it is configured, and whether it ever ran, where that is known."""


def listed_engines(options: ScopeOptions | Mapping[str, Any] | None) -> list[Engine]:
    """The engines of scope options, read or as they came."""
    if isinstance(options, ScopeOptions):
        return [*_engines_read(options)]
    if isinstance(options, Mapping) and isinstance(options.get("engines"), list):
        return [*_engines_given(options["engines"])]
    return []


def _engines_read(options: ScopeOptions) -> Iterator[Engine]:
    frame = options.engines
    parts = (frame["engine"], frame["configured"], frame["configured"].isna())
    for name, configured, unknown, never in zip(*parts, frame["last_run_day"].isna(), strict=True):
        yield str(name), None if unknown else bool(configured), not never


def _engines_given(engines: list[Any]) -> Iterator[Engine]:
    for engine in engines:
        if isinstance(engine, dict) and isinstance(engine.get("id"), str):
            configured = engine.get("configured")
            ran = engine["lastRunDay"] is not None if "lastRunDay" in engine else None
            yield engine["id"], configured if isinstance(configured, bool) else None, ran


def _corroborate(answer: AnswerContext, engines: list[Engine]) -> None:
    """Add what the options say of engines that the answer does not speak of."""
    spoken = {fold(each.target or "") for each in answer.found if each.scope == "engine"}
    silent = [(engine, state) for engine in engines if (state := _engine_state(engine)) is not None]
    for (name, _, _), state in silent:
        if fold(name) not in spoken:
            _add(answer, "engine", name, state)


def _engine_state(engine: Engine) -> Availability | None:
    _, configured, ran = engine
    if configured is False:
        return Availability(Status.UNAVAILABLE, Cause.NOT_CONFIGURED)
    return Availability(Status.UNAVAILABLE, Cause.NOT_RUN) if ran is False else None


def _add(answer: AnswerContext, scope: str, target: str | None, state: Availability) -> None:
    answer.add(scope, target, state, "scope options", "options", target)


def detect(
    document: Any,
    rule: Rule | None = None,
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
    rule : Rule, optional
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
    UnknownAvailabilityWarning
        If a word of availability is not known.
    DetectionWarning
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
        _read(answer, rule, status, headers or {})
        _corroborate(answer, listed)
    except Warning:
        raise  # somebody has turned warnings into errors
    except Exception as error:
        failure = _failure(error)
    if failure is not None:
        warnings.warn(failure, DetectionWarning, stacklevel=2)
    return Detection(answer, headers or {}, failure)


def recognise(document: Any, rule: Rule | None = None, **about: Any) -> list[Signal]:
    """The signals of `detect`, whose arguments it takes."""
    return detect(document, rule, **about).signals


class Detection:
    """What was detected in one answer.

    Attributes
    ----------
    signals : list of Signal
        What the answer states about its availability.
    hints : list of Hint
        What may speak of availability and was not read; found when first asked for.
    failure : str or None
        How detection failed, if it did.
    """

    def __init__(
        self, answer: AnswerContext, headers: Mapping[str, str], failure: str | None
    ) -> None:
        self.signals = answer.found
        self.failure = failure
        self._answer = answer
        self._headers = headers
        if answer.is_ruled:
            answer.document = None
        elif failure is None:
            answer.release()

    @cached_property
    def hints(self) -> list[Hint]:
        """What may speak of availability and was not read."""
        failed = [Hint("$", None, self.failure)] if self.failure else []
        try:
            return failed + find_hints(self._answer, self._headers)
        except Exception as error:
            return [*failed, Hint("$", None, _failure(error))]


def _read(
    answer: AnswerContext, rule: Rule | None, status: int, headers: Mapping[str, str]
) -> None:
    """Read an answer, by its rule or by the general rules."""
    if transport.of_status(answer, status):
        return
    read_errors(answer)
    if rule is not None and rule.kind == "header":
        own = rule.header
        others = {name: text for name, text in headers.items() if name.lower() != own}
        transport.of_headers(answer, others)
    else:
        transport.of_headers(answer, headers)
    if read_rule(answer, rule, headers):
        answer.is_ruled = rule is None
        return
    before = [*answer.found]
    _read_generally(answer, headers)
    whole = answer.whole
    if whole is not None and _is_heard(answer, whole):
        # The list that was cut short is a statement: it is read in full, and the rest again.
        answer.restart(whole.values.value(0), before)
        _read_generally(answer, headers)
    codes.read(answer)
    rows.walk(answer)


def _read_generally(answer: AnswerContext, headers: Mapping[str, str]) -> None:
    answer.footnotes = footnote_marks(answer.document)
    objects.walk(answer)
    forms.read(answer, headers)


def _failure(error: Exception) -> str:
    """How detection failed: the exception's type and place, and nothing of the answer."""
    frames = traceback.extract_tb(error.__traceback__)
    at = f" in {Path(frames[-1].filename).name}, line {frames[-1].lineno}" if frames else ""
    return (
        f"availability could not be read in full ({type(error).__name__}{at}): a fault of "
        "aatoolkit, which leaves the answer as it is; please report it"
    )


def _is_heard(answer: AnswerContext, whole: FullDocument) -> bool:
    """Whether the list that is cut short says anything as a list, and not by its records."""
    return any(rows.is_spoken_for(name) or roles.speaks_of(name) for name in whole.steps) or any(
        signal.path.startswith(whole.path) for signal in answer.found
    )
