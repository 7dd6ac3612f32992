"""Read the JSON files of constants that are stored beside this module."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def load_constants(file_stem: str) -> Any:
    """Return the parsed content of the file ``name.json`` beside this module.

    Examples
    --------
    >>> load_constants("extras")["keyring"]
    ['keyring']
    """
    return json.loads(Path(__file__).with_name(f"{file_stem}.json").read_text("utf-8"))
