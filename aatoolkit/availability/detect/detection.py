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

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from aatoolkit.availability import Availability, Cause, Status
from aatoolkit.availability.detect import objects, roles, rows, transport
from aatoolkit.availability.detect.context import AnswerContext, FullDocument, Signal, raw
from aatoolkit.availability.detect.errors import read_errors
from aatoolkit.availability.detect.parts import footnote_marks
from aatoolkit.availability.detect.roles import fold
from aatoolkit.availability.detect.vocabulary import read_word
from aatoolkit.jsontree.paths import key_step
from aatoolkit.scope import ScopeOptions
from aatoolkit.sections.availability_rule import REFERENCE, Rule

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
    if engines and len(silent) == len(engines) and not answer.has_section and not answer.measured:
        causes = {state.cause for _, state in silent}
        cause = causes.pop() if len(causes) == 1 else Cause.NOT_RUN
        _add(answer, "section", None, Availability(Status.UNAVAILABLE, cause))


def _engine_state(engine: Engine) -> Availability | None:
    _, configured, ran = engine
    if configured is False:
        return Availability(Status.UNAVAILABLE, Cause.NOT_CONFIGURED)
    return Availability(Status.UNAVAILABLE, Cause.NOT_RUN) if ran is False else None


def _add(answer: AnswerContext, scope: str, target: str | None, state: Availability) -> None:
    answer.add(scope, target, state, "scope options", "options", target)


def recognise(
    document: Any,
    rule: Rule | None = None,
    *,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
    options: ScopeOptions | Mapping[str, Any] | None = None,
    envelope: Collection[str] = (),
    whole: FullDocument | None = None,
) -> list[Signal]:
    """What an answer says about its own availability; nothing found is an empty list.

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
        The scope options of the project, which name engines that cannot report.
    envelope : collection of str
        The paths that most sections share, as `envelope_of` finds them.
    whole : FullDocument, optional
        All of the answer, where ``document`` has only the beginning of its longest list.

    Returns
    -------
    list of Signal
        All signals: of the transport first, those inferred last.

    Warns
    -----
    UnknownAvailabilityWarning
        If a word of availability is not known.

    Examples
    --------
    >>> found = recognise({"availability": {"status": "not_connected", "reason": "No CNAME."}})
    >>> str(found[0].availability)
    'unavailable (not connected): No CNAME.'
    """
    listed = listed_engines(options)
    answer = AnswerContext(document, [name for name, _, _ in listed], envelope, whole)
    if not transport.of_status(answer, status):
        read_errors(answer)
        transport.of_headers(answer, headers or {})
        stated = _by_rule(document, rule)
        if stated is None:
            answer.footnotes = footnote_marks(document)
            objects.walk(answer)
            if whole is not None and _is_heard(answer, whole):
                return recognise(
                    whole.values.value(0),
                    rule,
                    status=status,
                    headers=headers,
                    options=options,
                    envelope=envelope,
                )
            rows.walk(answer)
        else:
            answer.found += stated
    _corroborate(answer, listed)
    return answer.found


def _is_heard(answer: AnswerContext, whole: FullDocument) -> bool:
    """Whether the list that is cut short says anything as a list, and not by its records."""
    return any(rows.is_spoken_for(name) or roles.speaks_of(name) for name in whole.steps) or any(
        signal.path.startswith(whole.path) for signal in answer.found
    )


def _by_rule(document: Any, rule: Rule | None) -> list[Signal] | None:
    """What a rule reads; None where it does not fit and the general rules are needed."""
    known = rule or REFERENCE
    stated = known.find(document)
    if stated is None or (rule is None and not known.is_whole(stated)):
        return None
    return list(_signals(stated, known)) or None


def _signals(stated: Mapping[str, Any], rule: Rule) -> Iterator[Signal]:
    at = "$" + "".join(map(key_step, rule.steps))
    if rule.status in stated:
        yield _signal("section", None, stated, at, rule)
    for scope, name in (("field", rule.fields), ("engine", rule.engines)):
        narrower = stated.get(name)
        if isinstance(narrower, dict):
            for target, state in narrower.items():
                given = state if isinstance(state, dict) else {rule.status: state}
                yield _signal(scope, target, given, f"{at}{key_step(name)}{key_step(target)}", rule)


def _signal(
    scope: str, target: str | None, given: Mapping[str, Any], path: str, rule: Rule
) -> Signal:
    word, sample_size, as_of = map(given.get, (rule.status, rule.sample_size, rule.as_of))
    if isinstance(word, bool):
        word = "available" if word else "unavailable"
    return Signal(
        scope,
        target,
        read_word(
            rule.words.get(word, word) if isinstance(word, str) else word, given.get(rule.reason)
        ),
        sample_size if type(sample_size) is int else None,
        as_of if isinstance(as_of, str) else None,
        path,
        rule.name,
        raw(given),
    )
