"""Works that look like others: their versions, parts, notices, replies and copies."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace

from benchmarks.literature.true_works import TrueWork, complete_ids
from carrel.libraries.literature.records import Venue, WorkIds, WorkRecord

_SUBTITLES = ("a case study", "evidence from simulations", "new results")
_GENERIC_TITLES = (
    "Editorial", "Introduction", "Book Reviews", "Preface", "Reply", "Letter to the Editor",
)  # fmt: skip


def add_relatives(works: Sequence[TrueWork], seed: int) -> list[TrueWork]:
    """The works and, for some, others that look like them: versions, parts, notices and copies."""
    rng = random.Random(seed)
    found: list[TrueWork] = []
    for each in works:
        found.append(each)
        if not each.work.authors or not each.work.year:
            continue
        for relation, (share, make) in _RELATIVES.items():
            if rng.random() < share:
                made = make(each.work, rng)
                name = f"{each.name}+{relation}"
                found.append(TrueWork(name, complete_ids(made, name, rng), relation))
    return found


def _new_doi(prefix: str, rng: random.Random) -> str:
    return f"{prefix}/{rng.randrange(10**6, 10**8)}"


def _shift(work: WorkRecord, years: int) -> str:
    return f"{(work.year or 2000) + years}{(work.issued or '')[4:]}"


def _make_preprint(work: WorkRecord, rng: random.Random) -> WorkRecord:
    """The preprint of an article, or the article of a preprint."""
    title = _change_title(work.title, rng) if rng.random() < 0.35 else work.title
    if work.kind == "preprint":
        return replace(
            work,
            ids=WorkIds(doi=_new_doi("10.1016/j.simulated", rng)),
            title=title,
            kind="article-journal",
            venue=Venue("Journal of Simulated Results", publisher="Elsevier BV"),
            volume=str(rng.randrange(1, 90)),
            pages=f"{rng.randrange(1, 900)}",
            issued=_shift(work, rng.choice((0, 1, 1))),
        )
    is_arxiv = rng.random() < 0.5
    number = f"{rng.randrange(10, 26)}{rng.randrange(1, 13):02d}.{rng.randrange(10**4, 10**5)}"
    return replace(
        work,
        ids=WorkIds(arxiv=number) if is_arxiv else WorkIds(doi=_new_doi("10.1101/2019.01.01", rng)),
        title=title,
        kind="preprint",
        venue=Venue("arXiv" if is_arxiv else "bioRxiv"),
        volume="",
        issue="",
        pages="",
        issued=_shift(work, rng.choice((0, -1, -1))),
        versions=(),
    )


def _change_title(title: str, rng: random.Random) -> str:
    """A title as it changes between preprint and article."""
    words = title.split()
    drawn = rng.random()
    if drawn < 0.4 and len(words) > 5:
        return " ".join(word for at, word in enumerate(words) if at != rng.randrange(1, len(words)))
    if drawn < 0.7:
        return f"{title}: {rng.choice(_SUBTITLES)}"
    return f"{rng.choice(('On', 'Towards', 'Understanding'))} {title[:1].lower()}{title[1:]}"


def _sibling(work: WorkRecord, title: str, years: int, rng: random.Random) -> WorkRecord:
    """Another article of the same people in the same journal."""
    return replace(
        work,
        ids=WorkIds(doi=_new_doi((work.ids.doi or "10.5555/x").partition("/")[0], rng)),
        title=title,
        abstract="",
        issued=_shift(work, years),
        pages=str(rng.randrange(1, 999)),
        versions=(),
        kind="article-journal",
    )


def _make_part(work: WorkRecord, rng: random.Random) -> WorkRecord:
    mark = rng.choice((". Part II", ". Part III", " II", ": Part 2", " (3)"))
    return _sibling(work, f"{work.title.rstrip('.')}{mark}", rng.choice((0, 0, 1)), rng)


def _make_correction(work: WorkRecord, rng: random.Random) -> WorkRecord:
    mark = rng.choice(("Correction to: ", "Erratum: ", "Corrigendum to ", "Correction: "))
    return replace(_sibling(work, f"{mark}{work.title}", rng.choice((0, 1)), rng), kind="erratum")


def _make_second_correction(work: WorkRecord, rng: random.Random) -> WorkRecord:
    return replace(_sibling(work, f"Correction to: {work.title}", 0, rng), kind="erratum")


def _make_reply(work: WorkRecord, rng: random.Random) -> WorkRecord:
    return replace(_sibling(work, f"Reply to: {work.title}", 0, rng), kind="letter")


def _make_generic(work: WorkRecord, rng: random.Random) -> WorkRecord:
    return _sibling(work, rng.choice(_GENERIC_TITLES), rng.choice((0, 0, 1)), rng)


def _make_copy(work: WorkRecord, rng: random.Random) -> WorkRecord:
    return replace(
        _sibling(work, work.title, 0, rng),
        ids=WorkIds(doi=_new_doi("10.65215", rng)),
        issued="2025-03-01",
        venue=Venue("Research Archive", publisher="Open Archive"),
        volume="1",
    )


def _make_unknown_copy(work: WorkRecord, rng: random.Random) -> WorkRecord:
    return replace(_make_copy(work, rng), ids=WorkIds(doi=_new_doi("10.99871", rng)))


def _make_conference(work: WorkRecord, rng: random.Random) -> WorkRecord:
    """A paper at a conference under the title of the later article."""
    return replace(
        _sibling(work, work.title, -1, rng),
        ids=WorkIds(doi=_new_doi("10.1109/simulated", rng)),
        kind="paper-conference",
        venue=Venue("Proceedings of the Simulated Conference", publisher="IEEE"),
        volume="",
        issue="",
    )


_RELATIVES: dict[str, tuple[float, Callable[[WorkRecord, random.Random], WorkRecord]]] = {
    "other version": (0.12, _make_preprint),
    "part": (0.04, _make_part),
    "correction": (0.03, _make_correction),
    "second correction": (0.01, _make_second_correction),
    "reply": (0.02, _make_reply),
    "generic": (0.03, _make_generic),
    "known copy": (0.015, _make_copy),
    "unknown copy": (0.015, _make_unknown_copy),
    "conference": (0.02, _make_conference),
}
