r"""Groups that JabRef keeps beside the entries, in `@comment{jabref-meta: groupstree: …}`.

Newer files name an entry's groups in its field `groups`. Older ones list the keys in the group:
`2 ExplicitGroup:Name\;0\;key1\;key2\;;`.
"""

import re

_TREE = re.compile(r"\s*jabref-meta:\s*(?:groupstree|grouping):(.*)\Z", re.DOTALL | re.IGNORECASE)
_GROUP = re.compile(r"\s*\d{1,4} (?:ExplicitGroup|StaticGroup):(.*)\Z", re.DOTALL)
_MAX_CHARACTERS = 2_000_000


def read_group_tree(comment: str) -> dict[str, list[str]]:
    """The names of the groups of each key, by the key in lower case; nothing for any other text."""
    found = _TREE.match(comment[:_MAX_CHARACTERS])
    groups: dict[str, list[str]] = {}
    if not found:
        return groups
    for part in _split(found.group(1).replace("\n", "").replace("\r", ""), escape="\\"):
        group = _GROUP.match(part)
        if not group:
            continue
        name, *rest = (each.replace("\\\\", "\\") for each in group.group(1).split("\\;"))
        for key in rest[1:]:
            names = groups.setdefault(key.strip().lower(), []) if key.strip() else []
            if name.strip() and name.strip() not in names:
                names.append(name.strip())
    return groups


def _split(text: str, escape: str) -> list[str]:
    """Parts at each `;` that no backslash stands before."""
    parts: list[str] = []
    start = position = 0
    while (position := text.find(";", position)) >= 0:
        if text[position - 1 : position] != escape:
            parts.append(text[start:position])
            start = position + 1
        position += 1
    parts.append(text[start:])
    return parts


def join_groups(present: str, further: list[str]) -> str:
    """The value of a field `groups` with further names, each once."""
    names = [name.strip() for name in present.split(",") if name.strip()]
    return ", ".join(dict.fromkeys([*names, *(name.replace(",", " ") for name in further)]))
