"""Tagged text as fields: a line with a tag, and the lines that go on from it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from carrel.libraries.text.budget import current_budget


@dataclass(slots=True)
class TaggedField:
    """One tag with its value, the further lines of it with their numbers, and whether an empty line
    stood before.
    """

    line: int
    tag: str
    value: str
    more: list[tuple[int, str]] = field(default_factory=list)
    is_after_gap: bool = False

    def joined(self, separator: str) -> str:
        return separator.join([self.value, *(text.strip() for _, text in self.more)]).strip()


def tagged_fields(text: str, tag: re.Pattern[str]) -> Iterator[TaggedField]:
    """The fields of a text. Of `tag`, the first group is the tag and the last that matches the
    value.
    """
    current: TaggedField | None = None
    is_after_gap = False
    budget = current_budget()
    for number, line in enumerate(text.lstrip("\ufeff").splitlines(), start=1):
        budget.step()
        found = tag.match(line)
        if found:
            if current is not None:
                yield current
            current = TaggedField(
                number,
                found.group(1),
                (found.group(found.lastindex or 1) or "").strip(),
                [],
                is_after_gap,
            )
            is_after_gap = False
        elif not line.strip():
            is_after_gap = True
        elif current is not None:
            current.more.append((number, line))
    if current is not None:
        yield current
