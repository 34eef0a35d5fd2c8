"""Imports by difference: entries drawn by seed, read by ours and by five other programs.

    python -m benchmarks.import_judge.judge PEERS --seeds 0:300 [--show 20] [--family NAME]

Two questions. Of odd values (names, dates, TeX, links): what does the majority of the others read,
and what does Better BibTeX's own parser? Of tokens in every field of every entry type: in which
CSL variable do they end up? Differences are counted by family; each is to be looked at, and decided
by the format's definition: programs copy one another, and a majority can be wrong.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import lzma
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.agreement.strict import DATE_VARIABLES, NAME_VARIABLES, date_text, name_text
from benchmarks.import_judge.draws import Draw, draw_places, draw_values
from benchmarks.import_judge.others import Item, readers
from carrel.libraries.bibliography.bibtex.fields import TitleCase
from carrel.libraries.bibliography.bibtex.reader import read_bibtex

_TAG = re.compile(r"</?(?:i|b|sup|sub|span|a|br|sc|em|strong)(?:\s[^<>]*)?/?>")
_NO_CASE = re.compile(r'<span class="nocase">(.*?)</span>')
_QUOTES = str.maketrans(dict.fromkeys("“”„«»", '"') | dict.fromkeys("‘’‚‹›`′", "'"))
_DASHES = re.compile(r"[‐‑‒–—−-]+")


# Families in which we do not follow the majority, and why.
DECIDED = {
    "author: TeX": "`\\'{\\i}` is í, a letter, and no dotless ı with an accent",
    "editor: TeX": "the same",
    "title: accent": "the same",
    "author: et al.": "`others` is no person",
    "editor: et al.": "the same",
    "doi: dressed": "a DOI is stored bare, in the form that compares",
    "doi: escaped": "TeX escapes are undone once",
    "url: escaped": "the same",
    "url: command": "the same",
    "edition: number": "`2nd` and `Second` are 2, as CSL wants numbers",
    "language: plain": "names of languages are codes",
    "keywords: TeX": "keywords are TeX",
    "pages: range": "no blanks around the dash of a range",
    "title: rare commands": "`\\texorpdfstring` shows its first argument alone",
    "title: signs": "`\\-` says where a word may break, nothing else",
    "issued: season": "seasons, months in words and days in `month` are read",
    "issued: months": "the same",
    "issued: month and day": "the same",
    "issued: year and month": "the same",
    "issued: range": "the same",
    "issued: uncertain": "the same",
    "issued: not a year": "the same",
    "issued: old": "EDTF's year -0043 is 44 BC for pandoc, -43 in CSL's parts",
    "issued: open range": "kept as written",
    "place of maintitle": "the work of several volumes holds the part",
    "place of title": "the same",
}


@dataclass(frozen=True)
class Difference:
    """One value on which ours and the others do not agree."""

    family: str
    source: str
    ours: str
    theirs: dict[str, str]


def value_text(variable: str, value: Any) -> str:
    """A value as one line of text; what is spelt differently but means the same is kept apart."""
    if value is None:
        return ""
    if variable in NAME_VARIABLES and isinstance(value, list):
        return " & ".join(name_text(person) for person in value)
    if variable in DATE_VARIABLES and isinstance(value, dict):
        return date_text(value)
    text = _NO_CASE.sub(r"\1", unicodedata.normalize("NFC", str(value)))
    return " ".join(text.split())


def folded(variable: str, text: str) -> str:
    """What a vote is about: words and letters, not quotation marks, dashes, markup and case."""
    text = _TAG.sub("", text) if variable not in NAME_VARIABLES else text
    text = _DASHES.sub("-", text.translate(_QUOTES)).replace("''", '"')
    if variable == "keyword":
        return " | ".join(sorted(re.split(r"\s*[;,]\s*", text)))
    return unicodedata.normalize("NFKC", " ".join(text.split())).casefold()


def our_items(text: str, titles: TitleCase) -> dict[str, Item]:
    return {str(one.item.get("id")): one.item for one in read_bibtex(text, titles).items}


def places_of(token: str, item: Item) -> str:
    """The variables whose text holds a token."""
    found: set[str] = set()
    for name, value in item.items():
        if name == "custom":
            for content in value.values():
                if isinstance(content, dict):
                    found |= {"beside" for text in content.values() if token in str(text)}
        elif token in str(value) and name != "citation-key":
            found.add(name)
    # Some make a short title from the title.
    return "+".join(sorted(found - ({"title-short"} if "title" in found else set())))


class Judge:
    """Counts agreement by family, and keeps the differences."""

    def __init__(self) -> None:
        self.majority: dict[str, Counter[str]] = defaultdict(Counter)
        self.parser: dict[str, Counter[str]] = defaultdict(Counter)
        self.differences: list[Difference] = []
        self.agreed: list[tuple[str, str, str]] = []
        self.from_parser: list[Difference] = []

    def judge_values(self, draw: Draw, ours: dict[str, Item], others: dict[str, dict[str, Item]],
                     ours_in_sentence_case: dict[str, Item]) -> None:  # fmt: skip
        for variable, family in draw.families.items():
            name = f"{variable}: {family}" if ":" not in family else family
            mine = value_text(variable, ours.get(draw.key, {}).get(variable))
            theirs = {
                program: value_text(variable, items[draw.key].get(variable))
                for program, items in others.items()
                if variable in items.get(draw.key, {})
            }
            self._vote(name, variable, draw, mine, theirs)
            # A title in another language is left alone; the parser asks `langid` for it.
            if "bibtex-parser" in theirs and "language" not in draw.families:
                mine = value_text(variable, ours_in_sentence_case.get(draw.key, {}).get(variable))
                same = mine == theirs["bibtex-parser"]
                self.parser[name]["same" if same else "different"] += 1
                if not same:
                    one = {"bibtex-parser": theirs["bibtex-parser"]}
                    self.from_parser.append(Difference(name, draw.text, mine, one))

    def judge_places(
        self, draw: Draw, ours: dict[str, Item], others: dict[str, dict[str, Item]]
    ) -> None:
        kind = draw.families["type"]
        mine = ours.get(draw.key, {})
        theirs = {name: items.get(draw.key) or {} for name, items in others.items()}
        types = {name: str(item.get("type", "")) for name, item in theirs.items() if item}
        self._vote("type of entry", "type", draw, str(mine.get("type", "")), types)
        for field, token in draw.tokens.items():
            # A program that drops a field has no say about its place.
            found = {name: places_of(token, item) for name, item in theirs.items()}
            found = {name: places for name, places in found.items() if places}
            placed = places_of(token, mine)
            self._vote(f"place of {field}", field, draw, placed, found, f"{kind}.{field}")

    def _vote(self, family: str, variable: str, draw: Draw, mine: str, theirs: dict[str, str],
              where: str = "") -> None:  # fmt: skip
        votes = Counter(folded(variable, text) for text in theirs.values())
        if not votes:
            return
        choice, number = votes.most_common(1)[0]
        own = folded(variable, mine)
        if number * 2 <= sum(votes.values()) or (number < 2 and len(votes) > 1):
            verdict = "with one" if own in votes else "alone"
        else:
            verdict = "majority" if own == choice else "against"
        if verdict in {"against", "alone"} and family in DECIDED:
            verdict = "by choice"
        elif verdict == "majority":
            self.agreed.append((draw.key, variable, choice))
        self.majority[family][verdict] += 1
        if verdict in {"against", "alone", "by choice"}:
            self.differences.append(Difference(family, where or draw.text, mine, theirs))


def print_table(title: str, table: dict[str, Counter[str]], columns: tuple[str, ...]) -> None:
    print(f"\n{title:<44}" + "".join(f"{column:>10}" for column in columns))
    total: Counter[str] = Counter()
    for family, counts in sorted(table.items()):
        total.update(counts)
        print(f"{family:<44}" + "".join(f"{counts[column]:>10}" for column in columns))
    share = total[columns[0]] / max(1, total.total())
    print(f"{'all':<44}" + "".join(f"{total[column]:>10}" for column in columns) + f"  {share:.1%}")


def show(differences: list[Difference], number: int, family: str) -> None:
    seen: Counter[str] = Counter()
    for one in differences:
        seen[one.family] += 1
        if family not in one.family or seen[one.family] > number:
            continue
        source = one.source if len(one.source) < 60 else _line_of(one)
        print(f"\n[{one.family}] {source}\n    ours: {one.ours!r}")
        for program, text in one.theirs.items():
            print(f"    {program}: {text!r}")


def _line_of(one: Difference) -> str:
    """The field of the entry that the difference is about."""
    name = {"issued": "year", "container-title": "title"}.get(one.family.split(":")[0])
    field = name or one.family.split(":")[0]
    lines = [line.strip() for line in one.source.splitlines() if field in line]
    return " ".join(lines) or " ".join(one.source.split())[:300]


def remember(
    peers: Path, program: str, read: Callable[[str], dict[str, Item]], text: str
) -> dict[str, Item]:
    """The answer of a program, which is slow and does not change, kept beside the programs."""
    mark = hashlib.sha256(text.encode()).hexdigest()[:16]
    kept = peers / "answers" / f"{program}-{mark}.json"
    if kept.exists():
        found: dict[str, Item] = json.loads(kept.read_text(encoding="utf-8"))
        return found
    try:
        answer = read(text)
    except RuntimeError as error:
        print(f"{program} has no say: {str(error)[:150]!r}")
        return {}
    kept.parent.mkdir(exist_ok=True)
    kept.write_text(json.dumps(answer, ensure_ascii=False), encoding="utf-8")
    return answer


def read_text(path: Path) -> str:
    content = path.read_bytes()
    return (lzma.decompress(content) if path.suffix == ".xz" else content).decode("utf-8")


def entries_of(text: str) -> list[Draw]:
    """The entries of a real file, each variable a family of its own."""
    found = []
    for key, item in our_items(text, TitleCase.AS_WRITTEN).items():
        families = {name: f"{name}: real" for name in item if name not in {"id", "type", "custom"}}
        found.append(Draw(key, f"@{key}", families, {}))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("peers", type=Path)
    parser.add_argument("--seeds", default="0:300", help="first and last seed, as 0:300")
    parser.add_argument("--show", type=int, default=0, help="differences to print of each family")
    parser.add_argument("--family", default="", help="only differences of families named so")
    parser.add_argument("--file", type=Path, help="a real .bib instead of drawn entries")
    parser.add_argument("--record", type=Path, help="write what the majority reads into a file")
    parser.add_argument("--against", choices=("majority", "parser"), default="majority")
    arguments = parser.parse_args()
    first, last = (int(part) for part in arguments.seeds.split(":"))
    programs = readers(arguments.peers)
    print("programs:", ", ".join(programs))
    judge = Judge()
    if arguments.file:
        text = read_text(arguments.file)
        draws = entries_of(text)
    else:
        draws = [draw_values(seed) for seed in range(first, last)]
        text = "\n".join(draw.text for draw in draws)
    others = {name: remember(arguments.peers, name, read, text) for name, read in programs.items()}
    as_written, sentences = (
        our_items(text, case) for case in (TitleCase.AS_WRITTEN, TitleCase.SENTENCE_CASE)
    )
    for draw in draws:
        judge.judge_values(draw, as_written, others, sentences)
    draws = [] if arguments.file else [draw_places(seed) for seed in range(first, last)]
    text = "\n".join(draw.text for draw in draws)
    others = {
        name: remember(arguments.peers, name, programs[name], text)
        for name in ("citation-js", "pandoc")
        if name in programs
    }
    as_written = our_items(text, TitleCase.AS_WRITTEN)
    for draw in draws:
        judge.judge_places(draw, as_written, others)
    chosen = judge.differences if arguments.against == "majority" else judge.from_parser
    show(chosen, arguments.show, arguments.family)
    if arguments.record:
        kept: dict[str, dict[str, str]] = defaultdict(dict)
        for key, variable, text in judge.agreed:
            if key.startswith("v"):
                kept[key][variable] = text
        lines = [json.dumps({key: found}, ensure_ascii=False)[1:-1] for key, found in kept.items()]
        arguments.record.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    columns = ("majority", "with one", "by choice", "alone", "against")
    print_table("beside the majority of the others", judge.majority, columns)
    print_table("exactly as Better BibTeX's parser", judge.parser, ("same", "different"))


if __name__ == "__main__":
    main()
