"""The optional packages: which extra installs them, and the error where one is missing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from aatoolkit.errors import PackageMissing

EXTRAS = {
    "demo": ("duckdb", "starlette", "uvicorn", "pytz"),
    "plot": ("matplotlib",),
    "interactive": ("matplotlib", "plotly"),
    "scale": ("duckdb", "pytz", "dask"),
    "archive": ("deltalake", "duckdb", "pytz"),
    "excel": ("xlsxwriter",),
    "contracts": ("pandera",),
    "notebook": ("jupyterlab", "nbclient", "ipykernel"),
    "keyring": ("keyring",),
}
"""The packages of each extra for users, as in ``pyproject.toml``."""


@contextmanager
def needed(purpose: str, extra: str) -> Iterator[None]:
    """Import optional packages, with an error that says what to install.

    Parameters
    ----------
    purpose
        What needs them, with its verb: ``pictures need``.
    extra
        The extra that installs them.

    Raises
    ------
    PackageMissing
        If an import in the block fails.

    Examples
    --------
    >>> with needed("pictures need", "plot"):
    ...     import matplotlib
    """
    try:
        yield
        return
    except ImportError as error:
        package = (error.name or EXTRAS[extra][0]).partition(".")[0]
        is_absent = isinstance(error, ModuleNotFoundError)
        reason = "is not installed" if is_absent else f"cannot be imported ({error})"
        if package == __name__.partition(".")[0]:
            raise
    raise PackageMissing(
        f'{purpose} {package}, which {reason}: pip install "aatoolkit[{extra}]"',
        package=package,
        extra=extra,
    )
