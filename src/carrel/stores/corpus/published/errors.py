"""What can go wrong with a published corpus."""

from __future__ import annotations

from carrel.core.errors import CarrelError, ConflictError


class CorpusMovedOnError(ConflictError):
    """Somebody else published since this folder was brought up to date."""

    def __init__(self, url: str, published: int, built_upon: int | None) -> None:
        upon = (
            "this folder was not built upon any of its generations"
            if built_upon is None
            else f"this folder was built upon generation {built_upon}"
        )
        super().__init__(
            f"{url} is at generation {published}, and {upon}",
            next_step="Fetch it with carrel papers fetch and add your papers there, or publish "
            "this folder in its place with carrel papers publish --replace; nothing was "
            "published.",
            details={"published": published, "built_upon": built_upon},
        )


class ChangeNotPublishedError(ConflictError):
    """Another server took the lease while this one changed the corpus."""

    is_retryable = True

    def __init__(self) -> None:
        super().__init__(
            "Another server changed the corpus meanwhile, and this change was taken back",
            next_step="Do it again; nothing was changed.",
        )


class PublicationGoneError(ConflictError):
    """The store has nothing, or an older generation, where a newer one was fetched before."""

    def __init__(self, url: str, had: int, found: int | None) -> None:
        now = "nothing" if found is None else f"generation {found}"
        super().__init__(
            f"{url} holds {now}, and generation {had} was fetched from it before",
            next_step="Check papers.corpus_url. If the store was restored from an older copy, "
            "carrel papers fetch takes what is there now.",
            details={"fetched": had, "published": found},
        )


class NoSegmentsError(CarrelError):
    """The folder holds no corpus that could be published."""

    code = "invalid_input"

    def __init__(self, place: str) -> None:
        super().__init__(
            f"There is no corpus of Carrel's own in {place}",
            next_step="Build one with carrel papers build FOLDER, then publish it.",
        )


class OwnCorpusError(ConflictError):
    """The folder holds a corpus that was built there, which a fetch would replace."""

    def __init__(self, place: str) -> None:
        super().__init__(
            f"{place} holds a corpus that was built there",
            next_step="Fetch into another folder with --into FOLDER; nothing was changed.",
        )


class NoCopyToChangeError(ConflictError):
    """Work that takes days is not done under the lease of a shared corpus."""

    def __init__(self) -> None:
        super().__init__(
            "A dump is not loaded into a corpus that several servers share",
            next_step="Load it into a folder of its own (--home FOLDER) without papers.corpus_url, "
            "then publish that with carrel papers publish --to URL.",
        )


class CopyIsPublishedError(ConflictError):
    """The folder is a copy of what is published: its changes are published as they are made."""

    def __init__(self, url: str) -> None:
        super().__init__(
            f"This corpus is a copy of {url}, and every change of it is published at once",
            next_step="Name the folder that another corpus was built in with --snapshot FOLDER.",
        )
