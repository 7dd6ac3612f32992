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

    def value(self, explanation: Explanation) -> Any:
        """What the bytes that a leaf names hold."""
        assert explanation.response is not None
        assert explanation.place is not None
        body = self._bodies[str(explanation.response.sha256)]
        text = body[explanation.place.start : explanation.place.end]
        assert text.decode() == explanation.place.text
        return json.loads(text)

    def computed(self, explanation: Explanation) -> Any:
        """The number of an explanation, from the bytes below it and the words of its formula."""
        if explanation.place is not None:
            return self.value(explanation)
        parts = [self.computed(child) for child in explanation.children]
        formula = str(explanation.formula)
        if explanation.operation == "sum" or formula.startswith("sum over"):
            return sum(parts)
        if explanation.operation == "product":
            return math.prod(parts)
        if formula.startswith("sum of"):
            above, below = parts
            return above / below
        choose = {"the smallest": min, "the largest": max}
        words = " ".join(formula.split()[:2])
        if words in choose:
            return choose[words](parts)
        return parts[-1] if words == "the last" else parts[0]


def close(first: Any, second: Any) -> bool:
    return math.isclose(float(first), float(second), rel_tol=1e-9, abs_tol=1e-12)
