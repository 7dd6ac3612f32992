"""Texts of an insight: title, what happened, perhaps why, and a recommendation."""

from __future__ import annotations

from collections.abc import Mapping

from aatoolkit.service.movements import Movement


def words(movement: Movement, labels: Mapping[str, str]) -> dict[str, str | None]:
    """Write the texts of an insight; ``labels`` has the engines' names by their ids."""
    tell = {
        "visibility_change": _visibility,
        "sentiment_change": _sentiment,
        "competitor_citation_gain": _gain,
        "citation_loss": _loss,
    }[movement.kind]
    return tell(movement, labels)


def _visibility(movement: Movement, labels: Mapping[str, str]) -> dict[str, str | None]:
    engine = movement.engine
    where = f" on {labels.get(engine, engine)}" if engine else ""
    rose = movement.change > 0
    return {
        "title": f"Mention rate of {movement.brand} {'up' if rose else 'down'}{where}",
        "what": f"Mention rate moved from {movement.before:.1%} to {movement.after:.1%}.",
        "why": _pages(movement),
        "recommendation": "Look at what the prompts that gained have in common, and extend it."
        if rose
        else "Look at which sources and brands took the place in the prompts that lost.",
    }


def _pages(movement: Movement) -> str | None:
    """Word the own pages that gained or lost citations with the change; None without any."""
    if not movement.urls:
        return None
    if movement.change > 0:
        turned = "came to be cited that the window before did not cite"
    else:
        turned = "are no longer cited that the window before cited"
    return f"Pages of its own {turned}, such as {movement.urls[0]}."


def _sentiment(movement: Movement, _: Mapping[str, str]) -> dict[str, str | None]:
    rose = movement.change > 0
    return {
        "title": f"Sentiment of {movement.brand} {'up' if rose else 'down'}",
        "what": f"Sentiment score moved from {movement.before:.1f} to {movement.after:.1f}.",
        "why": None,
        "recommendation": "Keep the pages current that answers rest on."
        if rose
        else "Read the answers that speak badly of it, and correct what their sources say.",
    }


def _gain(movement: Movement, _: Mapping[str, str]) -> dict[str, str | None]:
    newly = "newly" if movement.before == 0 else "more often"
    return {
        "title": f"{movement.brand} {newly} cited by way of {movement.domain}",
        "what": f"Pages of {movement.domain} that mention {movement.brand} were cited in "
        f"{movement.after} answers, after {movement.before} in the window before.",
        "why": None,
        "recommendation": f"Ask {movement.domain} to include you.",
    }


def _loss(movement: Movement, _: Mapping[str, str]) -> dict[str, str | None]:
    return {
        "title": f"Pages of {movement.domain} no longer cited",
        "what": f"{movement.before} answers cited pages of {movement.domain} in the window "
        "before that no answer cites in this one.",
        "why": None,
        "recommendation": "Check that these pages can still be reached, and refresh them.",
    }
