"""Splits the printed authors of a reference into names, in every usual habit of writing them."""

from __future__ import annotations

import re

# More names than any list prints in full; what follows is left out.
MAX_NAMES = 500
_OTHERS = re.compile(
    r"[\s,;&]*(?:\b(?:et\s+al(?:ii|ia)?|u\.\s?a|and\s+others|y\s+otros|e\s+outros|et\s+autres"
    r"|und\s+andere|et\s+coll)\b\.?|…|\.\.\.|等)[\s,;.]*",
    re.IGNORECASE,
)
_JOINERS = re.compile(r"\s*(?:;|\s/\s|(?:,\s*)?(?:&|\b(?:and|und|et|y|og|och|en|и)\b))\s*")
_ROLE = re.compile(
    r"\s*[(\[]\s*(?:eds?|editors?|hrsg|hg|coords?|comps?|trans|dirs?|author|éds?)\.?\s*[)\]]\.?\s*$",
    re.IGNORECASE,
)
_INITIALS = re.compile(
    r"(?:(?:[^\W\d_][a-zß]{0,2}\.)(?:[\s-]{0,2}[^\W\d_][a-zß]{0,2}\.){0,5}"
    r"|[^\W\d_](?:[\s-]?[^\W\d_]){0,3})"
)
_LAST_INITIALS = re.compile(r"(?:[^\W\d_]\.-?){1,5}|(?:Yu|Ch|Ph|Th|St|Zh|Sh|Ya|Ye)\.")
_SUFFIX = re.compile(r"(?:Jr|Sr|II|III|IV)\.?", re.IGNORECASE)
_EDGE = " \t,;:&/-–—"


def split_printed_names(text: str) -> tuple[str, ...]:
    """The names as printed, a family name first with a comma where it was printed first."""
    text = _ROLE.sub("", _OTHERS.sub(" ; ", text.strip()))
    groups = [group for piece in _JOINERS.split(text) if (group := piece.strip(_EDGE))]
    names: list[str] = []
    for group in groups:
        names.extend(_split_group(group, is_first=not names))
    cleaned = (_clean(name) for name in names[:MAX_NAMES])
    return tuple(name for name in cleaned if any(letter.isalpha() for letter in name))


def _clean(name: str) -> str:
    name = " ".join(name.split()).strip(_EDGE)
    # A full stop belongs to an initial, not to a family name or a team.
    last = name.rpartition(" ")[2]
    return name if _LAST_INITIALS.fullmatch(last) or _SUFFIX.fullmatch(last) else name.rstrip(".")


def _split_group(group: str, *, is_first: bool) -> list[str]:
    """Names between two joining words: commas part names, or family and given names."""
    pieces = [piece.strip() for piece in group.split(",") if piece.strip()]
    if len(pieces) < 2:
        return pieces
    if _are_pairs(pieces):
        return [f"{one}, {other}" for one, other in zip(pieces[::2], pieces[1::2], strict=True)]
    names: list[str] = []
    for number, piece in enumerate(pieces):
        is_given = is_initials(piece) or _SUFFIX.fullmatch(piece) is not None
        # "Smith, John, Jane Doe": only the first name is turned round.
        is_turned = (
            number == 1
            and is_first
            and _is_family(pieces[0])
            and not _has_initials(piece)
            and (len(pieces) == 2 or " " in pieces[2])
        )
        is_whole = bool(names) and "," in names[-1] and not _SUFFIX.fullmatch(piece)
        if names and not is_whole and (is_given or is_turned):
            names[-1] = f"{names[-1]}, {piece}"
        else:
            names.append(piece)
    return names


def _are_pairs(pieces: list[str]) -> bool:
    """`Smith, John, Doe, Jane` or `Smith, J., Doe, J.`"""
    if len(pieces) % 2:
        return False
    if all(is_initials(piece) for piece in pieces[1::2]):
        return not any(is_initials(piece) for piece in pieces[::2])
    return (
        len(pieces) > 2
        and all(_is_family(piece) for piece in pieces[::2])
        and all(not _is_family(piece) or " " not in piece for piece in pieces[1::2])
    )


def is_initials(piece: str) -> bool:
    """`J. A.`, `JA`, `J.-P.`, `Yu. V.`"""
    return (
        len(piece) <= 24
        and piece[0].isupper()
        and _INITIALS.fullmatch(piece) is not None
        and ("." in piece or piece.replace(" ", "").replace("-", "").isupper())
    )


def _is_family(piece: str) -> bool:
    """One capitalised word, perhaps with particles before it."""
    words = piece.split()
    return (
        0 < len(words) <= 3
        and "." not in piece
        and all(word[0].islower() for word in words[:-1])
        and len(words[-1]) > 1
    )


def _has_initials(piece: str) -> bool:
    return all(is_initials(word) for word in piece.split())
