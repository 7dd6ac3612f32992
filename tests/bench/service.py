"""What the reference service costs, by size of the store.

Run by hand, from the repository::

    python tests/bench/service.py
    python tests/bench/service.py --answers 5000 --turns 2

It writes one synthetic store of each size, opens it, and asks for each section of scopes that
were not asked of before (all engines but some). Times are processor time of this process, which
holds the service and its one client. To be kept: a section within 60 ms at 5,000 answers and 1 s
at 200,000; a start within 1 s.
"""

from __future__ import annotations

import itertools
import tempfile
import time
from pathlib import Path
from statistics import median

import figures
import requests

from aatoolkit import service

TOKEN = "token-of-the-bench"
API = "/api/domains/acme.example"


def measure(folder: Path, answers: int, turns: int, result: figures.Figures) -> None:
    start = time.process_time()
    store = service.Store.open(folder)
    accounts = service.Accounts.single(TOKEN)
    with (
        service.start_server(service.Service(store, accounts)) as server,
        requests.Session() as web,
    ):
        web.headers["Authorization"] = f"Bearer {TOKEN}"

        def get(path: str, **query: object) -> requests.Response:
            response = web.get(server.base_url + API + path, params=query, timeout=60)
            response.raise_for_status()
            return response

        options = get("/scope-options").json()
        times = {"start": [time.process_time() - start]}
        engines = [entry["id"] for entry in options["engines"]]
        scopes = itertools.combinations(engines, len(engines) - 2)
        sections = get("/agent-analytics", days=7).json()["sections"]
        for scope, section in itertools.product([*scopes][:turns], sections):
            start = time.process_time()
            get("/agent-analytics", section=section, days=30, engine=",".join(scope))
            times.setdefault(section, []).append(time.process_time() - start)
    store.close()
    print(f"{answers:,} answers: milliseconds of processor time")
    for name, seconds in times.items():
        print(f"  {name:16}{median(seconds) * 1e3:9.1f}")
        what = "start" if name == "start" else "a section"
        result.add(what, median(seconds), "s", section=name, answers=answers)


def main() -> None:
    """Write the stores, serve them, print the tables."""
    parser = figures.parser(__doc__)
    add = parser.add_argument
    add("--answers", type=int, nargs="+", default=[5000, 200_000], metavar="N", help="store sizes")
    add("--turns", type=int, default=5, help="scopes (default: %(default)s)")
    options = parser.parse_args()
    result = figures.Figures("service")
    for answers in options.answers:
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place, "store")
            service.write_synthetic_store(folder, answers=answers)
            measure(folder, answers, options.turns, result)
    result.write(options.json)


if __name__ == "__main__":
    main()
