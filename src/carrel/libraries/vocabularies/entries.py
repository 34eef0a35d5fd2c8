"""Entries of a vocabulary, their places in a hierarchy, and the bounds of a file."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

MOST_ENTRIES = 1_000_000
MOST_BYTES = 1_000_000_000
"""Unpacked; the largest file in use (MeSH as XML) has about a third of it."""

MOST_NAME_CHARACTERS = 300
MOST_SYNONYMS = 200
MOST_PLACES = 6
MOST_DEPTH = 20


class VocabularyFileError(ValueError):
    """A file that is no vocabulary in a known format; the message says what was found."""


@dataclass(frozen=True)
class VocabularyEntry:
    """A term; `trees` are dotted positions, as in MeSH, `broader` the ids of terms above it."""

    id: str
    label: str
    synonyms: tuple[str, ...] = ()
    trees: tuple[str, ...] = ()
    broader: tuple[str, ...] = ()


@dataclass
class DraftEntry:
    """An entry while its file is read; names are kept by language."""

    id: str = ""
    labels: dict[str, str] = field(default_factory=dict)
    synonyms: list[tuple[str, str]] = field(default_factory=list)
    trees: list[str] = field(default_factory=list)
    broader: list[str] = field(default_factory=list)

    def add_label(self, text: str, language: str = "") -> None:
        """Take a preferred name; a second one of the same language is a synonym."""
        if language in self.labels:
            self.synonyms.append((language, text))
        else:
            self.labels[language] = text

    def finish(self) -> VocabularyEntry | None:
        """The entry with its English names, or all names where none is English; None if unnamed."""
        named = self.labels or dict(self.synonyms[:1])
        if not named:
            return None
        language = next((one for one in named if one.lower().startswith("en")), None)
        language = "" if language is None and "" in named else language
        label = named[language] if language is not None else next(iter(named.values()))
        others = (
            name
            for spoken, name in (*self.labels.items(), *self.synonyms)
            if language is None or spoken in {"", language} or spoken.lower().startswith("en")
        )
        synonyms = dict.fromkeys(" ".join(name.split()) for name in others)
        label = " ".join(label.split())
        synonyms.pop(label, None)
        return VocabularyEntry(
            self.id or label,
            label,
            tuple(name for name in synonyms if name)[:MOST_SYNONYMS],
            tuple(self.trees),
            tuple(self.broader),
        )


def check_entries(entries: Iterable[VocabularyEntry]) -> Iterator[VocabularyEntry]:
    """Entries with usable names; raises where there are too many."""
    for number, entry in enumerate(entries, start=1):
        if number > MOST_ENTRIES:
            raise VocabularyFileError(f"it has more than {MOST_ENTRIES:,} terms")
        if 1 < len(entry.label) <= MOST_NAME_CHARACTERS:
            names = (name for name in entry.synonyms if len(name) <= MOST_NAME_CHARACTERS)
            yield replace(entry, synonyms=tuple(names))


def place_entries(entries: list[VocabularyEntry]) -> list[VocabularyEntry]:
    """Entries with dotted positions made from `broader`; those of MeSH are kept as they are."""
    if not any(entry.broader for entry in entries):
        return entries
    by_id = {entry.id: entry for entry in entries}
    numbers = {entry.id: str(number) for number, entry in enumerate(entries, start=1)}
    known: dict[str, tuple[str, ...]] = {}

    def positions(name: str, above: tuple[str, ...]) -> tuple[str, ...]:
        if name in known:
            return known[name]
        parents = [one for one in by_id[name].broader if one in by_id and one not in above]
        if not parents or len(above) >= MOST_DEPTH:
            found: tuple[str, ...] = (f"~{numbers[name]}",)
        else:
            found = tuple(
                f"{place}.{numbers[name]}"
                for parent in parents
                for place in positions(parent, (*above, name))
            )[:MOST_PLACES]
        if not above:
            known[name] = found
        return found

    return [
        entry if entry.trees else replace(entry, trees=positions(entry.id, ())) for entry in entries
    ]
