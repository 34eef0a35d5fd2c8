"""What every store of notes and nodes promises, written once and inherited by each backend's
tests.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar, get_args

import pytest

from carrel.libraries.query.notes import (
    AnyTitle,
    Condition,
    Tagged,
    TextMatch,
    TitlePrefix,
    parse_note_query,
)
from carrel.libraries.text.folding import fold_text
from carrel.libraries.text.tokenizer import index_terms
from carrel.rooms.knowledge.documents import Checkpoint, Drop, NotePut, Put, Reset
from carrel.rooms.knowledge.errors import NoteChangedError, NoteExistsError, SearchTooBroadError
from carrel.rooms.knowledge.notes import (
    ChangeKind,
    Insert,
    Mine,
    MineAndTeam,
    Node,
    Note,
    NoteSearch,
    Order,
    Origin,
    Proposals,
    Remove,
    Replace,
    Shelf,
    Team,
)
from carrel.rooms.knowledge.ports import NodeStore, NoteStore

ResultT = TypeVar("ResultT")
BEGAN = datetime(2026, 1, 1, tzinfo=UTC)


def at(minutes: int) -> datetime:
    return BEGAN + timedelta(minutes=minutes)


def a_note(
    number: int,
    title: str,
    content: str = "content",
    *,
    user: str = "ada",
    tags: tuple[str, ...] = (),
    **more: Any,
) -> Note:
    moment = at(number)
    return Note(
        id=f"note{number:016d}",
        title=title,
        content=content,
        user_id=user,
        source=more.pop("source", "personal"),
        status=more.pop("status", "draft"),
        tags=tags,
        created_at=moment,
        updated_at=moment,
        **more,
    )


class KnowledgeStoreContract:
    """Subclasses provide the fixture `stores`: a function that opens both stores, empty, in the
    running loop.
    """

    @pytest.fixture
    def run(
        self, stores: Callable[[], Awaitable[tuple[NoteStore, NodeStore]]]
    ) -> Iterator[Callable[..., Any]]:
        def run(work: Callable[[NoteStore, NodeStore], Awaitable[ResultT]]) -> ResultT:
            async def whole() -> ResultT:
                notes, nodes = await stores()
                try:
                    return await work(notes, nodes)
                finally:
                    await notes.close()

            return asyncio.run(whole())

        yield run

    @pytest.mark.promise("K2")
    def test_a_note_comes_back_with_every_field(self, run: Callable[..., Any]) -> None:
        note = a_note(
            1,
            "Magnésium 知識 🧪",
            "Line one\r\nline two\n",
            tags=("Migraine", "ion channel"),
            promoted_from_id="other",
            origin=Origin("vault/a.md", "digest", "---\na: 1\n---\n", "body"),
        )

        async def work(notes: NoteStore, nodes: NodeStore) -> None:
            await notes.write([Insert(note, "ada")])
            assert await notes.find(note.id) == note
            assert note.schema_version == 1
            assert await notes.find("absent") is None

        run(work)

    def test_a_second_note_of_the_same_id_is_refused_and_the_first_stays(
        self, run: Callable[..., Any]
    ) -> None:
        async def work(notes: NoteStore, nodes: NodeStore) -> None:
            await notes.write([Insert(a_note(1, "first"), "ada")])
            with pytest.raises(NoteExistsError):
                await notes.write([Insert(a_note(1, "second"), "ada")])
            kept = await notes.find(a_note(1, "").id)
            assert kept is not None and kept.title == "first"

        run(work)

    @pytest.mark.promise("K1")
    def test_of_two_writers_who_saw_the_same_state_one_wins_and_one_is_told(
        self, run: Callable[..., Any]
    ) -> None:
        async def work(notes: NoteStore, nodes: NodeStore) -> None:
            note = a_note(1, "start")
            await notes.write([Insert(note, "ada")])
            attempts = [
                Replace(
                    replace(note, title=f"by {name}", updated_at=at(2 + place)),
                    note.updated_at,
                    name,
                )
                for place, name in enumerate(("ada", "bob", "cyd"))
            ]
            outcomes = await asyncio.gather(
                *(notes.write([attempt]) for attempt in attempts), return_exceptions=True
            )
            assert [type(outcome) for outcome in outcomes if outcome] == [
                NoteChangedError,
                NoteChangedError,
            ]
            kept = await notes.find(note.id)
            winner = attempts[outcomes.index(None)].note
            assert kept == winner
            refused = next(outcome for outcome in outcomes if isinstance(outcome, NoteChangedError))
            assert refused.details["updated_at"] == winner.updated_at.isoformat()

        run(work)

    def test_changes_together_happen_all_or_not_at_all(self, run: Callable[..., Any]) -> None:
        async def work(notes: NoteStore, nodes: NodeStore) -> None:
            note = a_note(1, "original")
            await notes.write([Insert(note, "ada")])
            stale = Replace(replace(note, title="never", updated_at=at(9)), at(7), "ada")
            with pytest.raises(NoteChangedError):
                await notes.write([Insert(a_note(2, "copy"), "ada"), stale])
            assert await notes.find(a_note(2, "").id) is None
            assert [version.title for version in await notes.history(note.id, 10)] == ["original"]

        run(work)

    def test_a_note_that_was_deleted_meanwhile_cannot_be_changed(
        self, run: Callable[..., Any]
    ) -> None:
        async def work(notes: NoteStore, nodes: NodeStore) -> None:
            note = a_note(1, "short life")
            await notes.write([Insert(note, "ada")])
            await notes.write([Remove(note.id, note.updated_at)])
            with pytest.raises(NoteChangedError):
                await notes.write(
                    [Replace(replace(note, updated_at=at(5)), note.updated_at, "ada")]
                )
            with pytest.raises(NoteChangedError):
                await notes.write([Remove(note.id, note.updated_at)])
            assert await notes.find(note.id) is None
            assert await notes.history(note.id, 10) == []
            assert await titles(notes, TitlePrefix("short"), Mine("ada")) == []

        run(work)

    @pytest.mark.promise("K7")
    def test_history_tells_every_state_newest_first(self, run: Callable[..., Any]) -> None:
        async def work(notes: NoteStore, nodes: NodeStore) -> None:
            note = a_note(1, "one", tags=("a",))
            await notes.write([Insert(note, "ada")])
            second = replace(note, title="two", tags=("b",), updated_at=at(2))
            await notes.write([Replace(second, note.updated_at, "bob")])
            third = replace(second, status="proposed", updated_at=at(3))
            await notes.write([Replace(third, second.updated_at, "ada", "proposed")])
            history = await notes.history(note.id, 10)
            assert [
                (version.title, version.by, version.kind, version.tags) for version in history
            ] == [
                ("two", "ada", "proposed", ("b",)),
                ("two", "bob", "updated", ("b",)),
                ("one", "ada", "created", ("a",)),
            ]
            assert [version.changed_at for version in history] == [at(3), at(2), at(1)]
            assert len(await notes.history(note.id, 2)) == 2

        run(work)

    def test_history_tells_every_kind_of_change(self, run: Callable[..., Any]) -> None:
        async def work(notes: NoteStore, nodes: NodeStore) -> None:
            note = a_note(1, "one")
            kinds = [kind for kind in get_args(ChangeKind) if kind != "created"]
            await notes.write([Insert(note, "ada")])
            for number, kind in enumerate(kinds, start=2):
                await notes.write(
                    [Replace(replace(note, updated_at=at(number)), at(number - 1), "ada", kind)]
                )
            history = await notes.history(note.id, 20)
            assert [version.kind for version in history] == [*reversed(kinds), "created"]

        run(work)

    @pytest.mark.promise("K1")
    def test_a_title_is_found_by_its_beginning_whatever_the_case_exact_first(
        self, run: Callable[..., Any]
    ) -> None:
        async def work(notes: NoteStore, nodes: NodeStore) -> None:
            given = [
                "Magnesium and migraine",
                "magnesium",
                "Magnet",
                "About magnesium",
                "知識管理",
                "知能",
                "🧪 flask",
                "MAGNESIUM",
            ]
            await notes.write(
                [Insert(a_note(number, title), "ada") for number, title in enumerate(given)]
            )
            found = await notes.search(
                NoteSearch(TitlePrefix("magnesium"), Mine("ada"), "best", 10)
            )
            assert [(hit.note.title, hit.score) for hit in found] == [
                ("MAGNESIUM", 1.0),
                ("magnesium", 1.0),
                ("Magnesium and migraine", 0.9),
            ]
            assert await titles(notes, TitlePrefix("magne"), Mine("ada"), limit=2) == [
                "MAGNESIUM",
                "magnesium",
            ]
            assert await titles(notes, TitlePrefix("magne"), Mine("ada"), order="newest") == [
                "MAGNESIUM",
                "Magnet",
                "magnesium",
                "Magnesium and migraine",
            ]
            assert await titles(notes, TitlePrefix("知"), Mine("ada")) == ["知能", "知識管理"]
            assert await titles(notes, TitlePrefix("🧪"), Mine("ada")) == ["🧪 flask"]
            assert await titles(notes, TitlePrefix("nothing"), Mine("ada")) == []

        run(work)

    @pytest.mark.promise("K1")
    def test_several_tags_mean_all_of_them_and_the_newest_comes_first(
        self, run: Callable[..., Any]
    ) -> None:
        async def work(notes: NoteStore, nodes: NodeStore) -> None:
            await notes.write(
                [
                    Insert(a_note(1, "both", tags=("Migraine", "ion channel")), "ada"),
                    Insert(a_note(2, "one", tags=("migraine",)), "ada"),
                    Insert(a_note(3, "other", tags=("ion channel",)), "ada"),
                    Insert(a_note(4, "none"), "ada"),
                    Insert(a_note(5, "both again", tags=("ION channel", "migraine", "x")), "ada"),
                ]
            )
            assert await titles(notes, Tagged(("migraine",)), Mine("ada")) == [
                "both again",
                "one",
                "both",
            ]
            assert await titles(notes, Tagged(("migraine", "ion channel")), Mine("ada")) == [
                "both again",
                "both",
            ]
            assert await titles(notes, Tagged(("migraine", "x", "ion channel")), Mine("ada")) == [
                "both again"
            ]
            assert await titles(notes, Tagged(("migr",)), Mine("ada")) == []
            assert await titles(notes, Tagged(("migraine",)), Mine("ada"), limit=1) == [
                "both again"
            ]
            found = await notes.search(NoteSearch(Tagged(("x",)), Mine("ada"), "best", 10))
            assert [hit.score for hit in found] == [0.85]

        run(work)

    @pytest.mark.promise("K7")
    def test_text_is_found_by_all_words_and_by_phrases_in_any_script(
        self, run: Callable[..., Any]
    ) -> None:
        async def work(notes: NoteStore, nodes: NodeStore) -> None:
            await notes.write(
                [
                    Insert(
                        a_note(1, "A", "Magnesium blocks the NMDA receptor.", tags=("t",)), "ada"
                    ),
                    Insert(a_note(2, "B", "The receptor of magnesium, naïve"), "ada"),
                    Insert(a_note(3, "magnesium", "nothing else", tags=("t",)), "ada"),
                    Insert(a_note(4, "C", "研究者のための知識管理の方法"), "ada"),
                    Insert(a_note(5, "D", "magnesiums"), "ada"),
                ]
            )

            async def found(
                *phrases: str, tags: tuple[str, ...] = (), order: Order = "newest"
            ) -> list[str]:
                return await titles(
                    notes,
                    TextMatch(tuple(tuple(index_terms(phrase)) for phrase in phrases), tags),
                    Mine("ada"),
                    order=order,
                )

            assert await found("MAGNESIUM") == ["magnesium", "B", "A"]
            assert await found("magnesium", "receptor") == ["B", "A"]
            assert await found("nmda receptor") == ["A"]
            assert await found("receptor nmda") == []
            assert await found("naive") == ["B"]
            assert await found("知識管理") == ["C"]
            assert await found("管理の方法") == ["C"]
            assert await found("識知") == []
            assert await found("magnesium", tags=("t",)) == ["magnesium", "A"]
            if notes.capabilities.has_ranking:
                assert (await found("magnesium", order="best"))[0] == "magnesium"

        run(work)

    @pytest.mark.promise("A6")
    def test_a_shelf_shows_what_stands_on_it_and_nothing_else(
        self, run: Callable[..., Any]
    ) -> None:
        async def work(notes: NoteStore, nodes: NodeStore) -> None:
            tags = ("t",)
            await notes.write(
                [
                    Insert(a_note(1, "n ada draft", "w", tags=tags), "ada"),
                    Insert(a_note(2, "n ada proposed", "w", tags=tags, status="proposed"), "ada"),
                    Insert(a_note(3, "n ada done", "w", tags=tags, status="promoted"), "ada"),
                    Insert(
                        a_note(4, "n team", "w", tags=tags, source="team", status="promoted"), "ada"
                    ),
                    Insert(a_note(5, "n bob draft", "w", tags=tags, user="bob"), "bob"),
                    Insert(
                        a_note(6, "n bob proposed", "w", tags=tags, user="bob", status="proposed"),
                        "bob",
                    ),
                ]
            )
            ada, team, bob = (
                {"n ada draft", "n ada proposed"},
                {"n team"},
                {"n bob draft", "n bob proposed"},
            )
            expected: list[tuple[Shelf, set[str]]] = [
                (Mine("ada"), ada | {"n ada done"}),
                (Team(), team),
                (MineAndTeam("ada"), ada | team),
                (MineAndTeam("bob"), bob | team),
                (Mine("nobody"), set()),
                (Proposals(), {"n ada proposed", "n bob proposed"}),
            ]
            conditions: list[Condition] = [
                TitlePrefix("n"),
                Tagged(("t",)),
                TextMatch((("w",),)),
                AnyTitle(),
            ]
            for shelf, names in expected:
                for condition in conditions:
                    for order in ("best", "newest"):
                        assert set(await titles(notes, condition, shelf, order=order)) == names, (
                            shelf,
                            condition,
                            order,
                        )
                assert {note.title async for note in notes.everything(shelf)} == names
            assert await titles(notes, AnyTitle(), MineAndTeam("ada"), order="newest") == [
                "n team",
                "n ada proposed",
                "n ada draft",
            ]

        run(work)

    def test_a_changed_note_is_found_under_its_new_words_only(
        self, run: Callable[..., Any]
    ) -> None:
        async def work(notes: NoteStore, nodes: NodeStore) -> None:
            note = a_note(1, "old title", "old words", tags=("old",))
            await notes.write([Insert(note, "ada")])
            changed = replace(
                note, title="new title", content="new words", tags=("new",), updated_at=at(2)
            )
            await notes.write([Replace(changed, note.updated_at, "ada")])
            shelf = Mine("ada")
            for condition in (TitlePrefix("old"), Tagged(("old",)), TextMatch((("old",),))):
                assert await titles(notes, condition, shelf) == []
            for condition in (TitlePrefix("new"), Tagged(("new",)), TextMatch((("new",),))):
                assert await titles(notes, condition, shelf) == ["new title"]

        run(work)

    def test_notes_are_found_by_exact_title_for_links(self, run: Callable[..., Any]) -> None:
        async def work(notes: NoteStore, nodes: NodeStore) -> None:
            await notes.write(
                [
                    Insert(a_note(1, "Ion Channel", "older"), "ada"),
                    Insert(a_note(2, "ion channel", "newer"), "ada"),
                    Insert(a_note(3, "Secret", user="bob"), "bob"),
                ]
            )
            found = await notes.titled(["ION CHANNEL", "secret", "ion"], MineAndTeam("ada"))
            assert {title: note.content for title, note in found.items()} == {
                "ION CHANNEL": "newer"
            }

        run(work)

    @pytest.mark.promise("K1", "K7")
    def test_accents_and_foreign_letters_do_not_hide_a_note(self, run: Callable[..., Any]) -> None:
        async def work(notes: NoteStore, nodes: NodeStore) -> None:
            content = "Straße und Łódź, said Ørsted’s brother"
            oersted = a_note(1, "Ørsted and the naïve needle", content, tags=("Ålesund",))
            await notes.write([Insert(oersted, "ada"), Insert(a_note(2, "Oerlikon"), "ada")])
            for query in ("orsted", "Ørsted and", "#alesund", "#Ålesund", "text:lodz strasse"):
                condition = parse_note_query(query)
                assert await titles(notes, condition, Mine("ada")) == [oersted.title], query
            found = await notes.titled(["orsted AND the naive needle"], Mine("ada"))
            assert [note.id for note in found.values()] == [oersted.id]
            changed = replace(oersted, title="Volta", tags=(), updated_at=at(5))
            await notes.write([Replace(changed, oersted.updated_at, "ada")])
            for query in ("orsted", "#alesund"):
                assert await titles(notes, parse_note_query(query), Mine("ada")) == [], query

        run(work)

    @pytest.mark.promise("K5")
    def test_nodes_are_found_without_accents_and_stay_apart_by_them(
        self, run: Callable[..., Any]
    ) -> None:
        async def work(notes: NoteStore, nodes: NodeStore) -> None:
            await nodes.put([Node("Møller", content="a"), Node("Moller", content="b")])
            await nodes.put([Node("Ørsted", content="c")])
            found = await nodes.find(["møller", "moller", "orsted", "orstedt"])
            assert {name: node.content for name, node in found.items()} == {
                "møller": "a",
                "moller": "b",
                "orsted": "c",
            }
            assert "Ørsted" in await nodes.near("orstedt", 5)

        run(work)

    def test_everything_comes_in_pages_without_gaps(self, run: Callable[..., Any]) -> None:
        async def work(notes: NoteStore, nodes: NodeStore) -> None:
            for start in range(0, 1100, 100):
                await notes.write(
                    [
                        Insert(a_note(start + number, f"t{start + number}"), "ada")
                        for number in range(100)
                    ]
                )
            found = [note.title async for note in notes.everything(MineAndTeam("ada"))]
            assert len(found) == 1100
            assert set(found) == {f"t{number}" for number in range(1100)}

        run(work)

    def test_changes_are_told_from_a_mark_on_and_deletions_too(
        self, run: Callable[..., Any]
    ) -> None:
        async def work(notes: NoteStore, nodes: NodeStore) -> None:
            first, second = a_note(1, "first"), a_note(2, "second")
            await notes.write([Insert(first, "ada"), Insert(second, "ada")])
            mark, puts, drops = await told(notes, None)
            assert (puts, drops) == ({"first", "second"}, set())
            await notes.write(
                [
                    Replace(
                        replace(first, title="changed", updated_at=at(5)), first.updated_at, "ada"
                    )
                ]
            )
            await notes.write([Remove(second.id, second.updated_at)])
            _, puts, drops = await told(notes, mark)
            assert "changed" in puts and "first" not in puts
            assert drops == {second.id}

        run(work)

    def test_a_cursor_of_another_database_begins_anew(self, run: Callable[..., Any]) -> None:
        async def work(notes: NoteStore, nodes: NodeStore) -> None:
            await notes.write([Insert(a_note(1, "first"), "ada")])
            await nodes.put([Node("Magnesium")])
            for cursor in ("12", "7/7/7", "elsewhere/9", "x|y"):
                told_first = [change async for change in notes.note_changes(cursor)]
                assert isinstance(told_first[0], Reset), cursor
                assert [one.note.title for one in told_first if isinstance(one, NotePut)] == [
                    "first"
                ]
            mark, _, _ = await told(notes, None)
            assert not any([isinstance(change, Reset) async for change in notes.note_changes(mark)])

        run(work)

    def test_notes_are_read_by_many_ids_at_once(self, run: Callable[..., Any]) -> None:
        async def work(notes: NoteStore, nodes: NodeStore) -> None:
            given = [a_note(number, f"t{number}") for number in range(5)]
            await notes.write([Insert(note, "ada") for note in given])
            ids = [note.id for note in given]
            assert await notes.find_many([*ids, "absent", ids[0]]) == dict(
                zip(ids, given, strict=True)
            )
            assert await notes.find_many([]) == {}

        run(work)

    def test_a_search_that_reads_too_much_says_so_instead_of_leaving_out(
        self, run: Callable[..., Any]
    ) -> None:
        async def work(notes: NoteStore, nodes: NodeStore) -> None:
            bound = notes.capabilities.reads_at_most
            if bound is None:
                found = await notes.search(NoteSearch(Tagged(("a", "b")), Mine("ada"), "best", 10))
                assert found == []
                return
            for start in range(0, bound + 1, 100):
                await notes.write(
                    [
                        Insert(a_note(start + number, "t", tags=("a", f"b{number}")), "ada")
                        for number in range(100)
                    ]
                )
            with pytest.raises(SearchTooBroadError):
                await notes.search(NoteSearch(Tagged(("a", "missing")), Mine("ada"), "best", 10))

        run(work)

    @pytest.mark.promise("K5")
    def test_nodes_come_back_by_name_and_near_names_are_offered(
        self, run: Callable[..., Any]
    ) -> None:
        async def work(notes: NoteStore, nodes: NodeStore) -> None:
            magnesium = Node(
                "Magnesium", "ion", "A metal", "Blocks NMDA", {"group": 2, "aliases": ["Mg"]}
            )
            await nodes.put([magnesium, Node("Manganese"), Node("Serotonin"), Node("知識管理")])
            assert await nodes.find(["MAGNESIUM", "absent", "知識管理"]) == {
                "MAGNESIUM": magnesium,
                "知識管理": Node("知識管理"),
            }
            assert "Magnesium" in await nodes.near("Magnezium", 2)
            await nodes.put([replace(magnesium, name="magnesium", content="new")])
            assert (await nodes.find(["Magnesium"]))["Magnesium"].content == "new"
            changes = [change async for change in nodes.changes(None)]
            assert sorted(
                change.document.fields["name"] for change in changes if isinstance(change, Put)
            ) == [  # type: ignore[type-var]
                "Manganese",
                "Serotonin",
                "magnesium",
                "知識管理",
            ]

        run(work)

    def test_the_store_says_how_it_is(self, run: Callable[..., Any]) -> None:
        async def work(notes: NoteStore, nodes: NodeStore) -> None:
            await notes.write([Insert(a_note(1, "one"), "ada")])
            assert await notes.check()

        run(work)


async def titles(
    notes: NoteStore, condition: Condition, shelf: Shelf, *, order: Order = "best", limit: int = 50
) -> list[str]:
    match condition:
        case TitlePrefix(text):
            assert text == fold_text(text)
    return [
        hit.note.title for hit in await notes.search(NoteSearch(condition, shelf, order, limit))
    ]


async def told(notes: NoteStore, since: str | None) -> tuple[str, set[str], set[str]]:
    mark, puts, drops = "", set(), set()
    async for change in notes.changes(since):
        match change:
            case Put(document):
                puts.add(str(document.fields["title"]))
            case Drop(id):
                drops.add(id)
            case Checkpoint(cursor):
                mark = cursor
    return mark, puts, drops
