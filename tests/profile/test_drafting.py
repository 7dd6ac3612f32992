"""First contact from end to end: draft, review, settle, save, read, check."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from effort import one_in
from foreign import draft_of
from services.world import SECTIONS, SERVICES, options

import aatoolkit as aa
from aatoolkit.errors import ArgumentError, PayloadError
from aatoolkit.jsontree.paths import format_path, parse_path
from aatoolkit.sections import Profile


class Service:
    """A made-up service behind the scripted server; ``change`` alters its answers."""

    def __init__(self, name: str, reply: Any) -> None:
        self.reply = reply
        self.answer = SERVICES[name]
        self.change: Any = lambda section, body: body

    def __call__(self, request: Any) -> Any:
        if request.path.partition("?")[0].endswith("/scope-options"):
            return self.reply(options())
        section = request.params.get("section")
        engines = [name for name in request.params.get("engine", "").split(",") if name]
        if section is None:
            return self.reply({"error": {"code": "NO_COMBINED_VIEW"}}, status=404)
        if section not in SECTIONS:
            return self.reply({"error": {"code": "NOT_HERE"}}, status=404)
        return self.reply(self.change(section, self.answer(section, engines)))


@pytest.fixture(params=one_in(len(SERVICES), SERVICES))
def service(request: pytest.FixtureRequest, reply: Any) -> Service:
    return Service(request.param, reply)


@pytest.fixture
def project(service: Service, scripted: Any) -> Iterator[aa.Project]:
    scripted.script = service
    with aa.Client(scripted.url, token="t", cache=False) as client:
        yield client.project("shop.example")


@pytest.fixture
def draft(project: aa.Project) -> aa.profile.Draft:
    return aa.profile.draft(project, sections=SECTIONS, progress=False)


def reader(project: aa.Project, profile: Any) -> aa.Project:
    client = aa.Client(project.client.base_url, token="t", cache=False, profile=profile)
    return client.project(project.host)


def test_a_draft_stays_within_its_budget_and_lists_what_it_requested(project, scripted):
    draft = aa.profile.draft(project, sections=SECTIONS, requests=9, progress=False)
    assert len(scripted.requests) == len(draft.requests) <= 9
    # Nothing undocumented is ever asked.
    assert {name for request in scripted.requests for name in request.params} <= {
        "section",
        "days",
        "engine",
    }


def test_what_cannot_be_read_is_stated_and_the_rest_is_drafted(project):
    draft = aa.profile.draft(project, sections=[*SECTIONS, "ads"], progress=False)
    assert set(draft) == set(SECTIONS)
    assert {"ads", "combined"} <= set(draft.errors)
    assert "ads" in repr(draft)


def test_the_review_has_one_row_a_column(draft):
    review = draft["prompts"].review
    assert list(review.columns) == [
        "path",
        "dtype",
        "unit",
        "rule",
        "meaning",
        "confidence",
        "evidence",
        "example",
    ]
    assert set(review["confidence"]) <= {"proved", "likely", "open"}
    assert len(review) == len(list(draft["prompts"].columns()))
    printed = repr(review)
    assert "..." not in printed
    assert all(name in printed for name in ("dtype", "unit", "rule", "confidence", "evidence"))


def test_a_saved_profile_reads_every_answer_whole(draft, project, tmp_path):
    path = draft.save(tmp_path / "shop_service.py")
    for section in SECTIONS:
        tables = reader(project, path).read(section)
        assert len(tables.main), section
        assert tables.rebuild() == project.fetch(section).json


def test_a_settled_column_is_aggregated_and_survives_saving(draft, project, tmp_path):
    section = draft["prompts"]
    count = next(column for column in section.columns() if column.name in ("runs", "run_count"))
    section.set(count.name, table=count.table, aggregate="sum", name="run_total")
    saved = draft.save(tmp_path / "shop_service.py")
    frame = reader(project, saved).read("prompts").main
    total = frame.aa.aggregate(by="topic", columns="run_total")
    assert int(total["run_total"].sum()) == int(frame["run_total"].sum())


def test_a_rule_that_needs_a_column_which_is_not_there_is_refused(draft):
    section = draft["prompts"]
    name = next(column.name for column in section.columns() if column.name in ("runs", "run_count"))
    before = draft["prompts"].review
    with pytest.raises(ArgumentError, match="nonsense"):
        section.set(name, aggregate=aa.sections.ratio(name, "nonsense"), table=section.tables[0])
    assert draft["prompts"].review.equals(before)
    with pytest.raises(ArgumentError, match="no column"):
        section.set("nowhere", unit="count")


def test_a_sum_over_what_is_not_known_to_add_is_refused(scripted, reply, tmp_path):
    scripted.script = Service("nested", reply)
    with aa.Client(scripted.url, token="t", cache=False) as client:
        project = client.project("shop.example")
        saved = aa.profile.draft(project, sections=["domains"], progress=False).save(
            tmp_path / "shop.py"
        )
        frame = reader(project, saved).read("domains").main
    assert len(frame.aa.aggregate(by="domain", columns="answer_count")) == len(frame)
    with pytest.raises(aa.errors.AvailabilityError, match="adds over engine"):
        frame.aa.aggregate(by=[], columns="answer_count")
    assert int(
        frame.aa.aggregate(by=[], columns="citation_count")["citation_count"].iloc[0]
    ) == int(frame["citation_count"].sum())


def test_a_response_that_was_drafted_from_differs_in_nothing(tmp_path):
    rows = [
        {"page": "/a", "last": "2026-11-01", "why": "late"},
        {"page": "/b", "last": "2026-11-02"},
    ]
    full = {"meta": {"source": "log", "size": 2}, "rows": rows}
    silent = {"reason": "no log", "rows": [{"page": "/c", "last": ""}]}
    hosts = {"b.example": silent, "c.example": {"error": "no run"}, "d.example": "maintenance"}
    others = {host: {"visits": response} for host, response in hosts.items()}
    draft = draft_of({"visits": full}, by_host=others)
    visits = Profile.load(draft.save(tmp_path / "visits.py"))["visits"]
    drift = [aa.normalize(visits, response).drift for response in (full, silent)]
    assert not len(aa.concat(drift)), "an absent field, a new one and an empty text are known"
    assert "rows" not in visits.optional
    with pytest.warns(aa.errors.SchemaDriftWarning, match="absent @ .*page"):
        aa.normalize(visits, {"rows": [{"last": "2026-11-01"}]})


def test_nothing_changed_is_nothing_reported(draft, project, tmp_path):
    path = draft.save(tmp_path / "shop_service.py")
    assert aa.profile.check(path, project).empty


@pytest.mark.thorough
def test_a_changed_service_is_noticed(draft, project, service, tmp_path):
    profile = Profile.load(draft.save(tmp_path / "shop_service.py"))

    def renamed(section: str, body: Any) -> Any:
        text = json.dumps(body).replace('"Runs"', '"Attempts"').replace("runCount", "attempts")
        return json.loads(text)

    service.change = renamed
    changes = aa.profile.check(profile, project)
    assert set(changes["section"]) == {"prompts"}
    assert {"unclaimed", "absent"} & set(changes["change"]) or len(changes) >= 2


def test_an_empty_project_is_drafted_without_a_claim(scripted, reply):
    def empty(request: Any) -> Any:
        if request.path.partition("?")[0].endswith("/scope-options"):
            return reply({"engines": [], "topics": [], "categories": [], "brands": []})
        return reply({"rows": [], "meta": {"state": "NO_RUNS"}})

    scripted.script = empty
    with aa.Client(scripted.url, token="t", cache=False) as client:
        draft = aa.profile.draft(client.project("shop.example"), sections=SECTIONS, progress=False)
    assert len(draft.requests) == 2 + len(SECTIONS)
    for section in draft.values():
        assert not any(section.counts().values())


def test_a_section_whose_draft_fails_is_an_error_of_that_section(draft, project, monkeypatch):
    from aatoolkit.profile import drafting

    real = drafting.analyse_section

    def failing(section: str, *rest: Any) -> Any:
        if section == "crawl":
            raise ZeroDivisionError("a fault of ours")
        return real(section, *rest)

    monkeypatch.setattr(drafting, "analyse_section", failing)
    result = aa.profile.draft(project, sections=SECTIONS, progress=False)
    assert set(result) == set(SECTIONS) - {"crawl"}
    assert isinstance(result.errors["crawl"], PayloadError)
    assert "a fault of ours" in str(result.errors["crawl"])


def test_names_from_the_service_steer_nothing_in_the_file_that_a_person_runs(tmp_path):
    odd = {"rows": [{"<script>x</script>": n, "id": f"<b>{n}</b>"} for n in range(6)]}
    odd_file = draft_of({"ads": odd}).save(tmp_path / "odd.py")
    assert Profile.load(odd_file).names == ("ads",)


@pytest.mark.thorough
def test_the_command_line_drafts_shows_and_checks(project, scripted, tmp_path, monkeypatch, capsys):
    from aatoolkit.cli import main

    token = tmp_path / "token"
    token.write_text("t")
    connection = ["--base-url", scripted.url, "--token-file", str(token), "--no-cache"]
    out: Path = tmp_path / "shop_service.py"
    # Sections that this service does not have make the exit code 1, and the file is written.
    options = tmp_path / "options.py"
    options.write_text(
        "from aatoolkit.sections import *\nX = scope_options(topic='topics[].topic')"
    )
    draft = ["profile", "draft", "shop.example", "-o", str(out), "--profile", str(options)]
    assert main([*draft, *connection]) == 1
    assert "SCOPE_OPTIONS = scope_options(" in out.read_text()
    assert main([*draft, "--section", "prompts", *connection]) == 0
    assert "crawl" not in out.read_text()
    assert "prompts" in capsys.readouterr().out
    assert main(["profile", "types", str(out)]) == 0
    assert "One row per" in capsys.readouterr().out
    assert main(["profile", "check", "shop.example", "--profile", str(out), *connection]) == 0
    assert "nothing changed" in capsys.readouterr().err


def test_tables_in_a_list_of_one_are_saved_and_read(tmp_path: Path):
    def answer(*rows: list[Any]) -> dict[str, Any]:
        columns = [{"key": "site"}, {"key": "visits"}]
        return {"crawl": {"tables": [{"id": "sites", "columns": columns, "rows": [*rows]}]}}

    more = answer(["c.example", 5], ["a.example", 2])
    draft = draft_of(
        answer(["a.example", 3], ["b.example", 4]), {}, options(), by_host={"b.example": more}
    )
    section = Profile.load(draft.save(tmp_path / "service.py"))["crawl"]
    table = aa.normalize(section, more["crawl"]).main
    assert table[["site", "visits"]].to_numpy().tolist() == [["c.example", 5], ["a.example", 2]]


def test_what_sections_repeat_is_declared_once(tmp_path: Path):
    meta = {
        "project": "a",
        "host": "a.example",
        "from": "2026-11-01",
        "complete": True,
        "version": 3,
    }
    answers = {
        name: {
            "meta": meta,
            "7d": meta,
            "profile": meta,
            name: [{"site": "a.example", "hits": 3}, {"site": "b.example", "hits": 4}],
        }
        for name in ("domains", "urls", "gaps")
    }
    path = draft_of(answers, {}, options()).save(tmp_path / "service.py")
    assert path.read_text().count("meta.project") == 1
    profile = Profile.load(path)
    for name, answer in answers.items():
        tables = aa.normalize(profile[name], answer)
        assert tables.rebuild() == answer
        assert {"meta_host", "meta_version"} <= {*tables[f"{name}_facts"].columns}


def test_a_renamed_key_of_a_map_is_read_from_the_file_as_in_the_draft(tmp_path: Path):
    answer = {
        "perception": [
            {
                "brand": brand,
                "byEngineReason": {"atlas": "not asked", "borealis": f"new in {brand}"},
            }
            for brand in ("Acme", "Globex", "Initech")
        ]
    }
    draft = draft_of({"perception": answer}, {}, options())
    section = Profile.load(draft.save(tmp_path / "service.py"))["perception"]
    for declared in (draft["perception"].section, section):
        table = aa.normalize(declared, answer)["perception_by_engine_reason"]
        assert table["engine"].tolist() == ["atlas", "borealis"] * 3


def test_what_may_be_absent_has_a_path_that_can_be_read():
    def answer(*names: str) -> dict[str, Any]:
        columns = [{"key": name} for name in names]
        return {"tables": [{"id": "a", "columns": columns, "rows": [[*range(len(names))]] * 2}]}

    sites = answer("site", "odd.name", "hits")
    sites["tables"].append({"id": "b", "columns": [{"key": "site"}], "rows": [[5]]})
    draft = draft_of({"domains": sites}, {}, options())
    paths = draft["domains"].section.optional
    assert paths
    assert [format_path(parse_path(path)) for path in paths] == [*paths]
