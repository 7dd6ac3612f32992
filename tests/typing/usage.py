"""What editors and type checkers know of tables: checked by mypy in continuous integration.

A mistyped name is an error: an ignored one that is none would be reported as superfluous.
"""

from __future__ import annotations

from typing import assert_type

import pandas as pd

import aatoolkit as aa

project = aa.demo()
tables = project.read("domains", days=7)
engines = tables["source_domain_engines"]
assert_type(engines["citation_count"], "pd.Series[int]")
assert_type(engines["engine"], "pd.Series[str]")
assert_type(engines.head(3)["engine"], "pd.Series[str]")
assert_type(engines[engines["citation_count"] > 1], pd.DataFrame)
assert_type(engines[["engine", "citation_count"]], pd.DataFrame)
assert_type(engines.aa.availability, pd.DataFrame)
assert_type(tables.main["citation_share"], "pd.Series[float]")
assert_type(engines.assign(more=1)["more"], pd.Series)
assert_type(project.read_all(days=7)["prompts"].main["prompt"], "pd.Series[str]")

engines["citations"]  # type: ignore[call-overload]
tables["domain_engines"]  # type: ignore[call-overload]
project.read("domain")  # type: ignore[call-overload]
