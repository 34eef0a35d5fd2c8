"""A long document of 80 citations in five styles, beside pandoc's citeproc.

    python -m benchmarks.citation_pandoc PANDOC ITEMS [--peers FOLDER] [--show 5]

PANDOC is the folder in which `pip install --target PANDOC pypandoc_binary` put the program, ITEMS a
file of CSL-JSON. With PEERS, citeproc-js says which of the two it agrees with.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.citation_judge.engines import CiteprocJs, Rendering, find_style, render_ours
from benchmarks.citation_judge.jobs import Cluster, Item, Job
from carrel.libraries.csl.archive import read_archived

STYLES = (
    "apa", "chicago-notes-bibliography", "ieee", "modern-language-association", "nature",
)  # fmt: skip
CITATIONS = 80
SEED = 67
_LOCATORS = (("page", "12"), ("page", "33-35"), ("chapter", "4"), ("section", "2"))
_LABELS = {"page": ("p. ", "pp. "), "chapter": ("chap. ", ""), "section": ("sec. ", "")}


@dataclass(frozen=True)
class Difference:
    """A text of the document that the two write differently."""

    style: str
    part: str
    ours: str
    pandoc: str
    judge: str


def draw_document(items: list[Item], seed: int = SEED) -> list[Cluster]:
    """Citations as a long text has them: many single ones, repeats, locators, a few clusters."""
    draws = random.Random(seed)
    names = [str(item["id"]) for item in items]
    clusters: list[Cluster] = []
    cited: list[str] = []
    for note in range(1, CITATIONS + 1):
        cites: list[dict[str, Any]] = []
        for _ in range(draws.choices((1, 2, 3), (7, 2, 1))[0]):
            again = cited and draws.random() < 0.4
            name = draws.choice(cited[-8:] if again else names)
            if name in [cite["id"] for cite in cites]:
                continue
            cited.append(name)
            cite: dict[str, Any] = {"id": name}
            if draws.random() < 0.3:
                cite["label"], cite["locator"] = draws.choice(_LOCATORS)
            if draws.random() < 0.1:
                cite["prefix"] = "see "
            cites.append(cite)
        clusters.append({"note": note, "items": cites})
    return clusters


def write_markdown(clusters: list[Cluster]) -> str:
    """The document as pandoc reads it: a paragraph for each citation."""
    return "\n\n".join(
        f"Sentence {cluster['note']} [{'; '.join(map(_write_cite, cluster['items']))}]."
        for cluster in clusters
    )


def _write_cite(cite: dict[str, Any]) -> str:
    text = f"{cite.get('prefix', '')}@{cite['id']}"
    if "locator" not in cite:
        return text
    single, plural = _LABELS[cite["label"]]
    label = plural if "-" in cite["locator"] and plural else single
    return f"{text}, {label}{cite['locator']}"


def read_text(node: Any) -> str:
    """The plain text of a part of pandoc's document."""
    if isinstance(node, list):
        return "".join(map(read_text, node))
    if not isinstance(node, dict):
        return ""
    content: Any = node.get("c")
    match node.get("t"):
        case "Str" | "Code":
            return content if isinstance(content, str) else content[1]
        case "Space" | "SoftBreak" | "LineBreak":
            return " "
        case "Quoted":
            opening, closing = ("“", "”") if content[0]["t"] == "DoubleQuote" else ("‘", "’")
            return opening + read_text(content[1]) + closing
        case "Span" | "Link" | "Div" | "Cite":
            return read_text(content[1])
    return read_text(content)


def _find(node: Any, kind: str) -> Iterator[Any]:
    if isinstance(node, dict):
        if node.get("t") == kind:
            yield node["c"]
            return
        node = list(node.values())
    if isinstance(node, list):
        for one in node:
            yield from _find(one, kind)


def render_by_pandoc(program: Path, style: str, items: list[Item], text: str) -> Rendering:
    with tempfile.TemporaryDirectory() as folder:
        files = {"style.csl": read_archived(style) or "", "items.json": json.dumps(items)}
        for name, content in files.items():
            (Path(folder) / name).write_text(content, "utf-8")
        run = subprocess.run(
            [program, "-f", "markdown", "-t", "json", "--citeproc", "--csl", "style.csl",
             "--bibliography", "items.json", "-M", "lang=en-US", "-M", "link-citations=false",
             "-M", "link-bibliography=false"],
            input=text, capture_output=True, text=True, cwd=folder, timeout=300, check=True,
        )  # fmt: skip
    blocks = json.loads(run.stdout)["blocks"]
    citations = [read_text(cite[1]) for cite in _find(blocks[:-1], "Cite")]
    entries = [
        (div[0][0].removeprefix("ref-"), read_text(div[1]))
        for outer in _find(blocks[-1:], "Div")
        for div in _find(outer[1], "Div")
    ]
    return Rendering(
        tuple(citations), tuple(text for _, text in entries), tuple(name for name, _ in entries)
    )


def normal(text: str) -> str:
    """A text without what a format adds: kinds of spaces, and stops that end a note."""
    text = re.sub(r"[\s\u00a0\u202f\u2060]+", " ", text).strip()
    return text.replace("\u2011", "-")


_CAUSES: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("spaces alone", lambda text: re.sub(r"\s", "", text)),
    ("case of words", lambda text: text.lower()),
    ("quotation marks and apostrophes", lambda text: re.sub(r"[“”‘’\"']", "", text)),
    ("signs between parts", lambda text: re.sub(r"[\W_]+", "", text)),
    ("signs and case", lambda text: re.sub(r"[\W_]+", "", text).lower()),
)


def cause_of(ours: str, other: str) -> str:
    """What has to be left out of both texts for them to be the same; else how they differ."""
    for name, without in _CAUSES:
        if without(ours) == without(other):
            return name
    one, two = (Counter(re.findall(r"[^\W_]+", text.lower())) for text in (ours, other))
    more, less = sum((one - two).values()), sum((two - one).values())
    if not more and not less:
        return "the same words in another order"
    if not less:
        return "we write more words"
    return "pandoc writes more words" if not more else "other words"


def compare(
    style: str, ours: Rendering, other: Rendering, judge: Rendering | None
) -> tuple[int, list[Difference]]:
    """How many texts were compared, and those that differ."""
    entries = dict(zip(other.order, other.bibliography, strict=True))
    # citeproc-js names works, too, for which the style prints nothing.
    judged = dict(zip(ours.order, judge.bibliography, strict=False)) if judge else {}
    rows = [
        (f"citation {number}", one, two, judge.citations[number - 1] if judge else "")
        for number, (one, two) in enumerate(zip(ours.citations, other.citations, strict=True), 1)
    ]
    rows += [
        (f"entry {name}", text, entries.get(name, ""), judged.get(name, ""))
        for name, text in zip(ours.order, ours.bibliography, strict=True)
    ]
    found = []
    for part, one, two, three in rows:
        if normal(one) != normal(two):
            said = "ours" if normal(three) == normal(one) else ""
            said = said or ("pandoc" if normal(three) == normal(two) else "neither")
            found.append(Difference(style, part, normal(one), normal(two), said if judge else ""))
    listed = [name for name in other.order if entries[name]]
    if list(ours.order) != listed:
        moved = sum(one != two for one, two in zip(ours.order, listed, strict=False))
        print(f"  entries in another place: {moved}")
    return len(rows), found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pandoc", type=Path)
    parser.add_argument("items", type=Path)
    parser.add_argument("--peers", type=Path)
    parser.add_argument("--show", type=int, default=3)
    told = parser.parse_args()
    program = next(told.pandoc.resolve().rglob("files/pandoc"))
    items = [
        {**item, "id": f"item{number}"}
        for number, item in enumerate(json.loads(told.items.read_text("utf-8")))
    ]
    clusters = draw_document(items)
    cited = {cite["id"] for cluster in clusters for cite in cluster["items"]}
    items = [item for item in items if item["id"] in cited]
    peer = CiteprocJs(told.peers) if told.peers is not None and told.peers.exists() else None
    text = write_markdown(clusters)
    causes: dict[str, list[Difference]] = {}
    print(f"{len(clusters)} citations of {len(items)} works")
    for style in STYLES:
        job = Job(style, "en-US", items, clusters)
        ours, other = render_ours(job), render_by_pandoc(program, style, items, text)
        judge = peer.render(job) if peer is not None else None
        total, found = compare(style, ours, other, judge)
        kind = "notes" if find_style(style).is_note else "in text"
        print(f"{style} ({kind}): {total - len(found)} of {total} texts the same")
        for one in found:
            causes.setdefault(cause_of(one.ours, one.pandoc), []).append(one)
    if peer is not None:
        peer.close()
    for cause, found in sorted(causes.items(), key=lambda pair: -len(pair[1])):
        votes = Counter(one.judge for one in found)
        said = ", ".join(f"{who or 'not asked'} {count}" for who, count in votes.most_common())
        print(f"\n{cause}: {len(found)} (citeproc-js agrees with: {said})")
        for one in found[: told.show]:
            print(f"  {one.style} {one.part}\n    ours   {one.ours}\n    pandoc {one.pandoc}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
