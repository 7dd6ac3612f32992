"""What scope options say of engines: one that is not set up or never ran cannot report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from aatoolkit.availability import Availability, Cause, Status
from aatoolkit.availability.detect.context import Answer
from aatoolkit.availability.detect.roles import fold
from aatoolkit.scope import ScopeOptions

Engine = tuple[str, bool | None, bool | None]
"""An engine's id, whether it is configured, and whether it ever ran, where that is known."""


def listed(options: ScopeOptions | Mapping[str, Any] | None) -> list[Engine]:
    """The engines of scope options, read or as they came."""
    if isinstance(options, ScopeOptions):
        return [*_read(options)]
    if isinstance(options, Mapping) and isinstance(options.get("engines"), list):
        return [*_given(options["engines"])]
    return []


def _read(options: ScopeOptions) -> Iterator[Engine]:
    frame = options.engines
    parts = (frame["engine"], frame["configured"], frame["configured"].isna())
    for name, configured, unknown, never in zip(*parts, frame["last_run_day"].isna(), strict=True):
        yield str(name), None if unknown else bool(configured), not never


def _given(engines: list[Any]) -> Iterator[Engine]:
    for engine in engines:
        if isinstance(engine, dict) and isinstance(engine.get("id"), str):
            configured = engine.get("configured")
            ran = engine["lastRunDay"] is not None if "lastRunDay" in engine else None
            yield engine["id"], configured if isinstance(configured, bool) else None, ran


def corroborate(answer: Answer, engines: list[Engine]) -> None:
    """Add what the options say of engines that the answer does not speak of."""
    spoken = {fold(each.target or "") for each in answer.found if each.scope == "engine"}
    silent = [(engine, state) for engine in engines if (state := _state(engine)) is not None]
    for (name, _, _), state in silent:
        if fold(name) not in spoken:
            _add(answer, "engine", name, state)
    if engines and len(silent) == len(engines) and not answer.has_section and not answer.measured:
        causes = {state.cause for _, state in silent}
        cause = causes.pop() if len(causes) == 1 else Cause.NOT_RUN
        _add(answer, "section", None, Availability(Status.UNAVAILABLE, cause))


def _state(engine: Engine) -> Availability | None:
    _, configured, ran = engine
    if configured is False:
        return Availability(Status.UNAVAILABLE, Cause.NOT_CONFIGURED)
    return Availability(Status.UNAVAILABLE, Cause.NOT_RUN) if ran is False else None


def _add(answer: Answer, scope: str, target: str | None, state: Availability) -> None:
    answer.add(scope, target, state, "scope options", "options", target)
