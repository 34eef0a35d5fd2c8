"""References in MEDLINE's style, as PubMed and Europe PMC name notices and versions in them."""

from __future__ import annotations

import re

from carrel.libraries.identifiers import Doi, identifier_value
from carrel.libraries.literature.dates import read_date_text

_DOI = re.compile(r"\bdoi:\s*(10\.\S+)", re.IGNORECASE)
_DATE = re.compile(r"\.\s+((?:1[5-9]|20)\d\d(?:\s[A-Z][a-z]{2}(?:\s\d{1,2})?)?)(?=[;.:\s-]|$)")
_ADDRESS = re.compile(
    r"\s*(?:(?:electronic|e-?mail) address(?:es)?|e-?mail)?\s*:?\s*\S+@\S+", re.IGNORECASE
)


def read_source_doi(source: str) -> str | None:
    """The DOI of `Cell Rep. 2022 Jun 28;39(13):111044. doi: 10.1016/j.celrep.2022.111044.`"""
    found = _DOI.search(source)
    return identifier_value(Doi, found.group(1)) if found else None


def read_source_date(source: str) -> str | None:
    """The date of such a reference."""
    found = _DATE.search(source)
    return read_date_text(found.group(1)) if found else None


def remove_addresses(affiliations: tuple[str, ...]) -> tuple[str, ...]:
    """Affiliations as written, without mail addresses, each once."""
    bare = (_ADDRESS.sub("", each).strip(" .;,") for each in affiliations)
    return tuple(dict.fromkeys(each for each in bare if each))
