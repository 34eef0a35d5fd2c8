"""What is searched and what is asked: judgements in BEIR layout, full texts, notes, libraries."""

from __future__ import annotations

import csv
import gzip
import json
import random
import re
import tarfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

QUESTIONS = Path(__file__).parent.parent / "questions"
LIBRARIES = ("covid19-review", "deep-review", "elife_refs")
DESK_LIBRARY = "elife_refs"
SEED = 15
KNOWN_ITEMS = 300
SHORT_QUERY_WORDS = 7
SENTENCE_WORDS = range(12, 41)


@dataclass(frozen=True, slots=True)
class Document:
    """Something that can be found, as every engine gets it."""

    name: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, and the names of what would be right."""

    text: str
    right: frozenset[str]


@dataclass(frozen=True, slots=True)
class Judged:
    """Documents, questions and judgements of a folder in BEIR layout."""

    documents: list[Document]
    questions: list[str]
    wanted: list[Mapping[str, int]]


def read_lines(folder: Path, name: str) -> Iterator[dict[str, object]]:
    for file in sorted(folder.glob(f"{name}*.jsonl*")):
        with (
            gzip.open(file, "rt", encoding="utf-8")
            if file.suffix == ".gz"
            else file.open(encoding="utf-8")
        ) as text:
            for line in text:
                if line.strip():
                    yield json.loads(line)


def read_judgements(folder: Path) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for file in sorted([*folder.glob("qrels*.tsv"), *folder.glob("qrels/*.tsv")]):
        with file.open(encoding="utf-8") as text:
            for row in csv.reader(text, delimiter="\t"):
                if len(row) == 3 and row[2].lstrip("-").isdigit() and int(row[2]) > 0:
                    found.setdefault(row[0], {})[row[1]] = int(row[2])
    return found


def read_beir(folder: Path) -> Judged:
    """corpus.jsonl[.gz], queries*.jsonl and qrels*.tsv of a folder."""
    documents = [
        Document(str(line["_id"]), str(line.get("title", "")), str(line["text"]))
        for line in read_lines(folder, "corpus")
    ]
    judged = read_judgements(folder)
    asked = {str(line["_id"]): str(line["text"]) for line in read_lines(folder, "queries")}
    names = [name for name in asked if name in judged]
    return Judged(documents, [asked[name] for name in names], [judged[name] for name in names])


def unpack(archive: Path, folder: Path) -> None:
    with tarfile.open(archive) as tar:
        tar.extractall(folder, filter="data")


def read_full_texts(folder: Path) -> list[Document]:
    """Markdown with front matter, one file a paper; the name is the file's."""
    documents = []
    for file in sorted(folder.glob("*.md")):
        head, body = split_front_matter(file.read_text(encoding="utf-8"))
        documents.append(Document(file.stem, str(head.get("title", "")), body))
    return documents


def split_front_matter(text: str) -> tuple[dict[str, object], str]:
    found = re.match(r"---\n(.*?)\n---\n?(.*)", text, re.DOTALL)
    if found is None:
        return {}, text
    try:
        head = yaml.safe_load(found[1])
    except yaml.YAMLError:
        return {}, text
    return (head if isinstance(head, dict) else {}), found[2].strip()


def read_notes(folder: Path) -> list[Document]:
    """Every Markdown file below the folder; the name is its path. A file without a body is kept
    by its description, as an import does.
    """
    documents = []
    for file in sorted(folder.rglob("*.md")):
        head, body = split_front_matter(file.read_text(encoding="utf-8"))
        title = str(head.get("title") or head.get("name") or file.stem)
        name = file.relative_to(folder).as_posix()
        documents.append(Document(name, title, body or str(head.get("description") or "")))
    return documents


def read_library(data: Path, names: Sequence[str]) -> list[dict[str, object]]:
    """The items of the named libraries together, each id once."""
    items: dict[str, dict[str, object]] = {}
    for name in names:
        path = data / "citations" / f"{name}_library.csl.json"
        for item in json.loads(path.read_text(encoding="utf-8")):
            items.setdefault(str(item["id"]), item)
    return list(items.values())


def describe_items(items: Sequence[Mapping[str, object]]) -> list[Document]:
    """References as other engines get them: the title, and everything else that is text."""
    return [
        Document(str(item["id"]), str(item.get("title", "")), " ".join(_texts(item)))
        for item in items
    ]


def _texts(value: object) -> Iterator[str]:
    match value:
        case dict():
            for key, part in value.items():
                if key not in {"id", "title"}:
                    yield from _texts(part)
        case list():
            for part in value:
                yield from _texts(part)
        case _:
            yield str(value)


def read_questions(name: str) -> list[dict[str, object]]:
    content = json.loads((QUESTIONS / f"{name}.json").read_text(encoding="utf-8"))
    return list(content["questions"])


def note_questions(half: str) -> list[Question]:
    return [
        Question(str(row["question"]), frozenset({str(row["note"])}))
        for row in read_questions(f"notes-{half}")
    ]


def reference_questions() -> list[Question]:
    return [
        Question(str(row["question"]), frozenset({str(row["item"])}))
        for row in read_questions("references")
    ]


def desk_questions() -> list[Question]:
    """The right things are named `room:id`."""
    questions = []
    for row in read_questions("desk"):
        right = row["right"]
        assert isinstance(right, list)
        names = frozenset(f"{thing['room']}:{thing['id']}" for thing in right)
        questions.append(Question(str(row["question"]), names))
    return questions


def known_items(documents: Sequence[Document]) -> tuple[list[Question], list[Question]]:
    """Sentences of the bodies by seed, and seven consecutive words of each; none that another
    document has too.
    """
    chance = random.Random(SEED)
    bodies = {document.name: list(_sentences(document.text)) for document in documents}
    seen = Counter(sentence for body in bodies.values() for sentence in set(body))
    names = sorted(name for name, body in bodies.items() if body)
    whole: dict[str, str] = {}
    while len(whole) < KNOWN_ITEMS:
        name = chance.choice(names)
        sentence = chance.choice(bodies[name])
        if seen[sentence] == 1:
            whole.setdefault(sentence, name)
    short = []
    for sentence, name in whole.items():
        words = sentence.split()
        start = chance.randrange(len(words) - SHORT_QUERY_WORDS + 1)
        text = " ".join(words[start : start + SHORT_QUERY_WORDS])
        short.append(Question(text, frozenset({name})))
    return [Question(text, frozenset({name})) for text, name in whole.items()], short


def _sentences(markdown: str) -> Iterator[str]:
    """Sentences of running text as they read when rendered: no headings, captions, tables,
    formulas, and nothing after the references begin.
    """
    for block in re.split(r"\n\s*\n", markdown):
        if re.match(r"#+\s*(references|bibliography|acknowledg)", block, re.IGNORECASE):
            return
        if block.startswith(("#", ">", "|", "!", "-", "*", "$")) or "$" in block:
            continue
        text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)|<[^>]+>|\*+", r"\1", block)
        for sentence in re.split(r"(?<=[.!?])\s+(?=[A-Z])", " ".join(text.split())):
            if len(sentence.split()) in SENTENCE_WORDS:
                yield sentence
