"""Random papers, written both as a snapshot with its static folder and as segments."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from carrel.rooms.papers.building.paper_keys import make_paper_id, paper_keys
from carrel.rooms.papers.building.paper_records import (
    BibtexEntry,
    FiledSummary,
    Heading,
    PaperRecord,
    mark_guesses,
)
from carrel.rooms.papers.building.papers import (
    PaperVersion,
    PublishedPaper,
    collect_summaries,
)
from carrel.stores.corpus.publication import Publication, SegmentedCorpus, WorkshopAssets
from carrel.stores.sqlite.papers import SNAPSHOT_NAME, STATIC_NAME
from carrel.stores.sqlite.papers.snapshot_writer import SqliteSnapshotWriter
from carrel.stores.static_folder import PaperStaticFolder, write_whole

WORDS = (
    "whale",
    "krill",
    "protein",
    "receptor",
    "kinase",
    "neuron",
    "cortex",
    "memory",
    "attention",
    "transformer",
    "plasma",
    "membrane",
    "folding",
    "signal",
    "Müller",
    "Zoë",
    "深度学习",
    "激光",
    "Нейронные",
    "Ελληνικά",
    "pre-trained",
    "model",
    "of",
    "the",
    "deep",
    "sea",
    "learning",
    "network",
    "graph",
    "theory",
    "field",
    "quantum",
)
NAMES = ("Ann Lee", "Jörg Müller", "王伟", "Zoë Ångström", "Bo Sample", "Ada Example", "I. Петров")
KEYWORDS = (
    "Deep Learning",
    "deep sea",
    "learning",
    "protein folding",
    "深度学习",
    "Graphs",
    "graph",
)
TAGS = ("survey", "method", "deep learning", "to read")
VENUES = ("Nature", "eLife", "NeurIPS", None, "自动化学报")
PLACES = ("Google Brain", "ETH Zürich", "University of Tokyo")


@dataclass
class Texts:
    """The texts of papers by the name of a static folder."""

    known: dict[str, bytes] = field(default_factory=dict)

    def read(self, name: str) -> bytes:
        if name not in self.known:
            raise FileNotFoundError(name)
        return self.known[name]

    def keep(self, where: str, text: str) -> str:
        sha256 = hashlib.sha256(text.encode()).hexdigest()
        self.known[f"{where}/{sha256}.md"] = text.encode()
        return sha256


def random_paper(
    chance: random.Random, texts: Texts, number: int, *, edition: int = 0
) -> PublishedPaper:
    """Paper `number`; its `edition` changes everything but its identity."""

    def some(choices: Sequence[str], most: int) -> tuple[str, ...]:
        return tuple(chance.sample(choices, chance.randint(0, min(most, len(choices)))))

    def sentence(length: int) -> str:
        return " ".join(chance.choice(WORDS) for _ in range(length)).capitalize() + "."

    doi = f"10.1000/x{number}" if chance.random() < 0.7 else None
    parts = ("# Title", "## Methods", sentence(60), f"## Results {edition}", sentence(90))
    source = "\n\n".join(parts) if chance.random() < 0.5 else None
    authors = some(NAMES, 4)
    record = PaperRecord(
        title=f"{sentence(5)[:-1]} {number}",
        authors=authors,
        institutions=some(PLACES, 2),
        venue=chance.choice(VENUES),
        publication_date=chance.choice(("2017", "2019-03", "2021-11-05", "2017-06", None)),
        abstract=sentence(30) if chance.random() < 0.9 else None,
        keywords=some(KEYWORDS, 4),
        tags=some(TAGS, 2),
        doi=doi,
        arxiv_id=f"2101.{number:05}" if chance.random() < 0.3 else None,
        citation_key=f"key{number}",
        bibtex=BibtexEntry(f"@article{{key{number}, title={{T}}}}", f"key{number}", "article")
        if chance.random() < 0.4
        else None,
        language="en",
        headings=(Heading(2, "Methods"), Heading(2, f"Results {edition}")) if source else (),
        summaries=(FiledSummary("deep_read", f"Read deeply: {sentence(12)}", model="a model"),)
        if chance.random() < 0.3
        else (),
        markdown_sha256=texts.keep("md", source) if source else None,
        translations=(("zh", texts.keep("md_translate/zh", f"翻译 {sentence(10)}")),)
        if chance.random() < 0.2
        else (),
        origins=mark_guesses("title") if chance.random() < 0.2 else (),
    )
    return PublishedPaper(
        make_paper_id(f"bib:key{number}"),
        number,
        paper_keys(record),
        record,
        collect_summaries(record),
    )


def random_papers(seed: int, count: int, texts: Texts) -> list[PublishedPaper]:
    chance = random.Random(seed)
    return [random_paper(chance, texts, number) for number in range(1, count + 1)]


def write_snapshot(folder: Path, papers: Sequence[PublishedPaper], texts: Texts) -> Path:
    """`paper_snapshot.db` and its static folder, as our own writer makes them."""
    static = folder / STATIC_NAME
    for name, content in texts.known.items():
        write_whole(static / name, content)
    writer = SqliteSnapshotWriter(
        folder, folder / "workshop", lambda name: texts.read(name).decode(), has_edges=True
    )
    with PaperStaticFolder(static) as files, writer.draft(from_current=False) as draft:
        files.write(papers)
        draft.add(papers)
        draft.finish("0" * 32, "2026-01-01T00:00:00+00:00")
        files.flush()
    writer.publish()
    return folder / SNAPSHOT_NAME


class CorpusOnDisk:
    """A corpus folder, changed as a build changes it."""

    def __init__(self, folder: Path, texts: Texts) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.texts = texts
        staged, earlier = folder / "staged", folder / "earlier"
        self._staged = staged
        self._corpus = SegmentedCorpus(folder, WorkshopAssets(folder, staged, earlier))
        self._rows: dict[str, int] = {}
        self._papers: dict[str, PublishedPaper] = {}
        self._builds = 0

    @property
    def papers(self) -> list[PublishedPaper]:
        """What the corpus holds, in the order of first arrival."""
        return sorted(self._papers.values(), key=lambda paper: paper.paper_index)

    def put(self, papers: Iterable[PublishedPaper]) -> None:
        """Add papers or new versions of them, as one segment."""
        for name, content in self.texts.known.items():
            write_whole(self._staged / name, content)
        publication = self._corpus.begin(0, 0)
        versions = [PaperVersion(publication.take_row(), paper) for paper in papers]
        for each in versions:
            paper_id = each.paper.paper_id
            if paper_id in self._rows:
                publication.end_row(self._rows[paper_id])
            self._rows[paper_id], self._papers[paper_id] = each.row, each.paper
        publication.write(lambda: versions, len(versions))
        self._publish(publication)

    def remove(self, paper_ids: Iterable[str]) -> None:
        publication = self._corpus.begin(0, 0)
        for paper_id in paper_ids:
            publication.end_row(self._rows.pop(paper_id))
            del self._papers[paper_id]
        self._publish(publication)

    def compact(self) -> None:
        self._corpus.compact(lambda done: None)

    def _publish(self, publication: Publication) -> None:
        self._builds += 1
        self._corpus.publish(publication, f"b{self._builds}", "2026-01-01T00:00:00+00:00")
