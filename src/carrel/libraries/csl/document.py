"""The citations of one document: an edit of one returns every citation that it changed."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from .catalogue import load_style
from .context import Cite, Cluster, set_positions
from .errors import CiteBrokenError, ClusterNotFoundError, ItemBrokenError, ItemNotFoundError
from .processor import Processor
from .rendered import RenderedText
from .style import Style

MODES = ("", "author-only", "suppress-author", "composite")
_labels = """act appendix article-locator article book canon chapter column elocation equation
    figure folio issue line note opus page paragraph part rule scene section sub-verbo supplement
    surah table timestamp title-locator title verse version volume"""
LOCATOR_LABELS = frozenset(_labels.split())
# What a citation is made of: a cluster, or cites and ids of items alone.
Citation = Cluster | Cite | str | Sequence[Cite | str]


@dataclass(frozen=True, slots=True)
class DocumentUpdate:
    """What an edit did: the cluster it was about, and every citation that reads otherwise now.

    `bibliography_changed` says that entries may have changed, their order or their numbers.
    """

    id: str
    changed: Mapping[str, RenderedText]
    bibliography_changed: bool

    @property
    def citation(self) -> RenderedText | None:
        """The cluster that the edit was about, where it reads otherwise now."""
        return self.changed.get(self.id)


@dataclass(frozen=True, slots=True)
class DocumentEntry:
    """One entry of a document's bibliography."""

    id: str
    content: RenderedText


@dataclass(frozen=True, slots=True)
class Bibliography:
    """The entries in the style's order, and how the style wants them set."""

    entries: tuple[DocumentEntry, ...]
    has_hanging_indent: bool = False
    second_field_align: str = ""
    line_spacing: int = 1
    entry_spacing: int = 1

    @property
    def text(self) -> str:
        """One entry a line."""
        return "\n".join(entry.content.text for entry in self.entries)

    @property
    def html(self) -> str:
        """The entries as `csl-entry` in a `csl-bib-body`."""
        rows = [f'  <div class="csl-entry">{entry.content.html}</div>' for entry in self.entries]
        return "\n".join(['<div class="csl-bib-body">', *rows, "</div>"])

    @property
    def markdown(self) -> str:
        """One paragraph an entry."""
        return "\n\n".join(entry.content.markdown for entry in self.entries)


@dataclass(frozen=True, slots=True)
class _Shown:
    """A citation with all that its text was made from."""

    cluster: Cluster
    state: tuple[object, ...]
    content: RenderedText


class Document:
    """Citations of one document in its order. Not for several threads at once.

    In a note style a cluster without a note number stands in the note after the one before it;
    with `number_notes=False` it stands in the running text.
    """

    def __init__(
        self,
        style: str | Path | Style,
        items: Iterable[Mapping[str, Any]] = (),
        *,
        locale: str | None = None,
        folder: Path | None = None,
        number_notes: bool = True,
    ) -> None:
        self._folder = folder
        self._number_notes = number_notes
        self._sources: dict[str, Mapping[str, Any]] = {}
        self._clusters: dict[str, Cluster] = {}
        self._uncited: tuple[str, ...] = ()
        self._shown: dict[str, _Shown] = {}
        self._registered: tuple[str, ...] | None = None
        self._listed: tuple[object, ...] = ()
        self._edition = 0
        self._count = 0
        self._processor = self._make_processor(style, locale)
        self.add_items(items)

    @property
    def style(self) -> Style:
        return self._processor.style

    @property
    def locale(self) -> str:
        """The code of the locale in use."""
        return self._processor.locale.language

    @property
    def item_ids(self) -> list[str]:
        return list(self._sources)

    @property
    def cluster_ids(self) -> list[str]:
        """The citations in the order of the document."""
        return list(self._clusters)

    @property
    def citations(self) -> dict[str, RenderedText]:
        """Every citation as it reads now, in the order of the document."""
        return {name: self._shown[name].content for name in self._clusters}

    def cluster(self, id: str) -> Cluster:
        """A copy of a citation, with the note and the positions that it has in the document."""
        self._find(id)
        placed = self._shown[id].cluster
        return replace(placed, cites=[replace(cite) for cite in placed.cites])

    def add_items(self, items: Iterable[Mapping[str, Any]]) -> DocumentUpdate:
        """Add items, or give items new fields; two of one id in a call are refused."""
        added: dict[str, Mapping[str, Any]] = {}
        for item in items:
            name = _item_id(item)
            if name in added:
                raise ItemBrokenError(name, "id", "two items have it.")
            added[name] = item
        # Items that cannot be read are refused before any of them counts.
        Processor(self.style, added.values())
        self._processor.add_items(added.values())
        self._sources |= added
        self._edition += 1
        self._registered = None
        return self._commit("", self._clusters)

    def insert(
        self, citation: Citation, *, before: str | None = None, note_number: int | None = None
    ) -> DocumentUpdate:
        """Put a citation at the end, or before another one."""
        cluster = self._read(citation, note_number)
        if not cluster.id:
            cluster.id = self._free_id()
        elif cluster.id in self._clusters:
            raise CiteBrokenError(
                cluster.id, "is in the document already", next_step="Use replace() or another id."
            )
        return self._commit(cluster.id, self._with(cluster, before))

    def replace(
        self, id: str, citation: Citation, *, note_number: int | None = None
    ) -> DocumentUpdate:
        """Put another citation in the place of one, under its id."""
        old = self._find(id)
        cluster = self._read(citation, note_number)
        if note_number is None and not isinstance(citation, Cluster):
            cluster.note_number = old.note_number
        cluster.id = id
        return self._commit(id, {**self._clusters, id: cluster})

    def remove(self, id: str) -> DocumentUpdate:
        """Take a citation out."""
        self._find(id)
        return self._commit(id, {name: one for name, one in self._clusters.items() if name != id})

    def set_clusters(self, clusters: Iterable[Cluster]) -> DocumentUpdate:
        """Make these the citations of the document, in this order, in one step."""
        wanted: dict[str, Cluster] = {}
        for given in clusters:
            cluster = self._read(given, None)
            if not cluster.id:
                cluster.id = self._free_id(wanted)
            elif cluster.id in wanted:
                raise CiteBrokenError(
                    cluster.id, "is there twice", next_step="Give each cluster an id of its own."
                )
            wanted[cluster.id] = cluster
        return self._commit("", wanted)

    def set_uncited(self, ids: Iterable[str]) -> DocumentUpdate:
        """Works that stand in the bibliography although no citation names them."""
        wanted = tuple(dict.fromkeys(ids))
        for name in wanted:
            self._check_item(name)
        self._uncited = wanted
        return self._commit("", self._clusters)

    def set_style(self, style: str | Path | Style, *, locale: str | None = None) -> DocumentUpdate:
        """Write the document in another style or language."""
        processor = self._make_processor(style, locale)
        processor.add_items(self._sources.values())
        self._processor = processor
        self._registered = None
        self._edition += 1
        return self._commit("", self._clusters)

    def preview(
        self, citation: Citation, *, before: str | None = None, note_number: int | None = None
    ) -> RenderedText:
        """How a citation would read there; the document stays as it is."""
        cluster = self._read(citation, note_number)
        cluster.id = self._free_id()
        return self._render(self._with(cluster, before))[cluster.id].content

    def bibliography(self) -> Bibliography:
        """The works that are cited, and those of `set_uncited`; empty where the style has none."""
        self._register(self._clusters)
        layout = self._processor.compiled.bibliography
        options = layout.options if layout is not None else {}
        return Bibliography(
            tuple(DocumentEntry(*each) for each in self._processor.render_entries()),
            options.get("hanging-indent") == "true",
            options.get("second-field-align", ""),
            _read_spacing(options.get("line-spacing")),
            _read_spacing(options.get("entry-spacing")),
        )

    def _make_processor(self, style: str | Path | Style, locale: str | None) -> Processor:
        loaded = style if isinstance(style, Style) else load_style(style, folder=self._folder)
        return Processor(loaded, (), locale=locale)

    def _commit(self, id: str, clusters: dict[str, Cluster]) -> DocumentUpdate:
        shown = self._render(clusters)
        changed = {
            name: one.content
            for name, one in shown.items()
            if name not in self._shown or self._shown[name].content != one.content
        }
        self._clusters, self._shown = dict(clusters), shown
        before, self._listed = self._listed, self._bibliography_state()
        return DocumentUpdate(id, changed, before != self._listed)

    def _bibliography_state(self) -> tuple[object, ...]:
        """What the entries depend on, as it was when the document was last rendered."""
        processor = self._processor
        return (
            self._edition,
            tuple(processor.order),
            dict(processor.numbers),
            dict(processor.disambiguations),
        )

    def _render(self, clusters: dict[str, Cluster]) -> dict[str, _Shown]:
        """The citations of a document of these clusters; those that nothing touched are kept."""
        self._register(clusters)
        placed = self._place(clusters)
        shown: dict[str, _Shown] = {}
        for name, cluster in placed.items():
            state = self._state_of(cluster)
            kept = self._shown.get(name)
            if kept is not None and kept.cluster == cluster and kept.state == state:
                shown[name] = kept
            else:
                (content,) = self._processor.render_citations([cluster])
                shown[name] = _Shown(cluster, state, content)
        return shown

    def _register(self, clusters: dict[str, Cluster]) -> None:
        cited = [cite.id for cluster in clusters.values() for cite in cluster.cites]
        ids = tuple(dict.fromkeys([*cited, *self._uncited]))
        if ids != self._registered:
            self._registered = None
            self._processor.register(ids)
            self._registered = ids

    def _place(self, clusters: dict[str, Cluster]) -> dict[str, Cluster]:
        """Copies with their notes and positions, which the caller's own clusters do not get."""
        placed = {}
        last_note = 0
        for name, cluster in clusters.items():
            note = cluster.note_number
            if not note and self.style.is_note and self._number_notes:
                note = last_note + 1
            last_note = note or last_note
            cites = [replace(cite) for cite in cluster.cites]
            placed[name] = self._processor.in_order(replace(cluster, cites=cites, note_number=note))
        set_positions(list(placed.values()), self._processor.near_note_distance)
        self._processor.note_first_cites(list(placed.values()))
        return placed

    def _state_of(self, cluster: Cluster) -> tuple[object, ...]:
        processor = self._processor
        known = processor.given_names
        # These rules look at the names of all works, not only at those of a cite.
        is_global = known is not None and known.rule != "by-cite"
        return (
            self._edition,
            tuple(processor.order) if is_global else (),
            [
                (processor.numbers[cite.id], processor.disambiguations.get(cite.id))
                for cite in cluster.cites
            ],
        )

    def _with(self, cluster: Cluster, before: str | None) -> dict[str, Cluster]:
        if before is None:
            return {**self._clusters, cluster.id: cluster}
        self._find(before)
        out: dict[str, Cluster] = {}
        for name, one in self._clusters.items():
            if name == before:
                out[cluster.id] = cluster
            out[name] = one
        return out

    def _find(self, id: str) -> Cluster:
        if id not in self._clusters:
            raise ClusterNotFoundError(id)
        return self._clusters[id]

    def _free_id(self, taken: Mapping[str, Cluster] | None = None) -> str:
        while True:
            self._count += 1
            name = f"citation-{self._count}"
            if name not in self._clusters and (taken is None or name not in taken):
                return name

    def _read(self, citation: Citation, note_number: int | None) -> Cluster:
        """A cluster of our own, checked whole."""
        cluster = _read_cluster(citation)
        if note_number is not None:
            cluster.note_number = note_number
        _check_cluster(cluster)
        for cite in cluster.cites:
            self._check_item(cite.id)
        return cluster

    def _check_item(self, name: str) -> None:
        if name not in self._sources:
            raise ItemNotFoundError(name)


def _item_id(item: Mapping[str, Any]) -> str:
    if not isinstance(item, Mapping):
        raise ItemBrokenError("?", "?", "an item is an object with fields.")
    name = str(item.get("id", ""))
    if not name:
        raise ItemBrokenError("?", "id", "an item of a document has an id.")
    return name


def _read_cluster(citation: Citation) -> Cluster:
    if isinstance(citation, Cluster):
        return replace(citation, cites=[replace(cite) for cite in citation.cites])
    given = [citation] if isinstance(citation, Cite | str) else citation
    return Cluster([Cite(each) if isinstance(each, str) else replace(each) for each in given])


def _check_cluster(cluster: Cluster) -> None:
    if not cluster.cites:
        raise CiteBrokenError(
            cluster.id, "cites nothing", next_step="Give it a cite, or remove it."
        )
    if cluster.mode not in MODES:
        named = ", ".join(mode for mode in MODES if mode)
        raise CiteBrokenError(
            cluster.id, f"has the mode {cluster.mode!r}", next_step=f"Modes are {named}, or none."
        )
    if cluster.note_number < 0:
        raise CiteBrokenError(
            cluster.id, "has a note number below 0", next_step="Notes are counted from 1."
        )
    for cite in cluster.cites:
        if cite.locator and cite.label not in LOCATOR_LABELS:
            alike = difflib.get_close_matches(cite.label, sorted(LOCATOR_LABELS), n=2, cutoff=0.5)
            raise CiteBrokenError(
                cluster.id,
                f"has a locator with the label {cite.label!r}",
                next_step=f"Use {' or '.join(alike or ['page', 'chapter'])}.",
            )


def _read_spacing(value: str | None) -> int:
    return int(value[:3]) if value and value.isdecimal() else 1
