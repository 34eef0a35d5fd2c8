"""Line formats of records: MeSH as ASCII, and OBO ontologies."""

import re
from collections.abc import Iterable, Iterator

from carrel.libraries.vocabularies.entries import DraftEntry, VocabularyEntry

_OBO_SYNONYM = re.compile(r'"((?:[^"\\]|\\.)*)"\s*(\w*)')
_OBO_SCOPES = frozenset(("EXACT", ""))


def read_mesh_records(lines: Iterable[str]) -> Iterator[VocabularyEntry]:
    """MeSH descriptors in ASCII: `*NEWRECORD`, then `FIELD = value` lines."""
    draft = DraftEntry()
    for line in (*lines, "*NEWRECORD"):
        field, _, value = (part.strip() for part in line.partition("="))
        match field:
            case "*NEWRECORD":
                if entry := draft.finish():
                    yield entry
                draft = DraftEntry()
            case "MH" | "NM":
                draft.add_label(value)
            case "ENTRY" | "PRINT ENTRY" | "SY":
                draft.synonyms.append(("", value.split("|")[0].strip()))
            case "MN":
                draft.trees.append(value)
            case "UI":
                draft.id = value


def read_obo(lines: Iterable[str]) -> Iterator[VocabularyEntry]:
    """OBO: `[Term]` stanzas of `tag: value` lines; obsolete terms are left out."""
    draft, is_term = DraftEntry(), False
    for line in (*lines, "[Term]"):
        plain = line.strip()
        if plain.startswith("["):
            if is_term and (entry := draft.finish()):
                yield entry
            draft, is_term = DraftEntry(), plain == "[Term]"
            continue
        tag, _, value = (part.strip() for part in plain.partition(":"))
        match tag:
            case "id":
                draft.id = value
            case "name":
                draft.add_label(value)
            case "synonym":
                found = _OBO_SYNONYM.match(value)
                if found and found[2] in _OBO_SCOPES:
                    draft.synonyms.append(("", found[1].replace('\\"', '"')))
            case "is_a":
                draft.broader.append(value.split("!")[0].split("{")[0].strip())
            case "is_obsolete":
                is_term = is_term and value != "true"
