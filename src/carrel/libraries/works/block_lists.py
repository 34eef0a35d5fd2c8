"""Works that are never joined, though they look alike: DOI prefixes and pairs of identifiers."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from carrel.libraries.works.work import Work

_PREFIX = re.compile(r"^10\.\d{4,9}$")
_SPLIT = re.compile(r"[\s,;|]+")
MAX_ENTRIES = 100_000


class BadBlockListError(ValueError):
    """An entry that is neither a DOI prefix, an identifier nor a pair of identifiers."""

    def __init__(self, entry: str) -> None:
        super().__init__(
            f"{entry[:120]!r} is neither a DOI prefix (10.1234), an identifier (a DOI or arXiv id) "
            "nor two identifiers with a space between them"
        )


@dataclass(frozen=True, slots=True)
class BlockList:
    """An operator's own list: whole prefixes, single works, and pairs of works."""

    prefixes: frozenset[str] = frozenset()
    identifiers: frozenset[str] = frozenset()
    pairs: frozenset[frozenset[str]] = frozenset()

    def forbids(self, one: Work, other: Work) -> bool:
        """Whether the list keeps two works apart; the same DOI on both is the same work."""
        if not (self.prefixes or self.identifiers or self.pairs):
            return False
        here, there = _names_of(one), _names_of(other)
        if one.own_doi is not None and one.own_doi == other.own_doi:
            return False
        if any(self._is_alone(name) for name in (*here, *there)):
            return True
        return any(frozenset((a, b)) in self.pairs for a in here for b in there)

    def _is_alone(self, name: str) -> bool:
        return name in self.identifiers or name.partition("/")[0] in self.prefixes


NO_BLOCK_LIST = BlockList()


def read_block_list(entries: Iterable[str]) -> BlockList:
    """Read entries such as `10.65215`, `10.1000/1` and `10.1000/1 1706.03762`.

    Empty ones and those that begin with `#` are passed over. Raises BadBlockListError.
    """
    prefixes: set[str] = set()
    identifiers: set[str] = set()
    pairs: set[frozenset[str]] = set()
    for at, entry in enumerate(entries):
        if at >= MAX_ENTRIES:
            break
        parts = [_read_name(part, entry) for part in _SPLIT.split(entry.strip()) if part]
        if not parts or entry.lstrip().startswith("#"):
            continue
        if len(parts) == 1 and _PREFIX.match(parts[0]):
            prefixes.add(parts[0])
        elif len(parts) == 1:
            identifiers.add(parts[0])
        elif len(parts) == 2 and parts[0] != parts[1]:
            pairs.add(frozenset(parts))
        else:
            raise BadBlockListError(entry)
    return BlockList(frozenset(prefixes), frozenset(identifiers), frozenset(pairs))


_NAME = re.compile(
    r"^(?:https?://(?:dx\.)?doi\.org/|doi:|arxiv:|https?://arxiv\.org/abs/)?"
    r"(10\.\d{4,9}(?:/\S+)?|\d{4}\.\d{4,5}(?:v\d+)?|[a-z][a-z.\-]{1,20}/\d{7}(?:v\d+)?)$"
)


def _read_name(text: str, entry: str) -> str:
    found = _NAME.match(text.lower())
    if entry.lstrip().startswith("#"):
        return text
    if found is None:
        raise BadBlockListError(entry)
    name = found.group(1)
    return name if name.startswith("10.") else re.sub(r"v\d+$", "", name)


def _names_of(work: Work) -> tuple[str, ...]:
    return tuple(name for name in (work.own_doi, work.own_arxiv_id) if name)
