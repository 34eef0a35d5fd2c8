"""Packs what labellers wrote (verbatim pieces) into labels that hold no text of others.

python -m benchmarks.relations.pack FOLDER   # sentences, references, pass-a, pass-b, agreed
"""

import json
import re
import sys
from pathlib import Path
from typing import Any

from benchmarks.relations.labels import LABELS


def _rows(file: Path) -> dict[int, dict[str, Any]]:
    if not file.exists():
        return {}
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line]
    return {int(row["id"]): row for row in rows}


def _packed(text: str, relation: dict[str, Any]) -> list[Any] | None:
    placed = _nearest(text, relation["subject"], relation["object"])
    if placed is None:
        return None
    subject, target = placed
    marks = "".join(mark[0] for mark in ("negated", "hedged", "asked") if relation.get(mark))
    return [
        subject,
        subject + len(relation["subject"]),
        target,
        target + len(relation["object"]),
        relation["kind"],
        int(relation.get("sign") or 0),
        marks,
    ]


def _nearest(text: str, subject: str, target: str) -> tuple[int, int] | None:
    # Where a piece stands several times, the two places that are nearest without overlap.
    if not subject or not target:
        return None
    pairs = [
        (abs(one - other), one, other)
        for one in _places(text, subject)
        for other in _places(text, target)
        if one + len(subject) <= other or other + len(target) <= one
    ]
    return min(pairs)[1:] if pairs else None


def _places(text: str, piece: str) -> list[int]:
    return [found.start() for found in re.finditer(re.escape(piece), text)]


def main(folder: Path) -> None:
    """Write the labels of a folder."""
    texts = _rows(folder / "sentences.jsonl")
    places = _rows(folder / "references.jsonl")
    passes = {
        name: _rows(folder / file)
        for name, file in (
            ("a", "pass-a.jsonl"),
            ("b", "pass-b.jsonl"),
            ("agreed", "agreed.jsonl"),
        )
    }
    with LABELS.open("w", encoding="utf-8") as out:
        for number, row in texts.items():
            packed: dict[str, Any] = dict(places[number])
            for name, labelled in passes.items():
                if number in labelled:
                    found = [_packed(row["text"], one) for one in labelled[number]["relations"]]
                    if None in found:
                        print(f"sentence {number}, {name}: a span does not stand in the text")
                    packed[name] = [one for one in found if one is not None]
            print(json.dumps(packed, ensure_ascii=False), file=out)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
