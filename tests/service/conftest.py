"""A tiny store of synthetic observations, and services over it that answer real HTTP."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pandas as pd
import pytest
import requests

from aatoolkit.service import (
    Accounts,
    SectionAvailability,
    SectionResponse,
    Service,
    ServiceSection,
    Store,
    hash_token,
    start_server,
)

HOST = "acme.example"
OTHER = "globex.example"
TOKEN = "a-token-of-the-tests"
AS_OF = datetime(2026, 11, 20, 23, 30, tzinfo=UTC)

_PROMPTS = (
    ("p1", "best crm", "CRM for startups", "commercial"),
    ("p2", "crm with quotes", "Sales & quotes: 50 %", "commercial"),
    ("p3", "what is a crm", "Größe, früher", None),
    ("p4", "crm", None, None),
)


def tiny_tables(answers: int = 24) -> dict[str, pd.DataFrame]:
    """Tables of two projects; the first has a prompt asked once a day on each engine."""
    return {
        "projects": pd.DataFrame({"host": [HOST, OTHER], "as_of": [AS_OF, AS_OF]}),
        "engines": pd.DataFrame(
            {
                "host": HOST,
                "engine": ["chatgpt", "gemini", "perplexity"],
                "label": ["ChatGPT", "Gemini", None],
                "configured": [True, False, True],
            }
        ),
        "brands": pd.DataFrame(
            {
                "host": HOST,
                "brand": ["Acme CRM", "Globex", "R&D + Söhne"],
                "tracked": [True, True, False],
                "own": pd.array([True, False, None], dtype="boolean"),
            }
        ),
        "own_terms": pd.DataFrame({"host": HOST, "term": ["acme"]}),
        "prompts": pd.DataFrame(
            [(HOST, *prompt) for prompt in _PROMPTS],
            columns=["host", "prompt_id", "prompt", "topic", "category"],
        ),
        "answers": pd.DataFrame(
            {
                "host": HOST,
                "chat_id": [f"c{n:03}" for n in range(answers)],
                "prompt_id": [_PROMPTS[n % 4][0] for n in range(answers)],
                "engine": [("chatgpt", "perplexity")[n % 2] for n in range(answers)],
                "ran_at": [AS_OF - pd.Timedelta(days=n // 2) for n in range(answers)],
                "outcome": ["refused" if n % 7 == 6 else "answered" for n in range(answers)],
            }
        ),
        "mentions": pd.DataFrame(
            {
                "host": HOST,
                "chat_id": ["c000", "c000", "c001", "c002"],
                "brand": ["Acme CRM", "Globex", "Globex", "Acme CRM"],
                "position": [1, 2, 1, 3],
            }
        ),
    }


def count_answers(observations: Any) -> SectionResponse:
    """A section of the tests: how many answers are in scope, and the filters it was given."""
    count = observations.fetch_value("SELECT count(*) AS count FROM answers")
    filters = {name: list(values) for name, values in observations.scope.filters.items()}
    return SectionResponse(
        {"answerCount": count, "given": filters}, SectionAvailability(sample_count=count)
    )


def count_by_engine(observations: Any) -> SectionResponse:
    """A section whose observations carry engines alone, with something to say already."""
    return SectionResponse(
        count_answers(observations).body, SectionAvailability("partial", "Half was lost.")
    )


COUNTING = {
    "nothing": ServiceSection("nothing", count_answers, ()),
    "engines": ServiceSection("engines", count_by_engine, ("engine",)),
    "counts": ServiceSection("counts", count_answers),
}


@dataclass(frozen=True)
class Api:
    """A running service, and requests to it with the token of its account."""

    service: Service
    base_url: str

    def get(self, path: str, host: str = HOST, **more: Any) -> requests.Response:
        """GET below a host, as ``scope-options`` or ``agent-analytics?days=7``."""
        return self.ask("GET", f"/api/domains/{host}/{path}", **more)

    @staticmethod
    def error_of(response: requests.Response) -> dict[str, Any]:
        """The error in a response, after checking what all of them have in common."""
        body = response.json()
        assert list(body) == ["error"]
        assert body["error"]["status"] == response.status_code
        assert response.headers["Content-Type"] == "application/json; charset=utf-8"
        assert response.headers["Cache-Control"] == "no-store"
        assert "Traceback" not in response.text
        assert TOKEN not in response.text
        error: dict[str, Any] = body["error"]
        assert error["message"].count("The parameter") <= 1
        return error

    def ask(
        self,
        method: str,
        path: str,
        headers: Mapping[str, str | None] | None = None,
    ) -> requests.Response:
        """Any request; a header of None is left out."""
        values = {"Authorization": f"Bearer {TOKEN}", **(headers or {})}
        sent = {name: value for name, value in values.items() if value is not None}
        return requests.request(method, self.base_url + path, headers=sent, timeout=20)


@pytest.fixture(scope="session")
def make_tables() -> Callable[..., dict[str, pd.DataFrame]]:
    """Make the tables of the tiny store; ``answers`` is how many there are."""
    return tiny_tables


@pytest.fixture(scope="module")
def tiny_store() -> Iterator[Store]:
    """The tiny store, in memory."""
    store = Store.of(tiny_tables())
    yield store
    store.close()


@pytest.fixture(scope="module")
def make_api(tiny_store: Store) -> Iterator[Callable[..., Api]]:
    """Start services that stop with the module; ``store``, ``accounts``, and Service's own."""
    with ExitStack() as stack:

        def make(store: Store = tiny_store, accounts: Accounts | None = None, **more: Any) -> Api:
            service = Service(store, accounts or Accounts({hash_token(TOKEN): [HOST]}), **more)
            return Api(service, stack.enter_context(start_server(service)).base_url)

        yield make


@pytest.fixture(scope="module")
def api(make_api: Callable[..., Api]) -> Api:
    """The service over the tiny store with all sections; its account sees one project."""
    return make_api()


@pytest.fixture(scope="session")
def counting_sections() -> dict[str, ServiceSection]:
    """Three small sections: all filters, engines alone, no filter."""
    return dict(COUNTING)


@pytest.fixture(scope="module")
def counting(make_api: Callable[..., Api]) -> Api:
    """The service of three small sections over the tiny store."""
    return make_api(sections=COUNTING)
