"""Makes the lists of words that are no nouns, or name people and places, from WordNet.

    python -m benchmarks.word_kinds WORDNET OUTPUT

WORDNET is the folder of its database (Debian's wordnet-base has it). Concepts whose head is such a
word are neither ends nor bridges, in whatever field. Only words of which nearly all uses that
WordNet counted are of that kind are taken, so that `promoter`, `agent` and `turkey` are not.
"""

import lzma
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path

from carrel.libraries.discovery.concepts.words import may_end_a_concept, normal_phrase

NEARLY_ALL = 0.85
RARELY_A_NOUN = 0.12
"""A word counted so seldom as a noun is an adjective, adverb or verb of which a noun is made."""

NOUN, VERB, ADJECTIVE, ADVERB, SATELLITE = "12345"
# People by what they are in society, not those whose names things have too (`promoter`, `killer`).
PEOPLE = (
    "expert", "scientist", "intellectual", "professional", "leader", "official", "educator",
    "enrollee", "inhabitant", "communicator", "capitalist", "politician", "employee", "relative",
    "adult", "juvenile", "religious_person", "serviceman", "planner", "negotiator", "consumer",
    "skilled_worker", "creator", "peasant", "traveler", "unskilled_person", "head",
)  # fmt: skip

# Words of which WordNet counts people or adjectives only, and which name things in some field.
KEPT = frozenset(
    (
        "mediator",
        "progenitor",
        "promoter",
        "urchin",
        "messenger",
        "mechanic",
        "vip",
        "fat",
        "forecast",
    )
)


class WordNet:
    """The senses of nouns and how often all words were counted."""

    def __init__(self, folder: Path) -> None:
        self.above: dict[str, list[str]] = {}
        self.instance: set[str] = set()
        self.file: dict[str, str] = {}
        for line in _lines(folder / "data.noun"):
            fields = line.split(" | ")[0].split()
            offset, start = fields[0], 4 + 2 * int(fields[3], 16)
            pointers = [
                fields[start + 1 + 4 * n : start + 5 + 4 * n] for n in range(int(fields[start]))
            ]
            self.above[offset] = [p[1] for p in pointers if p[0] in {"@", "@i"}]
            self.file[offset] = fields[1]
            if any(p[0] == "@i" for p in pointers):
                self.instance.add(offset)
        self.senses: dict[str, list[str]] = {}
        for line in _lines(folder / "index.noun"):
            fields = line.split()
            self.senses[fields[0]] = fields[-int(fields[2]) :]
        self.parts: dict[str, set[str]] = defaultdict(set)
        for name in ("noun", "verb", "adj", "adv"):
            for line in _lines(folder / f"index.{name}"):
                self.parts[line.split(" ", 1)[0]].add(name)
        self.counted: dict[str, Counter[str]] = defaultdict(Counter)
        self.noun_counts: dict[str, Counter[int]] = defaultdict(Counter)
        for line in (folder / "cntlist.rev").read_text().splitlines():
            key, sense, count = line.split()
            lemma, rest = key.split("%")
            self.counted[lemma][rest[0]] += int(count)
            if rest[0] == NOUN:
                self.noun_counts[lemma][int(sense)] += int(count)

    def share(self, lemma: str, wanted: set[str]) -> float:
        """The share of a noun's uses in some senses, each counted once more than it was met."""
        counts = self.noun_counts[lemma]
        uses = {offset: 1 + counts[n] for n, offset in enumerate(self.senses[lemma], start=1)}
        return sum(n for offset, n in uses.items() if offset in wanted) / sum(uses.values())

    def below(self, roots: set[str]) -> set[str]:
        """All senses under some, and these."""
        found, size = set(roots), 0
        while size < len(found):
            size = len(found)
            found |= {one for one, above in self.above.items() if not found.isdisjoint(above)}
        return found

    def is_no_noun(self, lemma: str) -> bool:
        """Whether a word is hardly ever used as a noun."""
        if "noun" not in self.parts[lemma]:
            return True
        counts = self.counted[lemma]
        total = counts.total()
        return total >= 5 and counts[NOUN] < RARELY_A_NOUN * total


def _lines(path: Path) -> list[str]:
    return [line for line in path.read_text().splitlines() if line[:1] != " "]


def _is_full_name(wordnet: WordNet, lemma: str) -> bool:
    # Surnames name theorems, diseases and bodies of cells too.
    return "_" in lemma or all(wordnet.file[one] == "14" for one in wordnet.senses[lemma])


def made_lists(folder: Path) -> dict[str, list[str]]:
    """The words by list, in normal form."""
    wordnet = WordNet(folder)
    persons = {one for one, file in wordnet.file.items() if file == "18"}
    named = {one for one, file in wordnet.file.items() if file in {"14", "15", "17", "18"}}
    roots = {wordnet.senses[name][0] for name in PEOPLE} & persons
    people = wordnet.below(roots) & persons - wordnet.instance
    # Instances have names: countries, rivers, bodies, persons. Those of places end longer ones.
    names = wordnet.instance & named
    places = {one for one in names if wordnet.file[one] == "15"}
    demonyms = wordnet.below({wordnet.senses["inhabitant"][0]}) & persons
    lists: dict[str, set[str]] = {
        "no_nouns": set(),
        "people": set(),
        "places": set(),
        "names": set(),
    }
    for lemma in wordnet.parts:
        plain = normal_phrase(lemma.replace("_", " "))
        if plain in KEPT or not re.fullmatch(r"[a-z]{3,}( [a-z]{3,}){0,2}", plain):
            continue
        if " " not in plain and wordnet.is_no_noun(lemma):
            if may_end_a_concept(plain):
                lists["no_nouns"].add(plain)
        elif lemma in wordnet.senses:
            if wordnet.share(lemma, places | demonyms) >= NEARLY_ALL:
                lists["places"].add(plain)
            elif wordnet.share(lemma, names) >= NEARLY_ALL and _is_full_name(wordnet, lemma):
                lists["names"].add(plain)
            elif " " not in plain and wordnet.share(lemma, people) >= NEARLY_ALL:
                lists["people"].add(plain)
    # A form that is a noun under another spelling stays one.
    nouns = {normal_phrase(one) for one in wordnet.senses if not wordnet.is_no_noun(one)}
    lists["no_nouns"] -= nouns
    return {name: sorted(words) for name, words in lists.items()}


def main() -> None:
    """Write the lists."""
    folder, output = Path(sys.argv[1]), Path(sys.argv[2])
    lists = made_lists(folder)
    text = "".join(f"{name}\t{','.join(words)}\n" for name, words in lists.items())
    output.write_bytes(lzma.compress(text.encode("utf-8"), preset=9))
    print({name: len(words) for name, words in lists.items()}, output.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
