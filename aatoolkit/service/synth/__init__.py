"""A synthetic store (a folder of tables) of any size. The same seed gives the same bytes.

All data are made up. As in real observations, some are missing. For example, some engines (AI
assistants) never ran, and some days have no answers.

The modules, in reading order: ``world`` has hosts, engines, brands, prompts and pages. ``draw``
generates answers, and the logs of sites, at random.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from aatoolkit.service.schema import TABLES
from aatoolkit.service.store import write_store
from aatoolkit.service.synth.draw import DRAW_FUNCTIONS, Runs, draw_crawlers, draw_visits
from aatoolkit.service.synth.world import AS_OF, HOSTS, ROWS, Tables, make_tables_from_rows

__all__ = ["synthesize", "write_synthetic_store"]

_README_TEMPLATE = """\
# A synthetic store

Nothing in these tables was observed. They were drawn at random with seed {seed} and
{answers} answers, to try the service on; hosts, brands, pages, prices and people in them are
made up, and the names of answer engines and crawlers stand only for themselves. Answers to one
prompt resemble each other: the intra-class correlation of their mentions is {icc}.

The store's clock is at {as_of}.
"""


def synthesize(seed: int = 0, answers: int = 5000, icc: float = 0.3) -> dict[str, pa.Table]:
    """Generate the tables of a synthetic store at random.

    Parameters
    ----------
    seed : int
        The seed of the random numbers.
    answers : int
        The number of answers, including failed answers. Crawler requests and visits grow with it.
    icc : float
        The intra-class correlation of mentions in answers to the same prompt, from 0 to below 1.
        Real observations have about 0.3.

    Returns
    -------
    dict of str to pyarrow.Table
        The tables of the store by name; pass it to `write_store` to write them to a folder.

    Raises
    ------
    ValueError
        If ``answers`` or ``seed`` is negative, or ``icc`` is not from 0 to below 1.
    """
    if answers < 0 or seed < 0:
        raise ValueError("seed and answers cannot be negative")
    if not 0 <= icc < 1:
        raise ValueError(f"icc={icc!r} is not from 0 to below 1")
    table_dicts = list(_draw_host_tables(seed, answers, icc))
    return {
        name: pa.concat_tables(
            [table_by_name[name] for table_by_name in table_dicts if name in table_by_name]
        )
        for name in TABLES
        if any(name in table_by_name for table_by_name in table_dicts)
    }


def write_synthetic_store(
    folder: str | os.PathLike[str], seed: int = 0, answers: int = 5000, icc: float = 0.3
) -> None:
    """Write a synthetic store to a folder, with a README.

    Parameters
    ----------
    folder : str or path
        The folder; it is created if it does not exist.
    seed, answers, icc
        As for `synthesize`.

    Raises
    ------
    ValueError
        If ``answers`` or ``seed`` is negative, or ``icc`` is not from 0 to below 1.
    StoreError
        If the folder has a table of another store.
    """
    write_store(folder, synthesize(seed, answers, icc))
    as_of = AS_OF.strftime("%Y-%m-%dT%H:%M:%SZ")
    readme_text = _README_TEMPLATE.format(seed=seed, answers=answers, icc=icc, as_of=as_of)
    Path(folder, "README.md").write_text(readme_text, encoding="utf-8", newline="\n")


def _draw_host_tables(seed: int, answers: int, icc: float) -> Iterator[Tables]:
    """Yield dicts of randomly generated tables, by name; several dicts for each host."""
    yield make_tables_from_rows("", ROWS[""])
    answer_counts = [int(host_plan.answer_share * answers) for host_plan in HOSTS]
    answer_counts[0] += answers - sum(answer_counts)
    for host_plan, answer_count in zip(HOSTS, answer_counts, strict=True):
        yield draw_crawlers(host_plan, seed, 2 * answer_count)
        yield draw_visits(host_plan, seed, 2 * answer_count)
        yield make_tables_from_rows(host_plan.host, ROWS[host_plan.host])
        if host_plan.run_days:
            runs = Runs(host_plan, seed, answer_count, icc)
            yield from (draw_function(runs) for draw_function in DRAW_FUNCTIONS)
