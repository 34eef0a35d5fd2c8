"""What every store of the literature room keeps to."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

from carrel.libraries.literature.records import Notice
from carrel.rooms.literature.alert_ports import Alert, AlertMark, SeenWork, lease_of
from carrel.rooms.literature.completion_ports import QueuedCompletion
from carrel.rooms.literature.retraction_ports import LoadedTable, NoticeRow
from carrel.stores.sql.literature import SqlLiterature

RETRACTION = Notice("retraction", "2023-07-12", "10.1/n", "5", ("Paper Mill",), "retraction_watch")
CONCERN = Notice("expression_of_concern", None, None, None, (), "retraction_watch")
TABLE = LoadedTable("retraction_watch", "/t.csv", "1-2", "2026-01-01T00:00:00", 2, 1)
ALERT = Alert(
    "al_1", "ada", "sleep", "sleep spindles", ("crossref",), "2026-01-01", "2026-01-01T00:00:00"
)
MARK = AlertMark("crossref", "2026-01-01")
NOW = "2026-01-02T00:00:00"


def work(*keys: str) -> SeenWork:
    return SeenWork(keys[0], keys, f'{{"title":"{keys[0]}"}}')


class LiteratureStoreContract:
    """Inherited by the tests of each database, which give it a `store`."""

    def run(self, store: SqlLiterature, scene: Callable[[], Awaitable[None]]) -> None:
        async def whole() -> None:
            try:
                await scene()
            finally:
                await store.close()

        asyncio.run(whole())

    def test_notices_are_found_by_key_and_replaced_with_their_table(
        self, store: SqlLiterature
    ) -> None:
        async def scene() -> None:
            rows = [
                NoticeRow("doi:10.1/a", "1", RETRACTION),
                NoticeRow("pmid:7", "1", RETRACTION),
                NoticeRow("doi:10.1/b", "2", CONCERN),
            ]
            assert await store.notices.table("retraction_watch") is None
            await store.notices.replace_table(TABLE, rows)
            assert await store.notices.table("retraction_watch") == TABLE
            found = await store.notices.find(["pmid:7", "doi:10.1/b", "doi:10.1/x"])
            assert found == {"pmid:7": [RETRACTION], "doi:10.1/b": [CONCERN]}
            crossref = replace(RETRACTION, service="crossref")
            said = [NoticeRow("doi:10.1/b", "10.1/n", crossref)]
            other = [NoticeRow("doi:10.1/c", "10.1/n", crossref)]
            keys = ["doi:10.1/b", "doi:10.1/c"]
            await store.notices.replace_said("crossref", keys, [*said, *other])
            await store.notices.replace_said("crossref", keys, said)
            await store.notices.replace_table(replace(TABLE, mark="3-4"), rows[:1])
            found = await store.notices.find(["pmid:7", "doi:10.1/b", "doi:10.1/a"])
            assert found == {"doi:10.1/a": [RETRACTION], "doi:10.1/b": [crossref]}
            assert await store.notices.list_keys("", 1) == ["doi:10.1/a"]
            assert await store.notices.list_keys("doi:10.1/a", 9) == ["doi:10.1/b"]

        self.run(store, scene)

    def test_a_table_of_many_rows_is_kept_whole(self, store: SqlLiterature) -> None:
        async def scene() -> None:
            rows = [NoticeRow(f"doi:10.1/{n}", str(n), RETRACTION) for n in range(2_345)]
            # The same record twice, as a damaged table may have it.
            await store.notices.replace_table(TABLE, [*rows, rows[0]])
            found = await store.notices.find([row.key for row in rows])
            assert len(found) == 2_345

        self.run(store, scene)

    def test_nobody_sees_or_removes_the_alert_of_another(self, store: SqlLiterature) -> None:
        async def scene() -> None:
            alerts = store.alerts
            assert await alerts.add(ALERT, [MARK])
            assert not await alerts.add(replace(ALERT, id="al_2"), [MARK])
            assert await alerts.add(replace(ALERT, id="al_2", owner="bob"), [MARK])
            assert await alerts.find("bob", "al_1") is None
            assert not await alerts.remove("bob", "al_1")
            assert await alerts.list_owned("ada") == [ALERT]
            assert await alerts.find("ada", "sleep") == ALERT
            assert await alerts.find("ada", "al_1") == ALERT
            assert await alerts.marks("al_1") == [MARK]
            assert await alerts.remove("ada", "al_1")
            assert await alerts.list_owned("ada") == []
            assert await alerts.marks("al_1") == []
            assert [each.owner for each in await alerts.list_due("9")] == ["bob"]

        self.run(store, scene)

    def test_nothing_is_kept_without_the_lease(self, store: SqlLiterature) -> None:
        async def scene() -> None:
            alerts, moved = store.alerts, replace(MARK, complete_until="2026-01-02")
            await alerts.add(ALERT, [MARK])
            assert await alerts.keep("al_1", "w1", [work("doi:10.1/a")], [moved], NOW, 9) is None
            assert await store.leases.take(lease_of("al_1"), "w1", 60)
            assert not await store.leases.take(lease_of("al_1"), "w2", 60)
            assert await alerts.keep("al_1", "w2", [work("doi:10.1/a")], [moved], NOW, 9) is None
            assert await alerts.marks("al_1") == [MARK]
            assert await alerts.keep("al_1", "w1", [work("doi:10.1/a")], [moved], NOW, 9) == [1]
            assert await alerts.marks("al_1") == [moved]
            await store.leases.release(lease_of("al_1"), "w2")
            assert not await store.leases.take(lease_of("al_1"), "w2", 60)
            await store.leases.release(lease_of("al_1"), "w1")
            assert await store.leases.take(lease_of("al_1"), "w2", 60)

        self.run(store, scene)

    def test_a_work_that_comes_back_under_another_key_is_not_new(
        self, store: SqlLiterature
    ) -> None:
        async def scene() -> None:
            alerts = store.alerts
            await alerts.add(ALERT, [MARK])
            await store.leases.take(lease_of("al_1"), "w", 60)
            first = [work("arxiv:1", "title:x"), work("doi:10.1/b")]
            assert await alerts.keep("al_1", "w", first, [], NOW, 9) == [1, 2]
            again = [work("doi:10.1/a", "title:x"), work("doi:10.1/c", "pmid:3")]
            assert await alerts.keep("al_1", "w", again, [], NOW, 9) == [3]
            assert await alerts.keep("al_1", "w", [work("doi:10.1/a")], [], NOW, 9) == []
            same = [work("pmid:9"), work("doi:10.1/z", "pmid:9")]
            assert await alerts.keep("al_1", "w", same, [], NOW, 9) == [4]
            found = await alerts.list_works("al_1", found_since="", only_untold=True, limit=9)
            assert [each.work_id for each in found] == [
                "pmid:9",
                "doi:10.1/c",
                "doi:10.1/b",
                "arxiv:1",
            ]
            await alerts.mark_told("al_1", [1, 2, 3], NOW)
            assert await alerts.count_untold("al_1") == 1
            left = await alerts.list_works("al_1", found_since="", only_untold=True, limit=9)
            assert [each.number for each in left] == [4]

        self.run(store, scene)

    def test_of_more_works_than_are_kept_the_oldest_are_forgotten(
        self, store: SqlLiterature
    ) -> None:
        async def scene() -> None:
            alerts = store.alerts
            await alerts.add(ALERT, [MARK])
            await store.leases.take(lease_of("al_1"), "w", 60)
            for number in range(5):
                await alerts.keep("al_1", "w", [work(f"pmid:{number}")], [], NOW, 3)
            found = await alerts.list_works("al_1", found_since="", only_untold=False, limit=9)
            assert [each.number for each in found] == [5, 4, 3]
            assert await alerts.keep("al_1", "w", [work("pmid:0")], [], NOW, 3) == [6]

        self.run(store, scene)

    def test_two_that_keep_at_once_find_every_work_once(self, store: SqlLiterature) -> None:
        async def scene() -> None:
            alerts = store.alerts
            await alerts.add(ALERT, [MARK])
            await store.leases.take(lease_of("al_1"), "w", 60)
            works = [work(f"pmid:{number}") for number in range(20)]
            several = await asyncio.gather(
                *(alerts.keep("al_1", "w", works, [], NOW, 99) for _ in range(4))
            )
            assert sorted(len(each or []) for each in several) == [0, 0, 0, 20]

        self.run(store, scene)

    def test_a_completion_waits_once_and_moves_on_once(self, store: SqlLiterature) -> None:
        async def scene() -> None:
            queue = store.completions
            entry = QueuedCompletion("c1", "ada", "paper", "p1", "waiting", "{}", NOW, NOW)
            assert await queue.ask([entry]) == 1
            assert await queue.ask([replace(entry, id="c2")]) == 0
            assert await queue.ask([replace(entry, id="c3", owner="bob")]) == 1
            found = await queue.list_entries("ada", "paper", ["waiting"], 9)
            assert found == [entry]
            assert len(await queue.list_entries(None, "paper", ["waiting"], 9)) == 2
            assert await queue.list_entries("ada", "reference", ["waiting"], 9) == []
            later = "2026-01-03T00:00:00"
            assert await queue.save(entry, "proposed", "{1}", later)
            assert not await queue.save(entry, "proposed", "{2}", later)
            assert await queue.count("ada", "paper") == {"proposed": 1}
            assert await queue.ask([entry]) == 0
            (proposed,) = await queue.list_entries("ada", "paper", ["proposed"], 9)
            assert await queue.save(proposed, "applied", "{1}", NOW)
            assert await queue.ask([replace(entry, id="c4")]) == 1

        self.run(store, scene)
