"""The other programs, each run as a black box: BibTeX in, CSL-like records out.

Every function takes a text and answers records by key. PEERS is the folder that
`make judge-imports` fills from npm, PyPI and Debian; a program that is missing there has no say.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.import_judge.mods import read_mods

Item = dict[str, Any]
_SCRIPT = Path(__file__).with_name("others.cjs")
_PARSER_FIELDS = {
    "title": "title", "booktitle": "container-title", "journal": "container-title",
    "journaltitle": "container-title", "series": "collection-title", "pages": "page",
    "volume": "volume", "edition": "edition", "publisher": "publisher", "note": "note",
    "address": "publisher-place", "location": "publisher-place", "abstract": "abstract",
    "language": "language", "doi": "DOI", "url": "URL", "isbn": "ISBN", "issn": "ISSN",
    "keywords": "keyword", "howpublished": "howpublished", "eprint": "eprint",
}  # fmt: skip


def readers(peers: Path) -> dict[str, Callable[[str], dict[str, Item]]]:
    found: dict[str, Callable[[str], dict[str, Item]]] = {}
    if (peers / "bibtex-parser.cjs").exists():
        found["bibtex-parser"] = lambda text: {
            entry["key"]: _parsed(entry) for entry in _node(peers, "bibtex-parser", text)
        }
    if (peers / "node_modules/@citation-js/core").exists():
        found["citation-js"] = lambda text: {
            str(item.get("id")): item for item in _node(peers, "citation-js", text)
        }
    pandoc = _find_pandoc(peers)
    if pandoc:
        found["pandoc"] = lambda text: {
            item["id"]: item for item in _pandoc(pandoc, "biblatex", text)
        }
    if (peers / "bibutils/usr/bin/bib2xml").exists():
        found["bibutils"] = lambda text: read_mods(_bibutils(peers, "biblatex2xml", text))
    if (peers / "python/pybtex").exists():
        found["pybtex"] = lambda text: {item["id"]: item for item in _python(peers, text)}
    return found


_FOREIGN = {
    "ris": ("ris2xml", "ris"),
    "endnote-xml": ("endx2xml", "endnotexml"),
    "refer": ("end2xml", ""),
    "web-of-science": ("isi2xml", ""),
}


def read_foreign(peers: Path, form: str, texts: list[str]) -> dict[str, list[Item]]:
    """What others read in records of another format, one record at a time."""
    converter, pandoc_form = _FOREIGN[form]
    pandoc = _find_pandoc(peers)
    found: dict[str, list[Item]] = {}
    if (peers / "bibutils/usr/bin" / converter).exists():
        found["bibutils"] = [
            next(iter(read_mods(_bibutils(peers, converter, text)).values()), {}) for text in texts
        ]
    if pandoc and pandoc_form:
        answers = [
            _run([str(pandoc), "-f", pandoc_form, "-t", "csljson"], text, may_fail=True)
            for text in texts
        ]
        found["pandoc"] = [next(iter(json.loads(answer or "[]")), {}) for answer in answers]
    if form == "ris" and (peers / "node_modules/@citation-js/plugin-ris").exists():
        items = _node(peers, "citation-js-ris", "\n".join(texts))
        if len(items) == len(texts):
            found["citation-js"] = items
    return found


def _find_pandoc(peers: Path) -> Path | None:
    return next(iter(sorted((peers / "python").glob("pypandoc/files/pandoc*"))), None)


def _node(peers: Path, program: str, text: str) -> Any:
    return json.loads(_run(["node", str(_SCRIPT), program, str(peers)], text))


def _pandoc(program: Path, form: str, text: str) -> list[Item]:
    """Its items; an entry that it refuses stops all, so the halves are read on their own."""
    answer = _run([str(program), "-f", form, "-t", "csljson"], text, may_fail=True)
    if answer:
        found: list[Item] = json.loads(answer)
        return found
    entries = re.split(r"\n(?=@)", text)
    if len(entries) == 1:
        return []
    half = len(entries) // 2
    return [
        item
        for part in (entries[:half], entries[half:])
        for item in _pandoc(program, form, "\n".join(part))
    ]


def _bibutils(peers: Path, program: str, text: str) -> str:
    folder = peers / "bibutils/usr"
    libraries = ":".join(str(path) for path in folder.glob("lib/*"))
    return _run(
        [str(folder / "bin" / program), "-i", "utf8"],
        text,
        environment={"LD_LIBRARY_PATH": libraries},
    )


def _python(peers: Path, text: str) -> Any:
    """pybtex for names and fields, pylatexenc for the text of fields, in a process of its own."""
    return json.loads(
        _run(
            [sys.executable, str(Path(__file__).with_name("others_python.py"))],
            text,
            environment={"PYTHONPATH": str(peers / "python")},
        )
    )


def _run(
    command: list[str],
    text: str,
    environment: dict[str, str] | None = None,
    may_fail: bool = False,
) -> str:
    answer = subprocess.run(
        command,
        input=text.encode(),
        capture_output=True,
        timeout=600,
        env={**os.environ, **(environment or {})},
        check=False,
    )
    if answer.returncode and not may_fail:
        raise RuntimeError(f"{command[0]}: {answer.stderr.decode(errors='replace')[:500]}")
    return "" if answer.returncode else answer.stdout.decode()


def _parsed(entry: dict[str, Any]) -> Item:
    """An entry of bibtex-parser: its fields under CSL's names; dates are its users' business."""
    item: Item = {"id": entry["key"]}
    for name, value in entry["fields"].items():
        if name in {"author", "editor", "translator"}:
            item[name] = [_person(each) for each in value]
        elif name in _PARSER_FIELDS:
            joined = "; ".join(value) if isinstance(value, list) else value
            item.setdefault(_PARSER_FIELDS[name], joined)
    return item


def _person(creator: dict[str, Any]) -> dict[str, str]:
    if "name" in creator:
        return {"literal": creator["name"]}
    names = {"lastName": "family", "firstName": "given", "suffix": "suffix",
             "prefix": "non-dropping-particle"}  # fmt: skip
    return {names[name]: creator[name] for name in names if creator.get(name)}
