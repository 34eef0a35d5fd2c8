"""A server that is one of several refuses what only its own home would keep, and names it."""

from __future__ import annotations

import json
import urllib.request
from pathlib import Path

import pytest

from tests.cli.served import invoke, serve
from tests.cli.test_cli import carrel

NOTE = {"title": "Ice", "content": "It melts."}
ENTRY = {"input": "@book{n, title={Ice}, author={Noether, Emmy}}"}
KUBERNETES = {"KUBERNETES_SERVICE_HOST": "10.0.0.1", "CARREL_SERVER_HOST": "0.0.0.0"}


@pytest.mark.promise("Q9")
@pytest.mark.promise("Q7")
def test_one_of_several_servers_names_every_room_whose_data_only_its_home_would_keep(
    tmp_path: Path,
) -> None:
    writes: dict[str, dict[str, object]] = {
        "save_knowledge": dict(NOTE),
        "add_references": dict(ENTRY),
        "start_research": {"goal": "Why does ice melt?"},
        "save_alert": {"query": "ice"},
        "add_paper": {},
        "edit_paper": {"action": "remove", "paper_id": "ice"},
    }
    with serve(tmp_path, "local", CARREL_SERVER_REPLICAS="2") as url:
        refused = {name: invoke(url, None, name, **params) for name, params in writes.items()}
        with urllib.request.urlopen(f"{url}/ready", timeout=30) as answer:
            ready = json.load(answer)
    rooms = {name: each["details"].get("room") for name, each in refused.items()}
    assert rooms == {
        "save_knowledge": "knowledge",
        "add_references": "references",
        "start_research": "research",
        "save_alert": "literature",
        "add_paper": "papers",
        "edit_paper": "papers",
    }, refused
    assert {each["error_type"] for each in refused.values()} == {"home_not_persistent"}
    told = refused["save_knowledge"]
    assert "server.replicas" in told["error"] and "Notes" in told["error"]
    (step,) = told["recovery_suggestions"]
    assert "DATABASE_URL" in step and "server.home_is_persistent" in step
    assert ready["checks"]["knowledge"]["note"] == "not_served_home_is_not_persistent"
    left = [each for each in tmp_path.rglob("*") if each.suffix in {".sqlite", ".db", ".json"}]
    assert not left


@pytest.mark.promise("Q9")
def test_a_home_that_is_declared_persistent_is_written_by_one_of_several(tmp_path: Path) -> None:
    declared = {"CARREL_SERVER_REPLICAS": "2", "CARREL_SERVER_HOME_IS_PERSISTENT": "true"}
    with serve(tmp_path, "local", "--rooms", "knowledge", **declared) as url:
        assert invoke(url, None, "save_knowledge", **NOTE)["success"]
    assert (tmp_path / "knowledge.sqlite").exists()


@pytest.mark.promise("Q9")
@pytest.mark.parametrize("mode", ["builtin", "tokens"])
def test_a_pod_does_not_start_where_its_people_would_be_lost(mode: str, tmp_path: Path) -> None:
    names = {"CARREL_AUTH_MODE": mode, "CARREL_SERVER_PUBLIC_URL": "https://desk.example.org"}
    done = carrel(tmp_path, "serve", "--port", "0", **KUBERNETES, **names)
    assert done.returncode == 2
    assert "DATABASE_URL" in done.stderr and "home_is_persistent" in done.stderr


@pytest.mark.promise("Q9")
@pytest.mark.parametrize(
    ("setting", "value"),
    [("CARREL_AUDIT_STORE", "file"), ("CARREL_REFERENCES_LIBRARY", "{home}/mine.json")],
)
def test_a_setting_that_names_a_file_of_a_passing_home_is_refused(
    setting: str, value: str, tmp_path: Path
) -> None:
    named = {setting: value.format(home=tmp_path)}
    done = carrel(tmp_path, "knowledge", "search", "x", CARREL_SERVER_REPLICAS="2", **named)
    assert done.returncode == 2 and "in the home folder" in done.stderr, done.stderr
    assert not (tmp_path / "audit").exists()


@pytest.mark.promise("Q9")
def test_vocabularies_are_not_taken_where_they_would_be_lost(tmp_path: Path) -> None:
    file = tmp_path / "terms.csv"
    file.write_text("term,synonyms\nice,frozen water\n")
    done = carrel(tmp_path, "vocabularies", "add", str(file), CARREL_SERVER_REPLICAS="2")
    assert done.returncode == 5 and "research.vocabulary" in done.stderr
    assert not (tmp_path / "vocabularies").exists()


@pytest.mark.promise("Q9")
def test_notes_in_firestore_need_no_database_beside_them(tmp_path: Path) -> None:
    firestore = {"K_SERVICE": "carrel", "CARREL_KNOWLEDGE_STORE": "firestore"}
    done = carrel(tmp_path, "doctor", "--json", "--rooms", "knowledge", **firestore)
    places = {each["kind"]: each for each in json.loads(done.stdout)["data"]}
    assert places["notes and nodes"] == {
        "kind": "notes and nodes",
        "place": "Firestore",
        "is_safe": True,
    }
    assert not places["research"]["is_safe"]


@pytest.mark.promise("Q9")
def test_the_doctor_says_where_every_kind_of_data_lives(tmp_path: Path) -> None:
    url = "postgresql://carrel@127.0.0.1:1/none"
    done = carrel(tmp_path, "doctor", "--json", DATABASE_URL=url)
    found = {each["kind"]: (each["place"], each["is_safe"]) for each in _data(done.stdout)}
    refused = {"papers", "uploads", "vocabularies"}
    assert {kind for kind, (_, is_safe) in found.items() if not is_safe} == refused
    assert {found[kind][0] for kind in found.keys() - refused} == {"PostgreSQL"}
    alone = carrel(tmp_path, "doctor", "--json")
    assert all(each["is_safe"] for each in _data(alone.stdout))


def _data(report: str) -> list[dict[str, object]]:
    return list(json.loads(report)["data"])
