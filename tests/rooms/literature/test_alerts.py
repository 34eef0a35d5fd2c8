"""Alerts lose nothing and tell nothing twice, whatever fails and whoever runs them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from datetime import timedelta
from pathlib import Path
from xml.etree import ElementTree

import pytest

from carrel.core.errors import ConflictError, InvalidInputError, NotFoundError
from carrel.rooms.literature import alert_search
from carrel.rooms.literature.alert_models import (
    GetAlertDigest,
    ListAlerts,
    ListAlertWorks,
    OneAlert,
    RunAlerts,
    SaveAlert,
)
from carrel.rooms.literature.alert_ports import lease_of
from carrel.rooms.literature.errors import NetworkForbiddenError
from carrel.settings import Settings
from carrel.stores.sql.literature import SqlLiterature
from carrel.stores.sqlite.driver import SqliteDriver
from carrel.wiring.desk import open_desk
from tests.rooms.literature.news import MovedClock, NewsService, as_user, open_alerts
from tests.rooms.literature.outside import SERVICES, Outside
from tests.rooms.references.desk import Reader
from tests.services.literature.recorded import needs_recordings

ADA, BOB = as_user("ada"), as_user("bob")
Play = Callable[[Awaitable[None]], None]


@pytest.fixture(params=["sqlite", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> SqlLiterature:
    steps = SqlLiterature.schema_steps
    if request.param == "sqlite":
        return SqlLiterature(SqliteDriver(tmp_path / "literature.db", steps))
    pytest.importorskip("psycopg", reason="the extra `postgres` is not installed")
    pytest.importorskip("psycopg_pool", reason="the extra `postgres` is not installed")
    from carrel.stores.postgres.database import PostgresDatabase

    url = request.getfixturevalue("postgres_url")
    return SqlLiterature(PostgresDatabase(url, "literature", steps))


@pytest.fixture
def play(store: SqlLiterature) -> Iterator[Play]:
    async def whole(scene: Awaitable[None]) -> None:
        try:
            await scene
        finally:
            await store.close()

    yield lambda scene: asyncio.run(whole(scene))


@pytest.mark.promise("W2")
def test_what_cannot_be_an_alert_is_refused(store: SqlLiterature, play: Play) -> None:
    async def scene() -> None:
        alerts, _ = open_alerts(store, MovedClock(), NewsService("crossref"))
        with pytest.raises(InvalidInputError):
            await alerts.save(SaveAlert(query="sleep", services=["nobody"]), ADA)
        with pytest.raises(InvalidInputError):
            await alerts.save(SaveAlert(query="  ?  "), ADA)
        await alerts.save(SaveAlert(query="sleep", name="s"), ADA)
        with pytest.raises(ConflictError):
            await alerts.save(SaveAlert(query="dreams", name="s"), ADA)
        with pytest.raises(NotFoundError):
            await alerts.run(RunAlerts(name="other"), ADA)
        forbidden, _ = open_alerts(store, MovedClock(), NewsService("crossref"), network=False)
        with pytest.raises(NetworkForbiddenError):
            await forbidden.run(RunAlerts(), ADA)

    play(scene())


@pytest.mark.promise("W2")
def test_what_is_no_day_is_told_with_the_form_of_one() -> None:
    with pytest.raises(ValueError, match="'tomorrow' is no day; write it as 2026-01-31"):
        SaveAlert(query="sleep", since="tomorrow")


def test_nobody_sees_runs_or_removes_the_alerts_of_another(
    store: SqlLiterature, play: Play
) -> None:
    async def scene() -> None:
        service = NewsService("crossref")
        alerts, digests = open_alerts(store, MovedClock(), service)
        saved = await alerts.save(SaveAlert(query="sleep"), ADA)
        service.add("2026-03-01", "Sleep of whales", doi="10.1/a")
        await alerts.run(RunAlerts(), ADA)
        assert (await alerts.list_own(ListAlerts(), BOB)).alerts == []
        assert (await alerts.run(RunAlerts(), BOB)).runs == []
        for name in (saved.id, saved.name):
            with pytest.raises(NotFoundError):
                await alerts.remove(OneAlert(name=name), BOB)
            with pytest.raises(NotFoundError):
                await digests.write(GetAlertDigest(name=name), BOB)
        assert (await digests.write(GetAlertDigest(days=9), BOB)).body == "Nothing new.\n"
        assert "Sleep of whales" in (await digests.write(GetAlertDigest(), ADA)).body

    play(scene())


@pytest.mark.promise("W2")
def test_a_failed_service_keeps_its_mark_and_is_asked_for_all_it_missed(
    store: SqlLiterature, play: Play
) -> None:
    async def scene() -> None:
        clock, one, other = MovedClock(), NewsService("crossref"), NewsService("pubmed")
        alerts, _ = open_alerts(store, clock, one, other)
        await alerts.save(SaveAlert(query="sleep"), ADA)
        found = []
        for step, on in enumerate(["2026-03-02", "2026-03-09", "2026-03-16", "2026-03-23"]):
            clock.go_to(on)
            one.add(on, f"Sleep of whales in year {step}", doi=f"10.1/{step}")
            other.add(on, f"Dreams in sleep of seals {step}", pmid=f"{step + 1}")
            # They fail in turn, then both answer.
            one.failure = "down" if step % 2 == 0 and step < 3 else ""
            other.failure = "down" if step % 2 == 1 and step < 3 else ""
            run = (await alerts.run(RunAlerts(), ADA)).runs[0]
            found.append(run.new)
            for mark in run.marks:
                service = one if mark.service == "crossref" else other
                assert (mark.complete_until == on) == (not service.failure)
                assert bool(mark.reason) == bool(service.failure)
        assert sum(found) == 8
        assert one.asked[-1].since is not None

    play(scene())


@pytest.mark.promise("W2")
def test_one_work_of_several_services_runs_and_versions_is_told_once(
    store: SqlLiterature, play: Play
) -> None:
    async def scene() -> None:
        clock, one, other = MovedClock(), NewsService("crossref"), NewsService("arxiv")
        alerts, digests = open_alerts(store, clock, one, other)
        await alerts.save(SaveAlert(query="sleep", name="s"), ADA)
        title = "Sleep spindles of whales and of other large sea mammals"
        clock.go_to("2026-03-02")
        other.add("2026-03-02", title, arxiv="2603.00001")
        assert (await alerts.run(RunAlerts(), ADA)).new == 1
        assert (await alerts.run(RunAlerts(), ADA)).new == 0
        clock.go_to("2026-03-03")
        # As an article with a DOI, by another service, then once more with its PubMed number.
        one.add("2026-03-03", title, doi="10.1/a")
        assert (await alerts.run(RunAlerts(), ADA)).new == 0
        clock.go_to("2026-03-20")
        one.add("2026-03-19", title, doi="10.1/a", pmid="9")
        other.add("2026-03-20", "Sleep of others", arxiv="2603.00002")
        assert (await alerts.run(RunAlerts(), ADA)).new == 1
        told = (await digests.write(GetAlertDigest(), ADA)).body
        assert told.count("- [") == 2
        assert (await digests.write(GetAlertDigest(), ADA)).body == "Nothing new.\n"
        assert (await digests.write(GetAlertDigest(days=30), ADA)).body.count("- [") == 2

    play(scene())


@pytest.mark.promise("W2")
def test_what_was_there_before_the_alert_is_no_news_but_what_comes_late_is(
    store: SqlLiterature, play: Play
) -> None:
    async def scene() -> None:
        clock, service = MovedClock(), NewsService("openalex")
        service.add("2026-02-20", "Sleep of old", doi="10.1/old")
        alerts, digests = open_alerts(store, clock, service)
        await alerts.save(SaveAlert(query="sleep"), ADA)
        clock.go_to("2026-03-03")
        service.add("2026-03-02", "Sleep of new", doi="10.1/new")
        run = (await alerts.run(RunAlerts(), ADA)).runs[0]
        assert run.titles == ["Sleep of new"]
        clock.go_to("2026-03-10")
        # Published before the last run, and known to the service only now.
        service.add("2026-02-25", "Sleep of late", doi="10.1/late")
        assert (await alerts.run(RunAlerts(), ADA)).runs[0].titles == ["Sleep of late"]
        body = (await digests.write(GetAlertDigest(), ADA)).body
        assert "old" not in body
        assert body.count("- [") == 2

    play(scene())


def test_a_busy_day_before_the_alert_does_not_hold_it_up(
    store: SqlLiterature, play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(alert_search, "DAY_LIMIT", 5)
    monkeypatch.setattr(alert_search, "SLICE_LIMIT", 5)

    async def scene() -> None:
        service = NewsService("pubmed")
        for number in range(30):
            service.add("2026-02-28", f"Sleep number {number}", pmid=str(number + 1))
        service.add("2026-03-01", "Sleep of new", pmid="99")
        alerts, _ = open_alerts(store, MovedClock(), service)
        await alerts.save(SaveAlert(query="sleep"), ADA)
        run = (await alerts.run(RunAlerts(), ADA)).runs[0]
        assert (run.state, run.titles) == ("complete", ["Sleep of new"])

    play(scene())


@pytest.mark.promise("W2")
def test_an_answer_that_was_cut_moves_the_mark_only_as_far_as_it_was_complete(
    store: SqlLiterature, play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(alert_search, "SLICE_LIMIT", 10)
    monkeypatch.setattr(alert_search, "DAY_LIMIT", 25)

    async def scene() -> None:
        clock, service = MovedClock(), NewsService("pubmed")
        alerts, _ = open_alerts(store, clock, service)
        await alerts.save(SaveAlert(query="sleep"), ADA)
        for number in range(60):
            on = f"2026-03-{2 + number % 20:02d}"
            service.add(on, f"Sleep number {number}", pmid=str(number + 1))
        clock.go_to("2026-03-25")
        run = (await alerts.run(RunAlerts(), ADA)).runs[0]
        assert (run.state, run.new) == ("complete", 60)
        assert run.marks[0].complete_until == "2026-03-25"
        # A day with more than can be had keeps the mark at the day before.
        clock.go_to("2026-04-05")
        for number in range(100, 130):
            service.add("2026-04-02", f"Sleep number {number}", pmid=str(number + 1))
        service.add("2026-04-04", "Sleep of after", pmid="999")
        run = (await alerts.run(RunAlerts(), ADA)).runs[0]
        assert run.marks[0].failure == "too_many"
        assert run.marks[0].complete_until == "2026-04-01"
        assert run.new == 25
        del service.news[-11:-1]
        run = (await alerts.run(RunAlerts(), ADA)).runs[0]
        assert (run.state, run.marks[0].complete_until) == ("complete", "2026-04-05")
        assert "Sleep of after" in run.titles

    play(scene())


@pytest.mark.promise("W2")
def test_a_long_time_goes_on_in_the_next_run(
    store: SqlLiterature, play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(alert_search, "SLICE_LIMIT", 2)
    monkeypatch.setattr(alert_search, "MAX_SLICES", 6)

    async def scene() -> None:
        clock, service = MovedClock(), NewsService("pubmed")
        alerts, _ = open_alerts(store, clock, service)
        await alerts.save(SaveAlert(query="sleep", since="2026-01-01"), ADA)
        for number in range(1, 29):
            service.add(f"2026-02-{number:02d}", f"Sleep number {number}", pmid=str(number))
        marks, new = [], 0
        for _ in range(30):
            run = (await alerts.run(RunAlerts(), ADA)).runs[0]
            marks.append(run.marks[0].complete_until)
            new += run.new
            if run.state == "complete":
                break
        assert marks == sorted(marks)
        assert marks[-1] == "2026-03-01"
        assert new == 28
        assert len(marks) > 2

    play(scene())


def test_a_service_that_ranks_any_of_the_words_is_complete_when_the_words_end(
    store: SqlLiterature, play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(alert_search, "SLICE_LIMIT", 80)

    async def scene() -> None:
        clock = MovedClock()
        service = NewsService("crossref", not_expressed=("all of the words together",))
        alerts, _ = open_alerts(store, clock, service)
        await alerts.save(SaveAlert(query="sleep spindles"), ADA)
        clock.go_to("2026-03-02")
        service.add("2026-03-02", "Sleep spindles of whales", doi="10.1/a")
        for number in range(500):
            service.add("2026-03-02", f"Sleep apnoea, case {number}", doi=f"10.1/x{number}")
        run = (await alerts.run(RunAlerts(), ADA)).runs[0]
        assert (run.state, run.titles) == ("complete", ["Sleep spindles of whales"])

    play(scene())


@pytest.mark.promise("W2")
def test_two_runners_at_once_tell_each_work_once(store: SqlLiterature, play: Play) -> None:
    async def scene() -> None:
        clock, service = MovedClock(), NewsService("pubmed")
        several = [open_alerts(store, clock, service)[0] for _ in range(4)]
        await several[0].save(SaveAlert(query="sleep"), ADA)
        for number in range(20):
            service.add("2026-03-01", f"Sleep number {number}", pmid=str(number + 1))
        runs = await asyncio.gather(*(each.run(RunAlerts(), ADA) for each in several))
        assert sum(each.new for each in runs) == 20
        states = sorted(each.runs[0].state for each in runs)
        assert states[0] == "complete"
        timers = await asyncio.gather(*(each.run_due(timedelta(hours=1)) for each in several))
        assert all(run.new == 0 for runs in timers for run in runs)
        clock.wait(hours=2)
        service.add("2026-03-01", "Sleep of more", pmid="99")
        timers = await asyncio.gather(*(each.run_due(timedelta(hours=1)) for each in several))
        done = [run for runs in timers for run in runs if run.state == "complete"]
        assert [run.new for run in done] == [1]

    play(scene())


@pytest.mark.promise("W2")
def test_whoever_lost_the_lease_keeps_nothing(store: SqlLiterature, play: Play) -> None:
    async def scene() -> None:
        clock = MovedClock()

        class Slow(NewsService):
            """While it is asked, another process takes the alert over."""

            async def search(self, request):  # type: ignore[no-untyped-def]
                found = await super().search(request)
                driver = store.leases._driver
                await driver.run(("UPDATE literature_leases SET worker = 'other'", {}))
                return found

        service = Slow("pubmed")
        alerts, _ = open_alerts(store, clock, service)
        saved = await alerts.save(SaveAlert(query="sleep"), ADA)
        service.add("2026-03-01", "Sleep of one", pmid="1")
        assert (await alerts.run(RunAlerts(), ADA)).runs[0].state == "skipped"
        assert await store.alerts.count_untold(saved.id) == 0
        assert await store.alerts.marks(saved.id) == []
        await store.leases.release(lease_of(saved.id), "other")
        calm, _ = open_alerts(store, clock, NewsService("pubmed", service.news))
        assert (await calm.run(RunAlerts(), ADA)).new == 1

    play(scene())


def test_the_feed_is_valid_escaped_and_keeps_its_ids(store: SqlLiterature, play: Play) -> None:
    async def scene() -> None:
        clock, service = MovedClock(), NewsService("pubmed")
        alerts, digests = open_alerts(store, clock, service)
        await alerts.save(SaveAlert(query="sleep", name="a & <b>"), ADA)
        service.add("2026-03-01", "Sleep <i>in</i> A&B ]]> \x0b <script>x</script>", pmid="1")
        await alerts.run(RunAlerts(), ADA)
        first = await digests.write(GetAlertDigest(format="atom", days=30), ADA)
        assert first.media_type == "application/atom+xml"
        space = {"a": "http://www.w3.org/2005/Atom"}
        feed = ElementTree.fromstring(first.body)
        ids = [each.text for each in feed.findall("a:entry/a:id", space)]
        assert len(ids) == 1
        for name in ("id", "title", "updated"):
            assert feed.find(f"a:{name}", space) is not None
            assert feed.find(f"a:entry/a:{name}", space) is not None
        title = feed.findtext("a:entry/a:title", "", space)
        assert title == "Sleep in A&B ]]> <script>x</script>"
        clock.wait(days=1)
        service.add("2026-03-02", "Sleep of two", pmid="2")
        await alerts.run(RunAlerts(), ADA)
        second = ElementTree.fromstring(
            (await digests.write(GetAlertDigest(format="atom", days=30), ADA)).body
        )
        later = [each.text for each in second.findall("a:entry/a:id", space)]
        assert later[1:] == ids
        assert second.findtext("a:id", "", space) == feed.findtext("a:id", "", space)
        markdown = (await digests.write(GetAlertDigest(), ADA)).body
        assert "<script>" not in markdown.replace("\\<", "")

    play(scene())


@needs_recordings
@pytest.mark.promise("W2")
def test_every_usual_service_answers_in_its_own_format(tmp_path: Path) -> None:
    async def scene(settings: Settings) -> None:
        async with open_desk(settings).session() as desk:
            reader = Reader(desk)
            await reader.ask("save_alert", query="cancer")
            run = (await reader.ask("run_alerts"))["runs"][0]
            marks = {mark["service"]: mark.get("failure", "") for mark in run["marks"]}
            assert set(marks) == set(SERVICES)
            # The recorded search of Europe PMC says that it has more than it gives.
            assert set(marks.values()) <= {"", "too_many"}
            assert marks["crossref"] == marks["openalex"] == marks["pubmed"] == ""

    with Outside() as outside:
        asyncio.run(scene(outside.settings(tmp_path / "home")))


def test_works_are_listed_again_and_again_and_only_to_their_owner(
    store: SqlLiterature, play: Play
) -> None:
    async def scene() -> None:
        clock, service = MovedClock(), NewsService("crossref")
        alerts, digests = open_alerts(store, clock, service)
        await alerts.save(SaveAlert(query="sleep", name="s"), ADA)
        with pytest.raises(NotFoundError):
            await digests.list_works(ListAlertWorks(name="s"), BOB)
        service.add("2026-03-02", "On sleep", doi="10.5555/sleep")
        service.add("2026-03-02", "On dreams", doi="10.5555/dreams")
        clock.go_to("2026-03-03")
        await alerts.run(RunAlerts(), ADA)
        for _ in range(2):
            listed = await digests.list_works(ListAlertWorks(), ADA)
            assert {each.work.title for each in listed.works} == {"On sleep", "On dreams"}
            assert all(each.is_new and each.alert == "s" for each in listed.works)
        cut = await digests.list_works(ListAlertWorks(limit=1), ADA)
        assert (len(cut.works), cut.left_out) == (1, True)
        assert (await digests.list_works(ListAlertWorks(), BOB)).works == []
        await digests.write(GetAlertDigest(), ADA)
        told = await digests.list_works(ListAlertWorks(), ADA)
        assert [each.is_new for each in told.works] == [False, False]
        clock.wait(days=30)
        assert (await digests.list_works(ListAlertWorks(days=7), ADA)).works == []

    play(scene())
