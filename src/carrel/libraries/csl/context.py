"""What changes from one rendering to the next: the item, the cite, and what has been rendered."""

from collections.abc import Callable
from dataclasses import dataclass, field

from .items import CitedItem
from .name_values import PersonName
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
        if "." in self.locator:
            label = read_numbers(self.locator).label
            if label:
                self.label = label
                self.locator = self.locator.strip().split(None, 1)[1]


@dataclass(slots=True)
class Disambiguation:
    """What an item needs to be unambiguous: names, given names, a letter, conditions.

    Of the tests for `disambiguate` so many are true as are counted here, first those met first.
    """

    name_counts: list[int] = field(default_factory=list)
    given_levels: list[list[int]] = field(default_factory=list)
    conditions: int = 0
    year_suffix: int = 0

    def copy(self) -> "Disambiguation":
        return Disambiguation(
            list(self.name_counts),
            [list(levels) for levels in self.given_levels],
            self.conditions,
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
    """A rendered list of names: how many there were, how many were shown, and who they are."""

    total: int
    shown: int
    levels: list[int]
    names: list[str]


# How much of a given name a rule asks for: the name, its place in the list, the level without the
# rule, and whether there are initials.
GivenLevel = Callable[[PersonName, int, int, bool], int]
NO_CITE = Cite("")
NO_DISAMBIGUATION = Disambiguation()


class RenderContext:
    """State of one rendering. `called` and `rendered` count variables, for groups."""

    __slots__ = (
        "called", "citation_label", "citation_number", "cite", "dates", "disambiguation", "et_al",
        "fields", "given_level", "has_locator", "has_silent_names", "has_substitute",
        "has_year_suffix", "in_bibliography", "is_comparing", "is_subsequent", "item",
        "keeps_letter", "name_lists", "name_sets", "names", "names_text", "present", "rendered",
        "saw_names", "substitute_text", "substitution", "suppress_dates", "suppress_names",
        "suppressed", "tested_conditions", "trace", "year_suffix",
    )  # fmt: skip

    def __init__(
        self,
        item: CitedItem,
        cite: Cite = NO_CITE,
        disambiguation: Disambiguation = NO_DISAMBIGUATION,
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
        # How many tests for `disambiguate` were met so far.
        self.tested_conditions = 0
        self.rendered = 0
        self.suppressed: set[str] | None = None
        self.trace: list[str] | None = None
        self.name_sets: list[NameSet] = []
        self.name_lists: list[list[PersonName]] = []
        self.names_text: str | None = None
        self.substitute_text = ""
        # Whether a field stands for the names, not words of the style.
        self.has_substitute = False
        # Whether a cs:names of the layout has said nothing so far.
        self.has_silent_names = False
        self.suppress_names = False
        self.saw_names = False
        self.suppress_dates = False
        self.keeps_letter = False
        self.substitution: NameSubstitution | None = None
        self.in_bibliography = False
        self.is_subsequent = False
        self.is_comparing = False
        self.citation_number = 0
        self.citation_label = ""
        self.year_suffix = ""
        self.has_year_suffix = False
        self.has_locator = False
        self.given_level: GivenLevel | None = None


@dataclass(slots=True)
class Cluster:
    """One citation in the text: its cites and the number of its note (0 in running text).

    `mode` is empty, `author-only`, `suppress-author` or `composite` (names, `infix`, the rest).
    With `has_positions` the cites have their positions already.
    """

    cites: list[Cite]
    note_number: int = 0
    id: str = ""
    mode: str = ""
    infix: str = ""
    is_unsorted: bool = False
    has_positions: bool = False


@dataclass(slots=True)
class _Seen:
    first_note: int = 0
    last_note: int = 0


def set_positions(clusters: list[Cluster], near_note_distance: int) -> None:
    seen: dict[str, _Seen] = {}
    last: dict[bool, Cluster] = {}  # running text and notes are each a sequence of their own
    for cluster in clusters:
        previous = last.get(cluster.note_number > 0)
        for place, cite in enumerate(cluster.cites):
            known = seen.get(cite.id)
            if known is None:
                seen[cite.id] = _Seen(cluster.note_number, cluster.note_number)
                cite.position = FIRST
                cite.first_note_number = 0
                cite.is_near_note = False
                continue
            is_same_note = known.first_note == cluster.note_number
            cite.first_note_number = 0 if is_same_note else known.first_note
            cite.is_near_note = cluster.note_number - known.last_note <= near_note_distance
            cite.position = _position(cite, place, cluster, previous)
            known.last_note = cluster.note_number
        last[cluster.note_number > 0] = cluster


def _position(cite: Cite, place: int, cluster: Cluster, previous: Cluster | None) -> str:
    if place > 0:
        before = cluster.cites[place - 1]
    elif previous is not None and len(previous.cites) == 1:
        if cluster.note_number - previous.note_number > 1 and previous.note_number:
            return SUBSEQUENT
        before = previous.cites[-1]
    else:
        return SUBSEQUENT
    if before.id != cite.id:
        return SUBSEQUENT
    if before.locator:
        if not cite.locator:
            return SUBSEQUENT
        same = before.locator == cite.locator and before.label == cite.label
        return IBID if same else IBID_WITH_LOCATOR
    return IBID_WITH_LOCATOR if cite.locator else IBID
