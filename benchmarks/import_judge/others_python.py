"""BibTeX on stdin, read by pybtex and pylatexenc, comes out as JSON; needs them on the path."""

import json
import re
import sys
from importlib import import_module
from typing import Any

parse_string = import_module("pybtex.database").parse_string
to_text = import_module("pylatexenc.latex2text").LatexNodes2Text(keep_comments=True)

FIELDS = {
    "title": "title", "booktitle": "container-title", "journal": "container-title",
    "series": "collection-title", "publisher": "publisher", "note": "note", "abstract": "abstract",
    "address": "publisher-place", "volume": "volume",
}  # fmt: skip


def plain(text: str) -> str:
    return str(to_text.latex_to_text(text))


def person(one: Any) -> dict[str, str]:
    parts = {
        "family": one.last_names,
        "given": one.first_names + one.middle_names,
        "non-dropping-particle": one.prelast_names,
        "suffix": one.lineage_names,
    }
    return {name: plain(" ".join(words)) for name, words in parts.items() if words}


items = []
for entry in re.split(r"\n(?=@)", sys.stdin.read()):
    try:
        library = parse_string(entry, "bibtex")
        for key, found in library.entries.items():
            item: dict[str, object] = {"id": key}
            for name, value in found.fields.items():
                if name.lower() in FIELDS:
                    item[FIELDS[name.lower()]] = plain(value)
            for role, people in found.persons.items():
                item[role] = [person(each) for each in people]
            items.append(item)
    except Exception:  # noqa: BLE001 - what a program cannot read it has no opinion about
        continue
json.dump(items, sys.stdout)
