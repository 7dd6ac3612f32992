"""Read the JSON files in this folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def constants(name: str) -> Any:
    """Return the content of the file ``name.json`` in this folder.

    Examples
    --------
    >>> constants("extras")["keyring"]
    ['keyring']
    """
    return json.loads(Path(__file__).with_name(f"{name}.json").read_text("utf-8"))
