"""A corpus in an object store: its copy on this machine, what follows it and what changes it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from carrel.core.errors import InvalidInputError
from carrel.core.progress import Progress
from carrel.settings import Settings
from carrel.stores.corpus.published.errors import CopyIsPublishedError
from carrel.stores.corpus.published.note import read_note
from carrel.stores.sqlite.papers import WORKSHOP_NAME

if TYPE_CHECKING:
    from carrel.rooms.papers.local_operations import Publication
    from carrel.stores.corpus.published.folder import PublishedFolder
    from carrel.stores.corpus.published.follower import CorpusFollower

# How long a command waits for another process that fetches into the same copy.
CATCH_UP_SECONDS = 60.0


def copy_folder(settings: Settings) -> Path | None:
    """Where this machine keeps its copy of the published corpus; None where none is named."""
    url = settings.papers.corpus_url
    if url is None:
        return None
    name = hashlib.sha256(url.encode()).hexdigest()[:16]
    return (settings.cache or settings.home / "cache").absolute() / "papers" / "published" / name


def open_follower(settings: Settings) -> CorpusFollower | None:
    """What keeps the copy in step with `papers.corpus_url`; nothing is asked or made yet."""
    into, url = copy_folder(settings), settings.papers.corpus_url
    if into is None or url is None:
        return None
    from carrel.stores.corpus.published.follower import CorpusFollower

    folder = open_published(into, url)

    def care() -> None:
        # Left to whoever changed the corpus last: others would fetch all of the workshop for it.
        if not folder.has_newest_workshop():
            return
        from carrel.wiring.papers_adding import open_upload_store
        from carrel.wiring.papers_build import compact_a_little

        compact_a_little(into)
        folder.sweep_store()
        open_upload_store(settings).sweep()

    return CorpusFollower(folder, settings.papers.corpus_every_seconds, care)


def prepare_copy(settings: Settings) -> None:
    """Make the copy's folder one that follows `papers.corpus_url`; nothing is fetched."""
    into, url = copy_folder(settings), settings.papers.corpus_url
    if into is not None and url is not None:
        open_published(into, url).become_copy()


def follow_published(settings: Settings, corpus: Path) -> None:
    """Fetch what was published since, where `corpus` is the copy that the settings mean.

    Raises ObjectStoreError, so that a command never works on papers of before and says nothing.
    """
    if settings.papers.corpus_url is not None and corpus.absolute() == copy_folder(settings):
        folder = open_published(corpus, settings.papers.corpus_url)
        folder.become_copy()
        folder.follow(CATCH_UP_SECONDS)


def open_published(into: Path, url: str) -> PublishedFolder:
    """A corpus folder beside the object store at an address."""
    from carrel.stores.corpus.published.folder import PublishedFolder
    from carrel.stores.objects.addresses import open_objects

    return PublishedFolder(into, open_objects(url))


def find_copy(into: Path) -> PublishedFolder | None:
    """The published corpus that a folder is a copy of; None where the folder has its own."""
    note = read_note(into)
    return open_published(into, note.url) if note is not None and note.is_copy else None


@contextmanager
def published_change(into: Path, *, is_reading: bool = False) -> Iterator[None]:
    """Work on a corpus; in a copy, the change is published before the block is left.

    With `is_reading` only the state of builds is brought up to date.
    """
    copy = find_copy(into)
    if copy is None:
        yield
    elif is_reading:
        with copy.reading_workshop():
            yield
    else:
        with copy.changing():
            yield


def publish_papers(
    settings: Settings, corpus: Path, url: str | None, replaces: bool, progress: Progress
) -> Publication:
    """Publishes the corpus of a folder, which nobody changes meanwhile."""
    from carrel.rooms.papers.building.service import BUILD_WAIT_SECONDS
    from carrel.rooms.papers.local_operations import Publication
    from carrel.stores.sqlite.papers.build_locks import BuildLockFile, wait_for_other_additions

    folder = open_published(corpus, _address(settings, url))
    if folder.is_copy():
        raise CopyIsPublishedError(folder.store.url)
    workshop = corpus / WORKSHOP_NAME
    with ExitStack() as held:
        if workshop.is_dir():
            held.enter_context(wait_for_other_additions(workshop))
            held.enter_context(BuildLockFile(workshop / "lock.db").held(BUILD_WAIT_SECONDS))
        published = folder.publish(progress, replaces=replaces)
    if published is None:
        note = folder.note()
        assert note is not None
        return Publication(folder.store.url, note.generation, 0, 0, 0, is_changed=False)
    tally, catalogue = published.tally, published.catalogue
    return Publication(
        folder.store.url,
        catalogue.generation,
        catalogue.manifest.papers,
        tally.objects,
        tally.bytes,
        is_changed=True,
    )


def fetch_papers(
    settings: Settings, into: Path | None, url: str | None, checks: bool, progress: Progress
) -> Publication | None:
    """Fetches what is published into a folder, or into the copy that the settings mean."""
    from carrel.rooms.papers.local_operations import Publication

    address = _address(settings, url)
    own = copy_folder(settings) if url in {None, settings.papers.corpus_url} else None
    place = into or own
    if place is None:
        raise InvalidInputError(
            "It is not said where to put the corpus",
            next_step="Name a folder with --into FOLDER, or set papers.corpus_url.",
        )
    folder = open_published(place, address)
    fetched = folder.fetch(progress, checks=checks)
    if fetched is None:
        return None
    return Publication(
        folder.store.url,
        fetched.generation,
        fetched.papers,
        fetched.segments,
        fetched.bytes,
        is_changed=fetched.is_changed,
    )


def _address(settings: Settings, url: str | None) -> str:
    chosen = url or settings.papers.corpus_url
    if chosen is None:
        raise InvalidInputError(
            "It is not said where the corpus is published",
            next_step="Name s3://BUCKET/PREFIX, gs://BUCKET/PREFIX or file:///FOLDER, or set "
            "papers.corpus_url.",
        )
    return chosen
