"""Tags, collections and read state of references, which are kept in `custom` of each item."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from carrel.core.errors import InvalidInputError
from carrel.rooms.references.items import (
    Item,
    collections_of,
    custom,
    nested_paths,
    read_state_of,
    tags,
)
from carrel.rooms.references.ports import Change

GroupKind = Literal["tag", "collection"]
SEPARATOR = "/"
MAX_NAME_CHARS = 200
MAX_DEPTH = 20
_CONTROLS = re.compile(r"[\x00-\x1f\x7f]")


def read_group_name(kind: GroupKind, text: str) -> str:
    """A tag or the path of a collection in its one spelling; raises InvalidInputError."""
    if _CONTROLS.search(text):
        raise _refuse(kind, text, "holds control characters")
    if kind == "tag":
        parts = [" ".join(text.split())]
    else:
        parts = [" ".join(part.split()) for part in text.split(SEPARATOR)]
    if not all(parts):
        raise _refuse(kind, text, "is empty" if kind == "tag" else "has a part without a name")
    if len(text) > MAX_NAME_CHARS or len(parts) > MAX_DEPTH:
        limit = f"more than {MAX_NAME_CHARS} characters or {MAX_DEPTH} levels"
        raise _refuse(kind, text[:40], f"has {limit}")
    return SEPARATOR.join(parts)


def _refuse(kind: GroupKind, text: str, problem: str) -> InvalidInputError:
    return InvalidInputError(
        f"The {kind} {text!r} {problem}",
        next_step="Write a tag as words, a collection as a path such as Thesis/Chapter 1.",
        details={"field": f"{kind}s"},
    )


def is_within(path: str, collection: str) -> bool:
    """Whether a collection is this one or lies in it."""
    return path == collection or path.startswith(collection + SEPARATOR)


@dataclass(frozen=True, slots=True)
class OrganizingChange:
    """What is done with references; names are in their one spelling."""

    add_tags: tuple[str, ...] = ()
    remove_tags: tuple[str, ...] = ()
    add_collections: tuple[str, ...] = ()
    remove_collections: tuple[str, ...] = ()
    read_state: str | None = None
    # When the read state is set, as ISO 8601.
    at: str = ""

    @property
    def is_empty(self) -> bool:
        lists = (self.add_tags, self.remove_tags, self.add_collections, self.remove_collections)
        return not any(lists) and self.read_state is None

    def apply(self, item: Item) -> Change | None:
        """The change of one reference, or None where it is already so."""
        found = [tag for tag in tags(item) if tag not in self.remove_tags]
        paths = [
            path
            for path in collections_of(item)
            if not any(is_within(path, gone) for gone in self.remove_collections)
        ]
        own = _with_list(custom(item), "tags", tags(item), [*found, *self.add_tags])
        own = _with_list(own, "collections", collections_of(item), [*paths, *self.add_collections])
        if self.read_state is not None and self.read_state != read_state_of(item):
            own = {**own, "read_state": self.read_state, "read_state_at": self.at}
        return _as_change(item, own)


@dataclass(frozen=True, slots=True)
class GroupRenaming:
    """A tag or collection that gets another name in the whole library; without one it ends."""

    kind: GroupKind
    name: str
    new_name: str | None

    def concerns(self, item: Item) -> bool:
        if self.kind == "tag":
            return self.name in tags(item)
        return any(is_within(path, self.name) for path in collections_of(item))

    def apply(self, item: Item) -> Change | None:
        """The change of one reference, or None where it does not have the name."""
        if not self.concerns(item):
            return None
        field = "tags" if self.kind == "tag" else "collections"
        before = tags(item) if self.kind == "tag" else collections_of(item)
        after = [name for each in before for name in self._rename(each)]
        return _as_change(item, _with_list(custom(item), field, before, after))

    def _rename(self, name: str) -> Sequence[str]:
        is_meant = name == self.name if self.kind == "tag" else is_within(name, self.name)
        if not is_meant:
            return (name,)
        return () if self.new_name is None else (self.new_name + name[len(self.name) :],)


def _with_list(own: Item, field: str, before: Sequence[str], after: Iterable[str]) -> Item:
    """`custom` with another list of names, each once; without the field where none is left."""
    names = list(dict.fromkeys(after))
    if names == list(before):
        return own
    rest = {name: value for name, value in own.items() if name != field}
    return {**rest, field: names} if names else rest


def _as_change(item: Item, own: Item) -> Change | None:
    if own == custom(item):
        return None
    return Change({"custom": own}) if own else Change({}, ("custom",))


@dataclass(frozen=True, slots=True)
class GroupCount:
    """How many references have a name; of a collection also those of the collections in it."""

    name: str
    count: int
    direct: int


@dataclass(frozen=True, slots=True)
class GroupCounts:
    """Every tag and collection of a library, tags by how many have them, collections by path."""

    tags: Sequence[GroupCount]
    collections: Sequence[GroupCount]
    read_states: Sequence[GroupCount]


def count_groups(items: Iterable[Item]) -> GroupCounts:
    """Counts what every reference has; a collection that is only a part of a path counts too."""
    by_tag: Counter[str] = Counter()
    direct: Counter[str] = Counter()
    nested: Counter[str] = Counter()
    states: Counter[str] = Counter({"unread": 0, "reading": 0, "read": 0})
    for item in items:
        states[read_state_of(item)] += 1
        own = item.get("custom")
        if not isinstance(own, dict):
            continue
        if "tags" in own:
            by_tag.update(set(tags(item)))
        if "collections" in own:
            paths = collections_of(item)
            direct.update(paths)
            nested.update({path for each in paths for path in nested_paths(each)})
    ranked = sorted(by_tag.items(), key=lambda each: (-each[1], each[0].casefold(), each[0]))
    ordered = sorted(nested, key=lambda path: [part.casefold() for part in path.split(SEPARATOR)])
    return GroupCounts(
        tags=[GroupCount(name, count, count) for name, count in ranked],
        collections=[GroupCount(path, nested[path], direct[path]) for path in ordered],
        read_states=[GroupCount(name, count, count) for name, count in states.items()],
    )


def take_groups(item: Item) -> Item:
    """An imported item whose BibTeX groups, as JabRef writes them, are collections."""
    own = custom(item)
    fields = own.get("fields")
    groups = fields.get("groups") if isinstance(fields, dict) else None
    if not isinstance(fields, dict) or not isinstance(groups, str):
        return item
    names = _split_groups(groups)
    try:
        paths = [read_group_name("collection", name) for name in names]
    except InvalidInputError:
        return item
    rest = {name: value for name, value in fields.items() if name != "groups"}
    kept = {name: value for name, value in own.items() if name != "fields"}
    if rest:
        kept["fields"] = rest
    found = list(dict.fromkeys([*collections_of(item), *paths]))
    return {**item, "custom": {**kept, "collections": found} if found else kept}


def give_groups(item: Item) -> Item:
    """An item to export to other programs: collections as groups, tags among the keywords."""
    paths, own_tags = collections_of(item), tags(item)
    if paths:
        own = custom(item)
        fields = own.get("fields")
        # A comma parts groups, and nothing can stand before it that says otherwise.
        groups = ", ".join(path.replace(",", ";") for path in paths)
        known = fields if isinstance(fields, dict) else {}
        item = {**item, "custom": {**own, "fields": {**known, "groups": groups}}}
    if own_tags:
        words = item.get("keyword")
        known_words = [str(word) for word in words] if isinstance(words, list) else []
        if isinstance(words, str):
            known_words = [word.strip() for word in words.split(";") if word.strip()]
        item = {**item, "keyword": "; ".join(dict.fromkeys([*known_words, *own_tags]))}
    return item


def _split_groups(text: str) -> list[str]:
    """The names in a field `groups`, which are parted by commas."""
    return [name.strip() for name in text.split(",") if name.strip()]
