"""Single values of BibTeX fields, before or after TeX is read."""

import re

from carrel.libraries.identifiers import Doi, NotAnIdentifierError

_EDITION = re.compile(r"^(\d+)\s*(?:st|nd|rd|th)?\.?(?:\s*ed(?:ition|n)?\.?)?$", re.IGNORECASE)
_ORDINAL_WORDS = (
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
)
_ORDINALS = {word: str(number) for number, word in enumerate(_ORDINAL_WORDS, start=1)}
_AND = re.compile(r"(?<!\s)\s+and\s+")


def joined(fields: dict[str, str], main: str, sub: str) -> str:
    text = fields.pop(main, "").strip()
    below = fields.pop(sub, "").strip() if text else ""
    if below:
        text = f"{text} {below}" if text[-1] in ":.?!-–—" else f"{text}: {below}"
    return text


def and_list(raw: str) -> list[str]:
    parts = _AND.split(raw)
    # `Taylor and Francis` is one house, `{Springer} and {Wiley}` are two.
    return [raw] if not all(part.strip().startswith("{") for part in parts) else parts


def whole_name(name: dict[str, str]) -> str:
    if "literal" in name:
        return name["literal"]
    family = " ".join(
        part for part in (name.get("non-dropping-particle"), name.get("family")) if part
    )
    return ", ".join(part for part in (family, name.get("given")) if part)


def edition_number(text: str) -> str:
    """`Second`, `2nd` and `2nd edition` are 2; anything else says itself."""
    found = _EDITION.match(text)
    return (
        found.group(1)
        if found
        else _ORDINALS.get(text.lower().removesuffix(" edition").strip(), text)
    )


def split_keywords(text: str) -> str:
    """Keywords joined by semicolons, whichever sign parted them."""
    seen: dict[str, None] = {}
    for word in text.split(";" if ";" in text else ","):
        if word.strip():
            seen.setdefault(word.strip())
    return "; ".join(seen)


def verbatim(raw: str) -> str:
    text = raw.strip()
    if "{" in text or "\\" in text:
        text = re.sub(r"\\(?:url|path)\s*\{([^{}]*)\}", r"\1", text)
        text = re.sub(r"\\([&%$#_{}~^])", r"\1", text)
        text = (
            text.replace("{\\textasciitilde}", "~")
            .replace("\\textasciitilde", "~")
            .replace("{", "")
            .replace("}", "")
        )
    return " ".join(text.split())


def link_text(raw: str) -> str:
    return verbatim(raw).replace(" ", "%20")


def doi_text(text: str) -> str:
    try:
        return str(Doi.parse(text))
    except NotAnIdentifierError:
        return text
