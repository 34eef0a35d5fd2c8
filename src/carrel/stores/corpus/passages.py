"""The passages of a paper: of its text and translations, or of its abstract where it has none."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from carrel.libraries.text.passages import LONG_WHOLE, Passage, cut_passages, passage_ids
from carrel.rooms.papers.building.paper_records import PaperRecord

ReadText = Callable[[str], str]
# What stands before the mark of a passage in its id; segments keep only the mark.
ID_JOINT = "~"


@dataclass(frozen=True, slots=True)
class PaperPassage:
    """A passage, the mark that ends its id, and the name of its text (empty for the abstract)."""

    passage: Passage
    number: int
    mark: str
    asset: str
    text: str


def abstract_text(record: PaperRecord) -> str:
    """The text that passages of a paper without full text are cut from."""
    return record.abstract or record.title


def text_names(record: PaperRecord) -> list[str]:
    """The names of the texts that passages are cut from."""
    return [
        *([f"md/{record.markdown_sha256}.md"] if record.markdown_sha256 else []),
        *(f"md_translate/{language}/{sha256}.md" for language, sha256 in record.translations),
    ]


def paper_passages(record: PaperRecord, read_text: ReadText) -> Iterator[PaperPassage]:
    """All passages of a paper, numbered through its texts; never none."""
    texts = [(name, read_text(name)) for name in text_names(record)]
    if not record.markdown_sha256 or not texts[0][1].strip():
        texts.append(("", abstract_text(record)))
    taken: dict[str, int] = {}
    number = 0
    for name, text in texts:
        passages = cut_passages(text) if name else _abstract_passages(text)
        for passage, passage_id in zip(passages, passage_ids("", text, passages), strict=True):
            number += 1
            mark = _distinct(passage_id.removeprefix(ID_JOINT), taken)
            cut = text[passage.start : passage.end]
            yield PaperPassage(passage, number, mark, name, cut)


def _abstract_passages(text: str) -> list[Passage]:
    """One passage, unless the abstract is as long as several."""
    return [Passage(1, (), None, 0, len(text))] if len(text) <= LONG_WHOLE else cut_passages(text)


def _distinct(mark: str, taken: dict[str, int]) -> str:
    """The mark, told apart from an equal passage of another text of the same paper."""
    plain = mark.partition(".")[0]
    taken[plain] = taken.get(plain, 0) + 1
    return plain if taken[plain] == 1 else f"{plain}.{taken[plain]}"
