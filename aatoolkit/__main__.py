"""``python -m aatoolkit`` is the command ``aatoolkit``."""

import sys

from aatoolkit.cli import main

sys.exit(main())
