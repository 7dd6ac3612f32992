"""Student's t agrees with SciPy."""

from __future__ import annotations

import pytest

from aatoolkit.stats.trace import t_quantile, t_survival, two_sided

FREEDOMS = (1, 2, 3, 4, 5.5, 10, 24.9, 25, 99, 500, 1e4, 1e6, float("inf"))


@pytest.mark.parametrize("df", FREEDOMS)
def test_tails_and_quantiles_are_those_of_scipy(df: float) -> None:
    stats = pytest.importorskip("scipy.stats")
    for t in (-8, -3, -1, 0, 1e-3, 0.01, 0.5, 1, 2, 3, 5, 10, 40, 1e6, 1e9, 1e300):
        assert t_survival(t, df) == pytest.approx(stats.t.sf(t, df), abs=1e-9)
        assert two_sided(t, df) == pytest.approx(2 * stats.t.sf(abs(t), df), abs=1e-9)
    for p in (0.001, 0.025, 0.3, 0.5, 0.8, 0.975, 0.9999):
        assert t_quantile(p, df) == pytest.approx(stats.t.ppf(p, df), rel=1e-9, abs=1e-9)
