"""Makes a small home with one of everything, by the commands of the installed version, and packs
it.

Run it with the code of the version whose home is to be kept, before anything on disk is changed:

    python -m tests.upgrades.make_home NAME

writes `tests/upgrades/NAME.tar.xz`: the folder `home`, and `told.json`, what that version answered
about it.
"""

from __future__ import annotations

import json
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

from tests.upgrades.asking import PASSWORD, ask_all, carrel, tools

HERE = Path(__file__).parent
DEMO = HERE.parents[1] / "src" / "carrel" / "demo" / "papers"

BIB = """
@article{kucsko2013, author = {Kucsko, G. and Maurer, P. C.}, title = {Nanometre-scale thermometry in a living cell},
  journal = {Nature}, year = 2013, volume = 500, pages = {54--58}, doi = {10.1038/nature12373}}
@book{ostrom1990, author = {Ostrom, Elinor}, title = {Governing the Commons}, publisher = {Cambridge University Press}, year = 1990}
@inproceedings{muller2019, author = {M{\\"u}ller, Zo{\\"e}}, title = {On {DNA} storage}, booktitle = {Proceedings of Things}, year = 2019}
"""  # noqa: E501

NODES = [
    {
        "name": "Liver fibrosis",
        "content": "Scarring of the liver.",
        "metadata": {"kind": "disease"},
    },
    {"name": "Gremlin-1", "content": "A BMP antagonist.", "metadata": {"kind": "protein"}},
]


PAIRS = [
    ("fish oil", "blood viscosity"), ("fish oil", "platelet aggregation"),
    ("fish oil", "vascular reactivity"),
    ("Raynaud disease", "blood viscosity"), ("Raynaud disease", "platelet aggregation"),
    ("Raynaud disease", "vascular reactivity"),
    ("magnesium", "vascular reactivity"), ("magnesium", "platelet aggregation"),
    ("migraine", "vascular reactivity"),
    ("migraine", "platelet aggregation"),
]  # fmt: skip


def fill_papers(home: Path, work: Path) -> None:
    folder = work / "papers"
    folder.mkdir()
    for number, (one, other) in enumerate(PAIRS * 3):
        years = f"year: {1990 + number}\nkeywords: [{one}, {other}]"
        front = (
            f"title: {one.capitalize()} and {other}, part {number}\nauthors: [Ada Example, Bo "
            f"Sample]\n{years}"
        )
        text = (
            f"We measured {other} in the presence of {one}. {one.capitalize()} changed {other} "
            f"in {number + 10} patients."
        )
        (folder / f"paper{number}.md").write_text(f"---\n{front}\n---\n## Abstract\n\n{text}\n")
    carrel(home, "papers", "build", str(DEMO), str(folder), "--into", str(home / "papers"))


def correct_papers(home: Path) -> None:
    """An edit, a merge and a removal, which later versions must keep and be able to undo."""
    found = json.loads(carrel(home, "papers", "search", "patients", "--limit", "5", "--json"))
    edited, kept, merged, removed, split = (hit["paper_id"] for hit in found)
    carrel(home, "papers", "edit", edited, "--title", "Edited by hand", "--year", "1987")
    carrel(home, "papers", "merge", kept, merged)
    carrel(home, "papers", "remove", removed)
    carrel(home, "papers", "merge", split, edited)
    carrel(home, "papers", "split", split, "--record", "2")


def fill_references(home: Path, work: Path) -> None:
    (work / "refs.bib").write_text(BIB, encoding="utf-8")
    (work / "commons.md").write_text(
        "# Governing\n\nThe full text of the commons.\n", encoding="utf-8"
    )
    tools(home, [("add_references", {"input": BIB})])
    tools(home, [("attach_fulltext", {"id": "ostrom1990", "path": str(work / "commons.md")})])
    tools(home, [("edit_reference", {"id": "ostrom1990", "changes": {"edition": "2"}})])


def fill_knowledge(home: Path, work: Path) -> None:
    notes = work / "docs"
    (notes / "deep").mkdir(parents=True)
    (notes / "first.md").write_text(
        "---\ntitle: Imported first\ntags: [alpha, beta/gamma]\n---\nImported text one.\n"
    )
    (notes / "deep" / "second.md").write_text("# Imported second\n\nText two, about ferroptosis.\n")
    carrel(home, "knowledge", "import", str(notes))
    saved = tools(
        home,
        [
            (
                "save_knowledge",
                {"title": "A personal note", "content": "Mine about autophagy", "tags": ["mine"]},
            ),
            (
                "save_knowledge",
                {
                    "title": "A note for the team",
                    "content": "Ours about apoptosis",
                    "tags": ["ours"],
                },
            ),
            (
                "save_knowledge",
                {"title": "A proposed note", "content": "Soon ours", "tags": ["soon"]},
            ),
        ],
    )
    ids = [answer["id"] for answer in saved]
    tools(home, [("propose_knowledge", {"id": ids[1]}), ("propose_knowledge", {"id": ids[2]})])
    tools(home, [("promote_knowledge", {"id": ids[1]})])
    (work / "nodes.jsonl").write_text("\n".join(json.dumps(node) for node in NODES))
    carrel(home, "knowledge", "import-nodes", str(work / "nodes.jsonl"))


def fill_research(home: Path) -> None:
    carrel(
        home,
        "research",
        "start",
        "Find new treatments for Raynaud disease",
        "--hypothesis-count",
        "5",
        "--watch",
    )


def fill_access(home: Path) -> str:
    carrel(home, "users", "add", "ada", "--admin", text=f"{PASSWORD}\n{PASSWORD}\n")
    carrel(home, "users", "add", "bob", text=f"{PASSWORD}\n{PASSWORD}\n")
    made = carrel(
        home,
        "tokens",
        "create",
        "script",
        "--scopes",
        "papers:read,knowledge:read",
        "--user",
        "ada",
        "--never-expires",
    )
    return next(word for word in made.split() if word.startswith("carrel_"))


def main() -> None:
    name = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        home = work / "home"
        home.mkdir()
        fill_papers(home, work)
        correct_papers(home)
        fill_references(home, work)
        fill_knowledge(home, work)
        fill_research(home)
        told: dict[str, Any] = {"token": fill_access(home)}
        told.update(ask_all(home))
        (work / "told.json").write_text(
            json.dumps(told, ensure_ascii=False, indent=1, sort_keys=True)
        )
        with tarfile.open(HERE / f"{name}.tar.xz", "w:xz") as packed:
            for part in ("home", "told.json"):
                packed.add(work / part, part, filter=_of_nobody)


def _of_nobody(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    return entry


if __name__ == "__main__":
    main()
