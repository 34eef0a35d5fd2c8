"""What every library of references promises, whether it is a file or rows."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest

from carrel.core.clock import SystemClock
from carrel.core.errors import NotFoundError
from carrel.rooms.references.additions import Candidate, add_to
from carrel.rooms.references.attachments import Attachments, list_named_files
from carrel.rooms.references.errors import (
    ChangeNotUndoableError,
    FullTextExistsError,
    FullTextNotAvailableError,
)
from carrel.rooms.references.fulltext import FullTexts
from carrel.rooms.references.items import Item, lookup_keys
from carrel.rooms.references.ports import Change, KnownReferences, Library, ManyChanges
from carrel.rooms.references.queries import parse_reference_query
from carrel.services.attached_files import LocalFiles

OpenLibrary = Callable[[], AbstractAsyncContextManager[Library]]
Scene = Callable[[Library], Awaitable[Any]]

WORKS: list[Item] = [
    {"id": "hawking-1974", "type": "article-journal", "title": "Black hole explosions?",
     "author": [{"family": "Hawking", "given": "S. W."}], "issued": {"date-parts": [[1974]]},
     "DOI": "10.1038/248030a0"},
    {"id": "noether-1918", "type": "article-journal", "title": "Invariante Variationsprobleme",
     "author": [{"family": "Noether", "given": "Emmy"}], "issued": {"date-parts": [[1918]]}},
    {"id": "odd", "type": "document", "note": "a\u0000b ø ß"},
]  # fmt: skip


async def put(library: Library, *items: Item) -> None:
    await library.add((), lambda present: [dict(item) for item in items])


async def read(library: Library) -> list[Item]:
    return [dict(item) for item in (await library.snapshot()).items]


@pytest.mark.promise("L10")
class LibraryContract:
    """`open_library` is a fixture that opens the same library again at every call."""

    def play(self, open_library: OpenLibrary, scene: Scene, *items: Item) -> Any:
        async def playing() -> Any:
            async with open_library() as library:
                await put(library, *(items or WORKS))
                return await scene(library)

        return asyncio.run(playing())

    def test_a_failed_choice_or_decision_changes_nothing(self, open_library: OpenLibrary) -> None:
        def refuse(present: object) -> Any:
            raise LookupError("no")

        async def scene(library: Library) -> None:
            before = await library.snapshot()
            with pytest.raises(LookupError):
                await library.add((), refuse)
            with pytest.raises(LookupError):
                await library.change("odd", refuse)
            assert await library.change("nobody", refuse) is None
            assert await library.remove("nobody") is None
            assert await library.remove_many(["nobody"]) == []
            after = await library.snapshot()
            assert list(after.items) == list(before.items) == WORKS

        self.play(open_library, scene)

    def test_what_was_added_is_read_back_as_it_was_and_by_another_process(
        self, open_library: OpenLibrary
    ) -> None:
        async def scene(library: Library) -> None:
            async with open_library() as other:
                assert await read(other) == WORKS
                assert await other.find("odd") == WORKS[2]
                assert await other.find("ODD") is None
                assert await other.find_many(["odd", "x", "hawking-1974"]) == [WORKS[2], WORKS[0]]
                assert await other.list_items(1, 1) == (3, [WORKS[1]])
                assert (await other.list_items(3, 5))[1] == []
                await other.remove("odd")
            assert await read(library) == WORKS[:2]

        self.play(open_library, scene)

    def test_works_are_found_by_their_keys(self, open_library: OpenLibrary) -> None:
        async def scene(library: Library) -> None:
            assert await library.find_works([("doi", "10.1/none")]) == []
            keys = [*lookup_keys(WORKS[2]), ("doi", "10.1038/248030a0")]
            assert await library.find_works(keys) == [WORKS[0], WORKS[2]]
            await library.change("hawking-1974", lambda item: Change({"DOI": "10.1234/new"}))
            assert await library.find_works([("doi", "10.1038/248030a0")]) == []
            assert len(await library.find_works([("doi", "10.1234/new")])) == 1

        self.play(open_library, scene)

    def test_an_addition_sees_the_works_it_asks_for_and_every_id(
        self, open_library: OpenLibrary
    ) -> None:
        async def scene(library: Library) -> None:
            seen: list[tuple[list[str], list[bool]]] = []

            def choose(present: KnownReferences) -> Sequence[Item]:
                ids = [str(item["id"]) for item in present.items]
                seen.append((ids, [one in present.taken_ids for one in ("odd", "hawking-1974a")]))
                return []

            assert await library.add([("doi", "10.1038/248030a0")], choose) == []
            assert "hawking-1974" in seen[-1][0] and seen[-1][1] == [True, False]

        self.play(open_library, scene)

    def test_a_duplicate_is_skipped_and_thirty_works_of_one_name_get_thirty_keys(
        self, open_library: OpenLibrary
    ) -> None:
        def work(number: int) -> Candidate:
            return Candidate({**WORKS[1], "title": f"Part {number}"}, "test")

        async def scene(library: Library) -> None:
            known = await add_to(library, [Candidate(WORKS[0], "x")], SystemClock())
            assert [each.duplicate_of for each in known.skipped] == ["hawking-1974"]
            for at in range(0, 30, 10):
                works = [work(number) for number in range(at, at + 10)]
                answer = await add_to(library, works, SystemClock())
                assert len(answer.added) == 10, answer
            ids = [str(item["id"]).lower() for item in await read(library)]
            assert len(ids) == len(set(ids)) == 33
            assert {"noether-1918a", "noether-1918z", "noether-1918aa"} <= set(ids)

        self.play(open_library, scene)

    def test_two_writers_at_once_lose_nothing(self, open_library: OpenLibrary) -> None:
        async def scene(library: Library) -> None:
            async with open_library() as other:
                writers = [library, other]

                def count(item: Item) -> Change:
                    return Change({"volume": int(item.get("volume") or 0) + 1})

                same = Candidate({**WORKS[1], "title": "The same work"}, "x")
                await asyncio.gather(
                    *(writers[at % 2].change("odd", count) for at in range(20)),
                    *(put(writers[at % 2], {"id": f"new-{at}"}) for at in range(10)),
                    *(add_to(each, [same], SystemClock()) for each in writers),
                )
                assert (await other.find("odd") or {})["volume"] == 20
                ids = [item["id"] for item in await read(other)]
                assert len(ids) == 3 + 10 + 1 and {f"new-{at}" for at in range(10)} <= set(ids)
                assert await read(library) == await read(other)

        self.play(open_library, scene)

    def test_a_search_finds_what_was_added_a_moment_ago_and_not_what_is_gone(
        self, open_library: OpenLibrary
    ) -> None:
        async def found(library: Library, words: str) -> list[str]:
            answer = await library.search(parse_reference_query(words), 0, 10)
            return [str(item["id"]) for item in answer.items]

        async def scene(library: Library) -> None:
            assert await found(library, "invariante") == ["noether-1918"]
            async with open_library() as other:
                await put(other, {"id": "n2", "type": "book", "title": "Invariante Räume"})
                assert set(await found(library, "invariante")) == {"noether-1918", "n2"}
                await other.remove("noether-1918")
                assert await found(library, "invariante") == ["n2"]
            query = parse_reference_query("black OR invariante")
            assert await library.find_ids(query) == ["hawking-1974", "n2"]
            assert [item["id"] for item in await library.find_all(query)] == ["hawking-1974", "n2"]
            nothing = await library.explain_empty(parse_reference_query("phlogiston"))
            assert "phlogiston" in str(nothing)

        self.play(open_library, scene)

    def test_what_was_said_before_is_listed_restored_and_undone(
        self, open_library: OpenLibrary
    ) -> None:
        async def scene(library: Library) -> None:
            with pytest.raises(NotFoundError):
                await library.restore("odd", None)
            with pytest.raises(NotFoundError):
                await library.undo(4711)
            await library.change("odd", lambda item: Change({"title": "1"}, ("note",)))
            first = (await library.list_changes("odd"))[0].revision
            await library.change("odd", lambda item: Change({"title": "2"}))
            with pytest.raises(ChangeNotUndoableError):
                await library.undo(first)
            past = (await library.list_past("odd"))[:3]
            assert [(one.item or {}).get("title") for one in past] == ["2", "1", None]
            with pytest.raises(NotFoundError, match=f"last change of the library is {first + 1}"):
                await library.restore("odd", first + 2)
            assert all(one.at and one.origin for one in past)
            await library.restore("odd", first)
            assert (await library.find("odd") or {})["title"] == "1"
            await library.remove("odd")
            assert [one.is_present for one in await library.list_past("odd")][:2] == [False, True]
            undone = await library.undo(None)
            assert list(undone.removed) == ["odd"]
            assert (await library.find("odd") or {})["title"] == "1"
            assert await library.list_past("nobody") == []

        self.play(open_library, scene)

    def test_changes_are_undone_one_after_the_other_back_to_the_first(
        self, open_library: OpenLibrary
    ) -> None:
        async def retitle(library: Library, title: str) -> None:
            await library.change("odd", lambda item: Change({"title": title}))

        async def scene(library: Library) -> None:
            before = await library.find("odd")
            numbers = []
            for title in ("1", "2", "3"):
                await retitle(library, title)
                numbers.append((await library.list_changes("odd"))[0].revision)
            assert sorted(await library.find_overtaken(numbers)) == numbers[:2]
            for number in reversed(numbers):
                assert number not in await library.find_overtaken(numbers)
                await library.undo(number)
                assert number in await library.find_overtaken(numbers)
                with pytest.raises(ChangeNotUndoableError):
                    await library.undo(number)
            assert await library.find("odd") == before

        self.play(open_library, scene)

    def test_a_text_from_before_a_renaming_comes_back_under_the_key_of_today(
        self, open_library: OpenLibrary
    ) -> None:
        def rename(present: object) -> ManyChanges:
            custom = {"uuid": "u-1", "former_ids": ["odd"]}
            return ManyChanges({"odd": Change({"id": "even", "title": "2", "custom": custom})})

        async def scene(library: Library) -> None:
            await library.change(
                "odd", lambda item: Change({"title": "1", "custom": {"uuid": "u-1"}})
            )
            first = (await library.list_changes("odd"))[0].revision
            await library.change_many(rename)
            for revision in (first, None):
                await library.change("even", lambda item: Change({"title": "3"}))
                await library.restore("odd", revision)
                assert [item["id"] for item in await read(library)][2:] == ["even"]
                found = await library.find("even") or {}
                assert found["title"] == "1" and found["custom"]["former_ids"] == ["odd"]

        self.play(open_library, scene)

    def test_what_was_merged_into_another_comes_back_beside_it(
        self, open_library: OpenLibrary
    ) -> None:
        async def scene(library: Library) -> None:
            kept = Change({"custom": {"uuid": "u-2", "former_ids": ["odd"]}})
            await library.change_many(lambda present: ManyChanges({"noether-1918": kept}, ("odd",)))
            await library.restore("odd", None)
            ids = [item["id"] for item in await read(library)]
            assert ids == ["hawking-1974", "noether-1918", "odd"]

        self.play(open_library, scene)

    def test_the_order_of_the_library_stays_when_its_references_change(
        self, open_library: OpenLibrary
    ) -> None:
        async def scene(library: Library) -> None:
            await library.change("hawking-1974", lambda item: Change({"note": "n"}))
            await library.change_many(
                lambda present: ManyChanges({"noether-1918": Change({"id": "emmy"})})
            )
            ids = [item["id"] for item in await read(library)]
            assert ids == ["hawking-1974", "emmy", "odd"]
            assert [item["id"] for item in (await library.list_items(0, 9))[1]] == ids

        self.play(open_library, scene)

    def test_attached_files_are_read_searched_and_removed(
        self, open_library: OpenLibrary, tmp_path: Path
    ) -> None:
        source = tmp_path / "source"
        source.mkdir()
        (source / "a.pdf").write_bytes(b"%PDF-" + bytes(range(256)) * 6_000)
        (source / "a.md").write_text("# Results\n\nThe quokka smiles at entropy.\n")
        texts = FullTexts(LocalFiles())

        async def scene(library: Library) -> None:
            item = dict(await library.find("odd") or {})
            with pytest.raises(FullTextNotAvailableError):
                await texts.get(library, item, offset=0, max_chars=None)
            for name in ("a.pdf", "a.md"):
                await texts.attach(library, item, source / name)
                item = dict(await library.find("odd") or {})
            (source / "a.pdf").rename(source / "gone")
            async with open_library() as other:
                answer = await texts.get(other, item, offset=2, max_chars=7)
                assert (answer.markdown or "").startswith("Results")
                assert answer.pdf is not None
                assert Path(answer.pdf.path).read_bytes() == (source / "gone").read_bytes()
                assert await texts.read_pdf(other, item) == (source / "gone").read_bytes()
                found = await other.search(parse_reference_query("quokka"), 0, 5)
                assert [one["id"] for one in found.items] == ["odd"]
                assert "smiles" in found.passages[0].text
                await texts.detach(other, item)
                found = await other.search(parse_reference_query("quokka"), 0, 5)
                assert found.total == 0
            with pytest.raises(FullTextNotAvailableError):
                await texts.read_pdf(library, item)

        self.play(open_library, scene)

    def test_files_that_are_attached_at_once_are_all_kept(
        self, open_library: OpenLibrary, tmp_path: Path
    ) -> None:
        """Two servers of one library, several callers each, and one name for every file."""
        contents = [f"%PDF-1.4 {number}".encode() * 50 for number in range(8)]
        attachments = Attachments(LocalFiles())

        async def scene(library: Library) -> None:
            item = dict(await library.find("odd") or {})
            async with open_library() as other:
                rows = await asyncio.gather(
                    *(
                        attachments.attach(
                            other if number % 2 and library.attached_files else library,
                            item, content, "same.pdf", None, "",
                        )
                        for number, content in enumerate(contents)
                    )
                )  # fmt: skip
                named = list_named_files(dict(await other.find("odd") or {}))
                assert {each.name for each in rows} == {each.name for each in named}
                assert sorted(each.role for each in named) == ["fulltext", *["supplement"] * 7]
                present = dict(await other.find("odd") or {})
                kept = [await attachments.read(other, present, each.name) for each in rows]
                assert kept == contents
                assert await attachments.find_orphans(other) == ([], [])

        self.play(open_library, scene)

    def test_of_two_full_texts_at_once_one_is_refused(
        self, open_library: OpenLibrary, tmp_path: Path
    ) -> None:
        files = [tmp_path / name for name in ("one.pdf", "two.pdf")]
        for file in files:
            file.write_bytes(f"%PDF-1.4 {file.name}".encode())
        texts, attachments = FullTexts(LocalFiles()), Attachments(LocalFiles())

        async def scene(library: Library) -> None:
            item = dict(await library.find("odd") or {})
            answers = await asyncio.gather(
                texts.attach(library, item, files[0]),
                attachments.attach(library, item, files[1], "two.pdf", "fulltext", ""),
                return_exceptions=True,
            )
            refused = [each for each in answers if isinstance(each, FullTextExistsError)]
            assert len(refused) == 1
            present = dict(await library.find("odd") or {})
            (named,) = list_named_files(present)
            winner = files[0 if isinstance(answers[1], FullTextExistsError) else 1]
            assert await attachments.read(library, present, named.name) == winner.read_bytes()
            assert await attachments.find_orphans(library) == ([], [])

        self.play(open_library, scene)

    def test_nothing_is_attached_to_what_was_removed_meanwhile(
        self, open_library: OpenLibrary, tmp_path: Path
    ) -> None:
        (tmp_path / "a.pdf").write_bytes(b"%PDF-1.4")

        async def scene(library: Library) -> None:
            item = dict(await library.find("odd") or {})
            await library.remove("odd")
            with pytest.raises(NotFoundError):
                await FullTexts(LocalFiles()).attach(library, item, tmp_path / "a.pdf")
            assert await Attachments(LocalFiles()).find_orphans(library) == ([], [])

        self.play(open_library, scene)
