"""Defaults and load_constants that several packages use."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from aatoolkit._util.data import load_constants
from aatoolkit.errors import PackageMissing

EXPIRE_AFTER_SECONDS = 3600.0
"""The maximum age of a cached response, in seconds."""

CACHE_BYTES = 2 * 10**9
"""The maximum size of the cache on disk, in bytes."""

DEADLINE_SECONDS = 60.0
"""The maximum duration of a call of the API with its retries, in seconds."""

RETENTION_HOURS = 168.0
"""The number of hours for which an archive keeps files that were replaced."""

WORKERS = 8
"""The number of requests that are sent in parallel."""

LEVEL = 0.95
"""The confidence level of intervals."""

MAX_DRAFT_REQUESTS = 60
"""The maximum number of requests that are sent to draft the profile of a service."""

ENGINES = ("chatgpt", "perplexity", "gemini", "claude", "copilot", "google-ai-overview")
"""The engines (AI assistants) that a shell completes, and that have a fixed style in plots.

A new engine needs a style at the same position of ``series`` in ``display/plot/looks.json``.
"""

DEMO_HOST = "acme.example"
"""The host of the demonstration project in the synthetic store."""


EXTRAS = {extra: tuple(packages) for extra, packages in load_constants("extras").items()}
"""The packages that each extra installs, as in ``pyproject.toml``."""


@contextmanager
def require_package(purpose: str, extra_name: str) -> Iterator[None]:
    """Convert an `ImportError` in a ``with`` block to `PackageMissing`, which says what to install.

    ``purpose`` begins the message, such as "pictures need". ``extra_name`` is the name of the
    optional dependency group that has the package.

    Examples
    --------
    >>> with require_package("pictures need", "plot"):
    ...     import matplotlib
    """
    try:
        yield
        return
    except ImportError as error:
        package_name = (error.name or EXTRAS[extra_name][0]).partition(".")[0]
        is_missing = isinstance(error, ModuleNotFoundError)
        problem_text = "is not installed" if is_missing else f"cannot be imported ({error})"
        if package_name == __name__.partition(".")[0]:
            raise
    raise PackageMissing(
        f'{purpose} {package_name}, which {problem_text}: pip install "aatoolkit[{extra_name}]"',
        package=package_name,
        extra=extra_name,
    )
