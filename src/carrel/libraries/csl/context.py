"""What changes from one rendering to the next: the item, the cite, and what has been said so
far.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from .items import Item
from .name_values import Name
from .numbers import read_numbers

FIRST, SUBSEQUENT, IBID, IBID_WITH_LOCATOR = "first", "subsequent", "ibid", "ibid-with-locator"


@dataclass(slots=True)
class Cite:
    """One item inside a citation, with everything the author of the text added to it."""

    id: str
    locator: str = ""
    label: str = "page"
    prefix: str = ""
    suffix: str = ""
    suppress_author: bool = False
    author_only: bool = False
    position: str = FIRST
    is_near_note: bool = False
    first_note_number: int = 0

    def __post_init__(self) -> None:
        """A locator may name its own kind: `ch. 5` is chapter 5, whatever the label says."""
        if self.locator and "." in self.locator:
            label = read_numbers(self.locator).label
            if label:
                self.label = label
                self.locator = self.locator.strip().split(None, 1)[1]


@dataclass(slots=True)
class Disambiguation:
    """How far an item had to be opened up to be told from others."""

    name_counts: list[int] = field(default_factory=list)
    given_levels: list[list[int]] = field(default_factory=list)
    is_conditional: bool = False
    year_suffix: int = 0

    def copy(self) -> "Disambiguation":
        return Disambiguation(
            list(self.name_counts),
            [list(levels) for levels in self.given_levels],
            self.is_conditional,
            self.year_suffix,
        )


@dataclass(frozen=True, slots=True)
class NameSubstitution:
    """Names that repeat the entry before: how many of them, and what stands in their place."""

    text: str
    rule: str
    count: int


@dataclass(slots=True)
class NameSet:
    """One list of names as it was rendered: how many there were, how many were shown, each by
    itself.
    """

    total: int
    shown: int
    levels: list[int]
    names: list[str]


# How much of a given name the rule for all names asks for; the second argument says whether
# initials are to be had.
GivenLevel = Callable[[Name, bool], int]
NO_CITE = Cite("")
NO_DISAMBIGUATION = Disambiguation()


class Context:
    """Handed through every closure of one rendering. `called` and `rendered` count variables, for
    groups.
    """

    __slots__ = (
        "called", "citation_label", "citation_number", "cite", "dates", "disambiguation", "et_al",
        "fields",
        "given_level", "has_locator", "has_year_suffix", "in_bibliography", "in_sort",
        "is_comparing", "is_subsequent",
        "item", "name_sets", "names", "names_text", "present", "rendered", "substitution",
        "suppress_names", "suppressed",
        "trace", "year_suffix",
    )  # fmt: skip

    def __init__(
        self, item: Item, cite: Cite = NO_CITE, disambiguation: Disambiguation = NO_DISAMBIGUATION
    ) -> None:
        self.item = item
        self.fields = item.fields
        self.names = item.names
        self.et_al = item.et_al
        self.dates = item.dates
        self.present = item.present
        self.cite = cite
        self.disambiguation = disambiguation
        self.called = 0
        self.rendered = 0
        self.suppressed: set[str] | None = None
        self.trace: list[str] | None = None
        self.name_sets: list[NameSet] = []
        self.names_text: str | None = None
        self.suppress_names = False
        self.substitution: NameSubstitution | None = None
        self.in_bibliography = False
        self.in_sort = False
        self.is_subsequent = False
        self.is_comparing = False
        self.citation_number = 0
        self.citation_label = ""
        self.year_suffix = ""
        self.has_year_suffix = False
        self.has_locator = False
        self.given_level: GivenLevel | None = None
