"""What editors and type checkers know of tables by a typed module: checked by mypy and pyright.

A mistyped name is an error: an ignored one that is none would be reported as superfluous.
"""

from __future__ import annotations

from typing import Any, assert_type

import pandas as pd
from reference_types import typed

import aatoolkit as aa

project = typed(aa.demo())
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
project.read("domains", day=7)  # type: ignore[call-overload]
project.read("domains", days="7")  # type: ignore[call-overload]
project.read_all(engines="claude")  # type: ignore[call-arg]

# Ordinary lines of pandas are no errors.
filters: dict[str, Any] = {"days": 7, "engine": ["claude", "gemini"], "topic": None}
project.read("domains", aa.Scope(brand="Globex"), **filters)
project.read("domains", aa.ScopePicker(project), engine=["claude"])
for column in engines.columns:
    engines[column].isna().sum()
for column in engines:
    engines[column].isna().sum()
for _name, values in engines.items():
    values.count()
names = ["engine", "citation_count"]
assert_type(engines[names], pd.DataFrame)
assert_type(engines[[name for name in engines if name != "engine"]], pd.DataFrame)
assert_type(engines[engines.columns[:2]], pd.DataFrame)
assert_type(engines[~engines["citation_count"].isna()], pd.DataFrame)
assert_type(engines[engines["engine"].isin(["claude"]).to_numpy()], pd.DataFrame)
assert_type(engines[lambda frame: frame["citation_count"] > 1], pd.DataFrame)
assert_type(engines.query("citation_count > 1")["engine"], "pd.Series[str]")
assert_type(engines.sort_values("engine")["citation_count"], "pd.Series[int]")

# What gains other columns is a plain frame, in which any name may be.
merged = engines.merge(tables.main, on="source_domain", how="left")
assert_type(merged, pd.DataFrame)
merged["citation_share"].mean()
engines.join(tables.main.set_index("source_domain"), on="source_domain")["citation_share"].mean()
engines.rename(columns={"engine": "answered_by"})["answered_by"].unique()
engines.set_index("engine").reset_index(names="answered_by")["answered_by"].unique()
engines.pivot(index="source_domain", columns="engine", values="citation_count")["claude"].sum()
engines.melt(id_vars="engine")["value"].count()
engines.add_prefix("its_")["its_engine"].unique()
engines.T["0"].count()
