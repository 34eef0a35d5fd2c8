"""Renames references, one or all by a pattern; former keys stay in the items and lead to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from carrel.core.caller import Call
from carrel.core.errors import InvalidInputError
from carrel.core.parsing import parse_in_thread
from carrel.libraries.bibliography.citation_keys import distinct_key
from carrel.rooms.references.errors import KeyTakenError, ReferenceNotFoundError
from carrel.rooms.references.former_ids import ForwardingLibraries, with_former_ids
from carrel.rooms.references.items import Item, former_ids, text_of
from carrel.rooms.references.key_models import (
    MAX_SHOWN,
    KeyChange,
    RenamedKeys,
    RenamedReference,
    RenameKeys,
    RenameReference,
)
from carrel.rooms.references.key_patterns import (
    DEFAULT_PATTERN,
    LONGEST_KEY,
    MakeKey,
    choose_key_maker,
)
from carrel.rooms.references.ports import Change, ManyChanges
from carrel.rooms.references.queries import parse_reference_query
from carrel.rooms.references.validation import is_usable_key


class KeyRenaming:
    """The keys of the caller's library. `pattern` is that of the settings."""

    def __init__(self, libraries: ForwardingLibraries, pattern: str = "") -> None:
        self._libraries = libraries
        self._pattern = pattern

    async def rename(self, question: RenameReference, call: Call) -> RenamedReference:
        """Raises KeyTakenError where another reference has or had the new key."""
        library = self._libraries.of(call.caller)
        new_id = question.new_id.strip()
        if not is_usable_key(new_id):
            raise InvalidInputError(
                "The key is too long or holds control characters", next_step="Choose another key."
            )
        found = await library.find(question.id)
        if found is None:
            raise ReferenceNotFoundError(question.id)
        old_id = text_of(found, "id")

        def decide(present: Sequence[Item]) -> ManyChanges:
            item = next((each for each in present if text_of(each, "id") == old_id), None)
            if item is None:
                raise ReferenceNotFoundError(old_id)
            _refuse_taken(present, old_id, new_id)
            return ManyChanges({old_id: _rename(item, new_id)}) if new_id != old_id else _NOTHING

        await library.change_many(decide)
        renamed = await library.find(new_id)
        if renamed is None:
            raise ReferenceNotFoundError(new_id)
        return RenamedReference(
            id=new_id,
            former_ids=former_ids(renamed),
            notices=list(await library.take_notices()),
        )

    async def rename_all(self, question: RenameKeys, call: Call) -> RenamedKeys:
        """Every key, or those of the references that match, by the pattern."""
        library = self._libraries.of(call.caller)
        pattern = question.pattern or self._pattern
        make_key = choose_key_maker(pattern)
        chosen: frozenset[str] | None = None
        if question.query:
            chosen = frozenset(await library.find_ids(parse_reference_query(question.query)))
        changes: dict[str, str] = {}

        def decide(present: Sequence[Item]) -> ManyChanges:
            nonlocal changes
            changes = plan_keys(present, make_key, chosen)
            items = {text_of(item, "id"): item for item in present}
            return ManyChanges({old: _rename(items[old], new) for old, new in changes.items()})

        items = (await library.snapshot()).items
        if question.dry_run:
            changes = await parse_in_thread(lambda: plan_keys(items, make_key, chosen))
        else:
            await library.change_many(decide)
        asked = len(items) if chosen is None else len(chosen)
        return RenamedKeys(
            dry_run=question.dry_run,
            pattern=pattern or DEFAULT_PATTERN,
            total=len(changes),
            unchanged=asked - len(changes),
            changes=[KeyChange(id=old, new_id=new) for old, new in changes.items()][:MAX_SHOWN],
            notices=list(await library.take_notices()),
        )


_NOTHING = ManyChanges({})


def _rename(item: Item, new_id: str) -> Change:
    old_id = text_of(item, "id")
    own = with_former_ids({**item, "id": new_id}, [old_id])
    return Change({"id": new_id, "custom": own})


def _refuse_taken(present: Sequence[Item], old_id: str, new_id: str) -> None:
    """Raises KeyTakenError; keys are compared without case, as programs on files do."""
    wanted = new_id.lower()
    for item in present:
        holder = text_of(item, "id")
        if holder == old_id:
            continue
        if wanted in {key.lower() for key in (holder, *former_ids(item))}:
            raise KeyTakenError(new_id, holder)


class _OthersKeys:
    """The keys that others have, had, or get; in lower case."""

    def __init__(self, owners: Mapping[str, str], own_id: str) -> None:
        self._owners = owners
        self._own_id = own_id

    def __contains__(self, key: object) -> bool:
        return self._owners.get(str(key), self._own_id) != self._own_id


def plan_keys(
    items: Sequence[Item], make_key: MakeKey, chosen: frozenset[str] | None
) -> dict[str, str]:
    """The new key of each reference whose key changes.

    A key that fits the pattern stays, with a letter behind it where another has it without. None is
    given that another reference has, had, or gets.
    """
    owners: dict[str, str] = {}
    for item in items:
        owners[text_of(item, "id").lower()] = text_of(item, "id")
    for item in items:
        for key in former_ids(item):
            owners.setdefault(key.lower(), text_of(item, "id"))
    changes: dict[str, str] = {}
    for item in items:
        old = text_of(item, "id")
        if chosen is not None and old not in chosen:
            continue
        key = make_key(item)
        others = _OthersKeys(owners, old)
        if not key or old == key or (key.lower() in others and _is_with_letter(old, key)):
            continue
        new = distinct_key(key, others, max(len(key) + 3, LONGEST_KEY))
        owners[new.lower()] = old
        if new != old:
            changes[old] = new
    return changes


def _is_with_letter(old: str, key: str) -> bool:
    rest = old.lower().removeprefix(key.lower())
    return rest != old.lower() and 0 < len(rest) <= 2 and rest.isascii() and rest.isalpha()
