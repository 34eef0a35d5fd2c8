"""First, subsequent, ibid: where each cite stands in the sequence of all citations."""

from dataclasses import dataclass, field

from .context import FIRST, IBID, IBID_WITH_LOCATOR, SUBSEQUENT, Cite


@dataclass(slots=True)
class Cluster:
    """One citation in the text: its cites and the note it stands in (0 in running text).

    `mode` is empty, `author-only`, `suppress-author` or `composite` (names in the sentence, the
    rest after them, `infix`
    between). With `has_positions` the cites already say whether they are first, subsequent or ibid.
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
    notes: list[int] = field(default_factory=list)


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
            cite.first_note_number = known.first_note
            cite.is_near_note = cluster.note_number - known.last_note <= near_note_distance
            cite.position = _position(cite, place, cluster, previous)
            known.last_note = cluster.note_number
        last[cluster.note_number > 0] = cluster


def _position(cite: Cite, place: int, cluster: Cluster, previous: Cluster | None) -> str:
    if place > 0:
        before = cluster.cites[place - 1]
    elif previous is not None and previous.cites and len({one.id for one in previous.cites}) == 1:
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
