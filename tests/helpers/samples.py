"""The sample of a response of each section, in the shape of the reference."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

SAMPLES = Path(__file__).parents[2] / "data" / "samples"


def sample(name: str) -> Any:
    """The sample of a section, or of the scope options, parsed."""
    return json.loads((SAMPLES / f"{name}.json").read_bytes())
