"""A corpus as an object: published by a swap, fetched and verified, changed in turns."""

from __future__ import annotations

import asyncio
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from carrel.core.errors import CarrelError
from carrel.core.progress import NoProgress
from carrel.rooms.papers.correction_models import EditPaper, PaperHistoryOf
from carrel.rooms.papers.errors import BuildInProgressError, PaperNotAddedError
from carrel.rooms.papers.models import PaperAdded
from carrel.stores.corpus.manifest import read_manifest, segment_folder
from carrel.stores.corpus.published.catalogue import PACKS, read_catalogue, read_head
from carrel.stores.corpus.published.errors import (
    ChangeNotPublishedError,
    CorpusMovedOnError,
    NoSegmentsError,
    OwnCorpusError,
    PublicationGoneError,
)
from carrel.stores.corpus.published.folder import PublishedFolder
from carrel.stores.corpus.published.follower import CorpusFollower
from carrel.stores.corpus.published.lease import LEASE, LeaseTimes, hold_lease
from carrel.stores.corpus.published.note import read_note
from carrel.stores.corpus.published.packs import describe_pack
from carrel.stores.objects.addresses import open_objects
from carrel.stores.objects.folder import FolderObjects
from carrel.stores.objects.store import MissingObjectError, ObjectStoreError
from carrel.stores.static_folder import PaperInboxFolder
from carrel.wiring.papers_build import (
    add_paper_file,
    build_papers,
    compact_a_little,
    correct_paper,
    remove_paper,
    tell_history,
)
from tests.stores.published_corpora import add_text, build_here, make_copy, paper_ids, paper_text


@pytest.fixture
def url(tmp_path: Path) -> str:
    (tmp_path / "store").mkdir()
    return (tmp_path / "store").as_uri()


def object_files(tmp_path: Path, kind: str) -> list[Path]:
    return sorted((tmp_path / "store" / kind).glob("*"))


# Refusals.


@pytest.mark.promise("Q12")
def test_a_folder_that_was_not_built_upon_what_is_published_is_refused(
    tmp_path: Path, url: str
) -> None:
    build_here(tmp_path / "one", tmp_path / "sources", ["On Ships"])
    build_here(tmp_path / "two", tmp_path / "others", ["On Ice"])
    one, two = (PublishedFolder(tmp_path / name, open_objects(url)) for name in ("one", "two"))
    assert one.publish(NoProgress()) is not None
    with pytest.raises(CorpusMovedOnError, match="generation 1, and this folder was not built"):
        two.publish(NoProgress())
    add_text(tmp_path / "one", "On Rivers")
    assert one.publish(NoProgress()) is not None
    replaced = two.publish(NoProgress(), replaces=True)
    assert replaced is not None and replaced.head.generation == 3
    add_text(tmp_path / "one", "On Lakes")
    with pytest.raises(CorpusMovedOnError, match="built upon generation 2") as refused:
        one.publish(NoProgress())
    assert "carrel papers fetch" in refused.value.next_step


def test_nothing_to_publish_and_a_corpus_of_ones_own_are_refused(tmp_path: Path, url: str) -> None:
    with pytest.raises(NoSegmentsError):
        PublishedFolder(tmp_path / "none", open_objects(url)).publish(NoProgress())
    build_here(tmp_path / "own", tmp_path / "sources", ["On Ships"])
    own = PublishedFolder(tmp_path / "own", open_objects(url))
    with pytest.raises(OwnCorpusError):
        own.fetch(NoProgress())
    own.publish(NoProgress())
    with pytest.raises(OwnCorpusError):
        own.fetch(NoProgress())


@pytest.mark.promise("Q12")
@pytest.mark.parametrize("damage", ["changed", "cut", "gone"])
def test_a_damaged_or_missing_object_is_named_and_the_generation_before_goes_on(
    damage: str, tmp_path: Path, url: str
) -> None:
    make_copy(tmp_path / "a", url)
    follower = make_copy(tmp_path / "b", url)
    add_text(tmp_path / "a", "On Ships")
    follower.follow()
    before, known = paper_ids(tmp_path / "b"), set(object_files(tmp_path, PACKS))
    add_text(tmp_path / "a", "On Ice")
    (pack,) = set(object_files(tmp_path, PACKS)) - known
    content = pack.read_bytes()
    match damage:
        case "changed":
            pack.write_bytes(content[:-40] + bytes(byte ^ 1 for byte in content[-40:]))
        case "cut":
            pack.write_bytes(content[: len(content) // 2])
        case _:
            pack.unlink()
    expected = MissingObjectError if damage == "gone" else ObjectStoreError
    with pytest.raises(expected, match=pack.name):
        follower.follow()
    assert paper_ids(tmp_path / "b") == before
    pack.write_bytes(content)
    follower.follow()
    assert len(paper_ids(tmp_path / "b")) == 2


def test_a_store_that_went_back_is_not_followed(tmp_path: Path, url: str) -> None:
    copy = make_copy(tmp_path / "a", url)
    add_text(tmp_path / "a", "On Ships")
    add_text(tmp_path / "a", "On Ice")
    pointers = sorted((tmp_path / "store" / "registers" / "published").iterdir())
    pointers[-1].unlink()
    with pytest.raises(PublicationGoneError, match="holds generation 1, and generation 2"):
        copy.follow()
    with pytest.raises(PublicationGoneError):
        add_text(tmp_path / "a", "On Lakes")
    assert len(paper_ids(tmp_path / "a")) == 2
    assert copy.fetch(NoProgress()) is not None
    assert len(paper_ids(tmp_path / "a")) == 1


def test_who_waits_for_the_lease_is_told_who_goes_first(tmp_path: Path, url: str) -> None:
    store = open_objects(url)
    times = LeaseTimes(lease_seconds=60, wait_seconds=0)
    with hold_lease(store), pytest.raises(BuildInProgressError), hold_lease(store, times):
        raise AssertionError("two have the lease")
    with hold_lease(store, times):
        pass


@pytest.mark.promise("Q12")
def test_a_lease_that_is_not_renewed_passes_on_and_its_holder_publishes_nothing(
    tmp_path: Path, url: str
) -> None:
    make_copy(tmp_path / "a", url)
    add_text(tmp_path / "a", "On Ships")
    slow = PublishedFolder(tmp_path / "a", open_objects(url))
    store = open_objects(url)
    with pytest.raises(ChangeNotPublishedError), slow.changing():
        before = read_manifest(tmp_path / "a")
        # Somebody who saw the lease unchanged for long enough takes it.
        found = store.read_register(LEASE)
        assert found is not None
        store.swap_register(LEASE, b'{"state":"held","token":"other"}', found)
        manifest = read_manifest(tmp_path / "a")
        assert manifest is not None
        from dataclasses import replace

        from carrel.stores.corpus.manifest import write_manifest

        write_manifest(tmp_path / "a", replace(manifest, generation=99))
    assert read_manifest(tmp_path / "a") == before
    head = read_head(store)
    assert head is not None and head.generation == 1


@pytest.mark.promise("Q12")
def test_an_addition_that_cannot_be_published_is_taken_back(
    tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = make_copy(tmp_path / "a", url)
    add_text(tmp_path / "a", "On Ships")
    before = paper_ids(tmp_path / "a")

    class FullStore(FolderObjects):
        """A store that takes nothing new any more."""

        def write(self, key: str, content: bytes) -> None:
            if key.startswith("catalogues/"):
                raise ObjectStoreError(self.url, "no space left")
            super().write(key, content)

    full = PublishedFolder(tmp_path / "a", FullStore(tmp_path / "store"))
    with monkeypatch.context() as patch:
        patch.setattr("carrel.wiring.papers_published.open_published", lambda *_: full)
        with pytest.raises(ObjectStoreError, match="no space left"):
            add_text(tmp_path / "a", "On Ice")
    assert paper_ids(tmp_path / "a") == before
    assert copy.note() == read_note(tmp_path / "a")
    assert add_text(tmp_path / "a", "On Ice").is_new
    assert len(paper_ids(tmp_path / "a")) == 2


def test_a_file_that_is_no_paper_leaves_no_trace(tmp_path: Path, url: str) -> None:
    copy = make_copy(tmp_path / "a", url)
    for expected in (0, 1):
        file = PaperInboxFolder(tmp_path / "a" / "added").put(b'{"a": 1}', ".json")
        with pytest.raises(PaperNotAddedError):
            add_paper_file(tmp_path / "a", file)
        note = copy.note()
        assert note is not None and note.generation == expected and not note.is_changing
        assert len(paper_ids(tmp_path / "a")) == expected
        if not expected:
            add_text(tmp_path / "a", "On Ships")


# What is published arrives.


@pytest.mark.promise("Q12")
def test_only_what_is_missing_is_uploaded_and_fetched(tmp_path: Path, url: str) -> None:
    build_here(tmp_path / "own", tmp_path / "sources", ["On Ships", "On Ice"])
    own = PublishedFolder(tmp_path / "own", open_objects(url))
    first = own.publish(NoProgress())
    assert first is not None and first.catalogue.manifest.papers == 2
    assert own.publish(NoProgress()) is None
    add_text(tmp_path / "own", "On Rivers")
    second = own.publish(NoProgress())
    assert second is not None and second.tally.objects < first.tally.objects + 3
    assert len(object_files(tmp_path, PACKS)) == 2
    reader = PublishedFolder(tmp_path / "reader", open_objects(url))
    fetched = reader.fetch(NoProgress())
    assert fetched is not None and (fetched.papers, fetched.segments) == (3, 2)
    assert paper_ids(tmp_path / "reader") == paper_ids(tmp_path / "own")
    again = reader.fetch(NoProgress())
    assert again is not None and again.segments == 0
    for entry in second.catalogue.manifest.segments:
        copy = segment_folder(tmp_path / "reader", entry.name)
        assert describe_pack(copy) == second.catalogue.packs[entry.name]


@pytest.mark.promise("Q12")
def test_a_killed_publication_goes_on_with_what_it_uploaded(tmp_path: Path, url: str) -> None:
    build_here(tmp_path / "own", tmp_path / "sources", ["On Ships"])

    class DyingStore(FolderObjects):
        """A store whose line is cut before the pointer is swapped."""

        def swap_register(self, name, content, expected):  # type: ignore[no-untyped-def]
            if name == "published":
                raise ObjectStoreError(self.url, "cut")
            return super().swap_register(name, content, expected)

    with pytest.raises(ObjectStoreError, match="cut"):
        PublishedFolder(tmp_path / "own", DyingStore(tmp_path / "store")).publish(NoProgress())
    assert read_head(open_objects(url)) is None
    done = PublishedFolder(tmp_path / "own", open_objects(url)).publish(NoProgress())
    assert done is not None
    # The catalogue has a new name; everything else is there already.
    assert done.tally.objects == 0 and done.tally.reused >= 2


def test_a_damaged_copy_is_mended_by_a_fetch_that_checks(tmp_path: Path, url: str) -> None:
    make_copy(tmp_path / "a", url)
    add_text(tmp_path / "a", "On Ships")
    reader = make_copy(tmp_path / "b", url)
    reader.follow()
    manifest = read_manifest(tmp_path / "b")
    assert manifest is not None
    records = segment_folder(tmp_path / "b", manifest.segments[0].name) / "records.db"
    records.chmod(0o600)
    records.write_bytes(b"x" * records.stat().st_size)
    whole = reader.fetch(NoProgress(), checks=True)
    assert whole is not None and whole.segments == 1
    assert paper_ids(tmp_path / "b") == paper_ids(tmp_path / "a")


@pytest.mark.promise("Q12")
def test_servers_take_turns_and_each_goes_on_from_the_others_work(tmp_path: Path, url: str) -> None:
    for name in ("a", "b"):
        make_copy(tmp_path / name, url)
    added = {add_text(tmp_path / "ab"[at % 2], f"Paper {at}").paper_id for at in range(6)}
    assert paper_ids(tmp_path / "b") == added
    again = add_text(tmp_path / "a", "Paper 1")
    assert not again.is_new and again.paper_id in added
    wanted = {"action": "edit", "paper_id": again.paper_id, "title": "Another Title"}
    correct = EditPaper.model_validate(wanted)
    correct_paper(tmp_path / "b", correct, "ann")
    history = tell_history(tmp_path / "a", PaperHistoryOf(paper_id=again.paper_id))
    assert [each.who for each in history.decisions] == ["ann"]
    assert history.title == "Another Title"
    gone = remove_paper(tmp_path / "a", again.paper_id).paper_id
    make_copy(tmp_path / "c", url).follow()
    assert paper_ids(tmp_path / "c") == added - {gone}


@pytest.mark.promise("Q12")
def test_a_server_that_changed_nothing_yet_corrects_and_tells_what_others_added(
    tmp_path: Path, url: str
) -> None:
    make_copy(tmp_path / "a", url)
    paper_id = add_text(tmp_path / "a", "Paper").paper_id
    make_copy(tmp_path / "b", url).follow()
    history = tell_history(tmp_path / "b", PaperHistoryOf(paper_id=paper_id))
    assert history.title == "Paper" and len(history.records) == 1
    make_copy(tmp_path / "c", url).follow()
    wanted = {"action": "edit", "paper_id": paper_id, "title": "Another Title"}
    correct_paper(tmp_path / "c", EditPaper.model_validate(wanted), "ann")
    history = tell_history(tmp_path / "a", PaperHistoryOf(paper_id=paper_id))
    assert history.title == "Another Title"


@pytest.mark.promise("Q12")
def test_what_was_added_and_removed_at_one_server_stays_so_when_another_home_builds(
    tmp_path: Path, url: str
) -> None:
    # Texts without authors and year, which nothing but their file holds together.
    def add_bare(name: str, title: str) -> PaperAdded:
        content = f"# {title}\n\nSeals sleep on rocks. They wake up when it rains.\n".encode()
        file = PaperInboxFolder(tmp_path / name / "added").put(content, ".md")
        return add_paper_file(tmp_path / name, file)

    make_copy(tmp_path / "a", url)
    kept, removed = add_bare("a", "Seals").paper_id, add_bare("a", "Otters").paper_id
    remove_paper(tmp_path / "a", removed)
    built = tmp_path / "sources" / "whale.md"
    built.parent.mkdir()
    built.write_bytes(paper_text("Whale"))
    for name in ("b", "c", "a"):
        make_copy(tmp_path / name, url)
        build_papers([built.parent], tmp_path / name)
        ids = paper_ids(tmp_path / name)
        assert kept in ids and removed not in ids and len(ids) == 2
    make_copy(tmp_path / "d", url)
    again = add_bare("d", "Seals")
    assert not again.is_new and again.paper_id == kept
    assert len(paper_ids(tmp_path / "d")) == 2


@pytest.mark.promise("Q12")
def test_of_papers_that_servers_add_at_the_same_time_none_is_lost(tmp_path: Path, url: str) -> None:
    names = ("a", "b", "c")
    for name in names:
        make_copy(tmp_path / name, url)
    start = threading.Barrier(len(names))

    def add_three(name: str) -> set[str]:
        start.wait(60)
        return {add_text(tmp_path / name, f"Paper {name}{at}").paper_id for at in range(3)}

    with ThreadPoolExecutor(len(names)) as hands:
        added = set().union(*hands.map(add_three, names))
    assert len(added) == 9
    reader = make_copy(tmp_path / "reader", url)
    reader.follow()
    assert paper_ids(tmp_path / "reader") == added
    head = read_head(open_objects(url))
    assert head is not None and head.generation == 9


@pytest.mark.promise("Q12")
def test_a_change_that_a_crash_left_unpublished_is_undone_by_the_next_look(
    tmp_path: Path, url: str
) -> None:
    copy = make_copy(tmp_path / "a", url)
    add_text(tmp_path / "a", "On Ships")
    before = paper_ids(tmp_path / "a")

    class Killed(BaseException):
        """Stands for the end of the process: nothing is cleaned up after it."""

    class DeadFolder(PublishedFolder):
        def _publish_change(self, *_: object) -> None:
            raise Killed

        def _take_back(self, *_: object) -> None:
            return None

    dead = DeadFolder(tmp_path / "a", open_objects(url))
    file = PaperInboxFolder(tmp_path / "a" / "added").put(paper_text("On Ice"), ".md")
    from carrel.wiring import papers_published

    usual = papers_published.open_published
    papers_published.open_published = lambda *_: dead
    try:
        with pytest.raises(Killed):
            add_paper_file(tmp_path / "a", file)
    finally:
        papers_published.open_published = usual
    assert len(paper_ids(tmp_path / "a")) == 2
    copy.follow()
    assert paper_ids(tmp_path / "a") == before
    assert add_text(tmp_path / "a", "On Ice").is_new


@pytest.mark.promise("Q12")
def test_a_store_that_says_nothing_is_told_of_before_its_look_fails(
    tmp_path: Path, url: str
) -> None:
    make_copy(tmp_path / "a", url)
    add_text(tmp_path / "a", "Paper")
    now = [1000.0]
    follower = CorpusFollower(make_copy(tmp_path / "b", url), 10.0, clock=lambda: now[0])
    assert follower.step()
    health = asyncio.run(follower.health())
    assert health.is_well and health.note == "generation 1"
    now[0] += 60
    health = asyncio.run(follower.health())
    assert health.is_well and health.note == "generation 1, corpus_not_followed"
    assert "for 60 s" in health.says
    assert follower.step()
    assert asyncio.run(follower.health()).note == "generation 1"


# Care.


def test_objects_that_nobody_needs_are_swept_after_their_grace(tmp_path: Path, url: str) -> None:
    copy = make_copy(tmp_path / "a", url)
    for at in range(12):
        add_text(tmp_path / "a", f"Paper {at}")
    assert copy.sweep_store() == 0
    every = len(object_files(tmp_path, PACKS))
    assert copy.sweep_store(grace_seconds=-1) > 0
    catalogue = read_catalogue(copy.store, _head(copy))
    kept = {path.name for path in object_files(tmp_path, PACKS)}
    assert kept == {pack.sha256 for pack in catalogue.packs.values()} and len(kept) < every
    reader = make_copy(tmp_path / "b", url)
    reader.follow()
    assert len(paper_ids(tmp_path / "b")) == 12
    assert add_text(tmp_path / "b", "Paper 0").is_new is False
    assert add_text(tmp_path / "b", "Paper 12").is_new


def test_segments_are_merged_where_there_are_too_many(
    tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("carrel.stores.corpus.compaction._MOST_SEGMENTS", 3)
    monkeypatch.setattr("carrel.stores.corpus.compaction._CHEAP_PAPERS", 0)
    monkeypatch.setattr("carrel.stores.corpus.compaction._BEARABLE_PAPERS", 0)
    copy = make_copy(tmp_path / "a", url)
    for at in range(5):
        add_text(tmp_path / "a", f"Paper {at}")
    before = _head(copy).generation
    assert len(read_catalogue(copy.store, _head(copy)).manifest.segments) == 5
    compact_a_little(tmp_path / "a")
    merged = read_catalogue(copy.store, _head(copy))
    assert merged.generation == before + 1 and len(merged.manifest.segments) == 1
    compact_a_little(tmp_path / "a")
    assert _head(copy).generation == before + 1
    reader = make_copy(tmp_path / "b", url)
    reader.follow()
    assert len(paper_ids(tmp_path / "b")) == 5


def test_the_state_of_builds_is_published_whole_again_when_its_changes_are_long(
    tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("carrel.stores.corpus.published.workshop._MOST_CHANGES", 2)
    for name in ("a", "b"):
        make_copy(tmp_path / name, url)
    lengths = []
    for at in range(6):
        add_text(tmp_path / "ab"[at % 2], f"Paper {at}")
        chain = read_catalogue(open_objects(url), _head(make_copy(tmp_path / "a", url))).workshop
        assert chain is not None
        lengths.append(len(chain.changes))
    assert lengths == [1, 2, 3, 1, 2, 3]
    make_copy(tmp_path / "c", url)
    assert add_text(tmp_path / "c", "Paper 2").is_new is False


def _head(copy: PublishedFolder):  # type: ignore[no-untyped-def]
    head = read_head(copy.store)
    assert head is not None
    return head


def test_errors_of_the_store_are_errors_that_callers_can_act_on() -> None:
    for error in (CorpusMovedOnError("s3://b", 2, None), ChangeNotPublishedError()):
        assert isinstance(error, CarrelError) and error.next_step


@pytest.mark.promise("Q12")
def test_a_power_cut_after_a_fetch_takes_nothing_that_changes_go_on_from(
    tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_copy(tmp_path / "one", url)
    add_text(tmp_path / "one", "On Ships")
    add_text(tmp_path / "one", "On Ice")
    other = make_copy(tmp_path / "other", url)
    synced: set[int] = set()
    sync = os.fsync

    def remember_and_sync(descriptor: int) -> None:
        synced.add(os.fstat(descriptor).st_ino)
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", remember_and_sync)
    with other.reading_workshop():
        pass
    monkeypatch.undo()
    # What nobody waited for may be empty after a power cut, though notes of it are there.
    for file in (tmp_path / "other").rglob("state.db"):
        if file.stat().st_ino not in synced:
            os.truncate(file, 0)
    add_text(tmp_path / "other", "On Rivers")
    assert len(paper_ids(tmp_path / "other")) == 3
    one = PublishedFolder(tmp_path / "one", open_objects(url))
    assert one.follow(10) is not None
    assert paper_ids(tmp_path / "one") == paper_ids(tmp_path / "other")
