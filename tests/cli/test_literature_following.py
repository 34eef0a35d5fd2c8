"""What follows literature, typed: the table of retractions, checks, completion, what is new."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from carrel.cli import main
from carrel.rooms.literature.alert_models import GetAlertDigest, RunAlerts, SaveAlert
from carrel.stores.home.inventory import take_inventory
from carrel.stores.sql.literature import SqlLiterature
from carrel.stores.sqlite.driver import SqliteDriver
from tests.rooms.literature.following import write_table
from tests.rooms.literature.news import MovedClock, NewsService, as_user, open_alerts


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CARREL_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("CARREL_NETWORK", "false")
    return tmp_path / "home"


def typed(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    assert main(list(words)) == code
    return capsys.readouterr().out


@pytest.mark.promise("W2")
def test_the_table_is_loaded_and_checked_by_commands(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    typed(capsys, "literature", "retractions", "load", str(tmp_path / "nowhere.csv"), code=2)
    other = tmp_path / "other.csv"
    other.write_text("a,b\n1,2\n", encoding="utf-8")
    typed(capsys, "literature", "retractions", "load", str(other), code=2)
    table = write_table(tmp_path / "rw.csv")
    loaded = typed(capsys, "literature", "retractions", "load", str(table), "--json")
    assert json.loads(loaded)["records"] == 3
    draft = tmp_path / "draft.md"
    draft.write_text("As shown (doi:10.5555/BAD.1) and elsewhere.", encoding="utf-8")
    page = typed(capsys, "literature", "retractions", "check", "draft", str(draft))
    assert "Retracted on 2023-07-12 (notice 10.5555/notice.1: Paper Mill)" in page
    item = '[{"id":"bad","type":"article-journal","title":"Bad","DOI":"10.5555/bad.1"}]'
    assert "Retracted on 2023-07-12" in typed(capsys, "references", "add", item)
    assert "bad: Retracted" in typed(capsys, "references", "list")
    assert main(["references", "cite", "bad"]) == 0
    # Beside the citation, which may be piped on.
    assert "this work was retracted on 2023-07-12" in capsys.readouterr().err
    checked = typed(capsys, "literature", "retractions", "check", "library", "--json")
    assert json.loads(checked)["retracted"] == 1


@pytest.mark.promise("W2")
def test_without_a_network_records_are_queued_by_commands(
    capsys: pytest.CaptureFixture[str],
) -> None:
    item = '[{"id":"a","type":"article-journal","title":"Some","DOI":"10.5555/a"}]'
    typed(capsys, "references", "add", item)
    waiting = json.loads(typed(capsys, "references", "complete", "--json"))
    assert (waiting["waiting"], waiting["proposed"]) == (1, 0)
    assert json.loads(typed(capsys, "papers", "complete", "--json"))["waiting"] == 0
    assert json.loads(typed(capsys, "references", "complete", "--apply", "--json"))["changed"] == 0


def test_the_overview_counts_new_works_of_ones_own_alerts(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert take_inventory(home).new_works == 0
    file = home / "literature" / "literature.db"

    async def find_news(user: str) -> None:
        store = SqlLiterature(SqliteDriver(file, SqlLiterature.schema_steps))
        service = NewsService("pubmed")
        service.add("2026-03-01", "Sleep of one", pmid="1")
        alerts, digests = open_alerts(store, MovedClock(), service)
        if user == "told":
            await digests.write(GetAlertDigest(), as_user("local"))
        else:
            await alerts.save(SaveAlert(query="sleep"), as_user(user))
            await alerts.run(RunAlerts(), as_user(user))
        await store.close()

    asyncio.run(find_news("ada"))
    assert take_inventory(home).new_works == 0
    asyncio.run(find_news("local"))
    assert take_inventory(home).new_works == 1
    asyncio.run(find_news("told"))
    assert take_inventory(home).new_works == 0
