"""``python -m aatoolkit`` is the command ``aatoolkit``."""

from __future__ import annotations

import sys

from aatoolkit.cli import main

sys.exit(main())
