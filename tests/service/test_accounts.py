"""Who may ask: tokens, accounts and the hosts they see, over real HTTP."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from aatoolkit.service import Accounts, Service, Store, hash_token

HOST, OTHER = "acme.example", "globex.example"
TOKEN = "a-token-of-the-tests"


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        TOKEN,
        "Bearer",
        "Bearer ",
        f"Basic {TOKEN}",
        "Bearer wrong",
        f"Bearer {TOKEN}x",
        f"Bearer {TOKEN} {TOKEN}",
        f"Bearer {hash_token(TOKEN)}",
    ],
)
@pytest.mark.parametrize("path", ["scope-options", "agent-analytics", "agent-analytics?days=8"])
def test_without_a_token_nothing_is_reported(api: Any, path: str, header: str | None) -> None:
    response = api.get(path, headers={"Authorization": header})
    assert response.status_code == 401
    assert response.headers["WWW-Authenticate"] == "Bearer"
    assert api.error_of(response)["code"] == "unauthorized"


def test_a_foreign_host_and_an_unknown_one_look_alike(api: Any) -> None:
    for path in ("scope-options", "agent-analytics?section=nonsense"):
        foreign, unknown = api.get(path, host=OTHER), api.get(path, host="nowhere.example")
        assert foreign.status_code == unknown.status_code == 404
        assert foreign.content == unknown.content
        assert api.error_of(foreign)["code"] == "project_not_found"


@pytest.mark.parametrize("host", ["ACME.example", "acme.example.", "Acme.Example."])
def test_a_host_is_matched_without_case_and_one_trailing_dot(api: Any, host: str) -> None:
    response = api.get("agent-analytics?section=overview", host=host)
    assert response.json()["domain"] == HOST


@pytest.mark.parametrize(
    "host",
    [
        "acme.example..",
        ".acme.example",
        "acme.example:443",
        "www.acme.example",
        "acme.example%20",
        "https:%2F%2Facme.example",
        "acme.example%2F",
        "%E2%84%AAacme.example",
        "acme%00.example",
    ],
)
def test_anything_else_in_a_host_is_not_found(api: Any, host: str) -> None:
    assert api.error_of(api.get("scope-options", host=host))["status"] == 404


def test_an_account_sees_its_own_hosts(make_api: Any, tmp_path: Path) -> None:
    path = tmp_path / "accounts.json"
    entries = [
        {"token_sha256": hash_token("one"), "hosts": ["GLOBEX.example."]},
        {"token_sha256": hash_token("two"), "hosts": "*"},
        {"token_sha256": hash_token("three"), "hosts": []},
    ]
    path.write_text(json.dumps({"accounts": entries}))
    api = make_api(accounts=Accounts.load(path))
    seen = {
        token: [
            host
            for host in (HOST, OTHER)
            if api.get("scope-options", host, headers={"Authorization": f"Bearer {token}"}).ok
        ]
        for token in ("one", "two", "three")
    }
    assert seen == {"one": [OTHER], "two": [HOST, OTHER], "three": []}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"accounts": []}',
        '{"accounts": [{"token": "in-the-clear", "hosts": "*"}]}',
        '{"accounts": [{"token_sha256": "in-the-clear", "hosts": "*"}]}',
        '{"accounts": [{"token_sha256": 1, "hosts": "*"}]}',
        f'{{"accounts": [{{"token_sha256": "{hash_token("a")}", "hosts": "acme.example"}}]}}',
        f'{{"accounts": [{{"token_sha256": "{hash_token("a")}", "hosts": [1]}}]}}',
        f'{{"accounts": [{{"token_sha256": "{hash_token("a")}"}}]}}',
        "in-the-clear",
    ],
)
def test_accounts_that_are_none_are_refused_and_not_repeated(tmp_path: Path, text: str) -> None:
    path = tmp_path / "accounts.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"account|token_sha256") as caught:
        Accounts.load(path)
    assert "in-the-clear" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


@pytest.mark.parametrize("token", ["", "two words", "line\nend", "schlüssel"])
def test_a_token_that_no_header_carries_is_refused(token: str) -> None:
    with pytest.raises(ValueError, match="printable ASCII"):
        Accounts.single(token)


def test_no_repr_shows_a_token(tiny_store: Store) -> None:
    accounts = Accounts.single(TOKEN)
    text = repr([accounts, Service(tiny_store, accounts)])
    assert TOKEN not in text
    assert hash_token(TOKEN) not in text
