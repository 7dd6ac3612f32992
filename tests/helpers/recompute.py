"""Numbers computed again from the bytes that explanations name, without the package's own code."""

from __future__ import annotations

import hashlib
import json
import math
from pathlib import Path
from typing import Any

from carried import Explanation


class Answers:
    """The bodies in the folder of a study, by their SHA-256."""

    def __init__(self, study: Path) -> None:
        self._bodies: dict[str, bytes] = {}
        for path in (study / "responses").iterdir():
            body = path.read_bytes()
            self._bodies[hashlib.sha256(body).hexdigest()] = body

    def value(self, one: Explanation) -> Any:
        """What the bytes that a leaf names hold."""
        assert one.response is not None
        assert one.place is not None
        body = self._bodies[str(one.response.sha256)]
        text = body[one.place.start : one.place.end]
        assert text.decode() == one.place.text
        return json.loads(text)

    def computed(self, one: Explanation) -> Any:
        """The number of an explanation, from the bytes below it and the words of its formula."""
        if one.place is not None:
            return self.value(one)
        parts = [self.computed(child) for child in one.children]
        formula = str(one.formula)
        if one.operation == "sum" or formula.startswith("sum over"):
            return sum(parts)
        if one.operation == "product":
            return math.prod(parts)
        if formula.startswith("mean over"):
            return sum(parts) / len(parts)
        if formula.startswith(("sum of", "after - before")):
            assert len(parts) == 2
            return parts[0] / parts[1] if "/" in formula else parts[0] - parts[1]
        choose = {"the smallest": min, "the largest": max}
        words = " ".join(formula.split()[:2])
        if words in choose:
            return choose[words](parts)
        return parts[-1] if words == "the last" else parts[0]


def close(one: Any, other: Any) -> bool:
    return math.isclose(float(one), float(other), rel_tol=1e-9, abs_tol=1e-12)
