"""Draws the map of a corpus and keeps it up to date: what is on it never moves unasked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from carrel.core.clock import Clock
from carrel.core.progress import Progress
from carrel.libraries.discovery.records import Paper
from carrel.libraries.map_layout import (
    MOST_LANDMARKS,
    MapModel,
    MapText,
    Vector,
    choose_landmarks,
    fit_map,
)
from carrel.rooms.papers.errors import EmptyMapError
from carrel.rooms.papers.map_models import MapReport
from carrel.rooms.papers.map_ports import MapFile, MapTexts, PlacedPaper, StoredMap

# When more papers than this share of those laid out have been added, the map is drawn anew. Fitted
# on SciFact: with 30 placed for 70 laid out trustworthiness is .925, and .939 with all laid out
# (`make judge-map`).
MAX_ADDED_SHARE = 0.5
_PHASES = {
    "terms": ("reading", "papers"),
    "space": ("finding topics", "rounds"),
    "neighbours": ("finding neighbours", "papers"),
    "layout": ("laying out", "epochs"),
    "regions": ("naming regions", "steps"),
}


@dataclass(slots=True)
class _Placing:
    """What came of placing papers."""

    papers: list[PlacedPaper] = field(default_factory=list)
    not_placed: int = 0


class MapMaker:
    """Brings the map of one corpus up to date."""

    def __init__(
        self, texts: MapTexts, file: MapFile, clock: Clock, most_landmarks: int = MOST_LANDMARKS
    ) -> None:
        self._texts = texts
        self._file = file
        self._clock = clock
        self._most_landmarks = most_landmarks

    def update(self, *, again: bool, progress: Progress) -> MapReport:
        """Place what is new and drop what is gone; lay out anew if asked or too much is new.

        Raises EmptyMapError where no paper can be placed.
        """
        # Read first: what changes while the map is drawn makes the state differ afterwards.
        state = self._texts.state()
        known = None if again else self._file.load()
        ids = [paper.id for paper, _ in self._texts.everything()]
        added = 0 if known is None else len(set(ids) - {each.paper_id for each in known.papers})
        if known is None or added - known.not_placed > MAX_ADDED_SHARE * known.laid_out:
            return self._draw_anew(ids, state, progress)
        return self._extend(known, ids, state, progress)

    def _draw_anew(self, ids: Sequence[str], state: str, progress: Progress) -> MapReport:
        landmarks = choose_landmarks(ids, self._most_landmarks)
        texts = [_as_text(paper) for paper, _ in self._texts.everything() if paper.id in landmarks]
        try:
            model = fit_map(texts, report=_PhaseReport(progress))
        except ValueError as error:
            raise EmptyMapError from error
        places = dict(zip(model.landmark_ids, model.places, strict=True))
        placing = _Placing()
        progress.begin("placing", len(ids), "papers")
        for paper, _ in self._texts.everything():
            place = places.get(paper.id)
            if place is None and paper.id not in landmarks:
                vector = model.vector_of(_as_text(paper))
                place = None if vector is None else model.place(paper.id, vector)
            _put(placing, model, paper, place, len(placing.papers) + 1)
            progress.advance()
        progress.end()
        self._save(StoredMap(model, (), len(placing.papers), 0, state, ""), placing)
        return MapReport(
            papers=len(placing.papers),
            placed=len(placing.papers),
            left=0,
            not_placed=placing.not_placed,
            is_drawn_anew=True,
        )

    def _extend(
        self, known: StoredMap, ids: Sequence[str], state: str, progress: Progress
    ) -> MapReport:
        model, placing = known.model, _Placing()
        on_map = {each.paper_id: each for each in known.papers}
        next_number = max((each.number for each in known.papers), default=0) + 1
        joining: list[tuple[str, Vector, complex]] = []
        progress.begin("placing", len(ids), "papers")
        for paper, _ in self._texts.everything():
            stays = on_map.get(paper.id)
            if stays is not None:
                placing.papers.append(replace(stays, title=paper.title, year=paper.year))
            else:
                vector = model.vector_of(_as_text(paper))
                place = None if vector is None else model.place(paper.id, vector)
                if vector is not None and place is not None:
                    joining.append((paper.id, vector, place))
                _put(placing, model, paper, place, next_number)
                next_number += place is not None
            progress.advance()
        progress.end()
        # Later papers are placed among these too.
        model.join(joining[: max(0, self._most_landmarks - len(model.landmark_ids))])
        self._save(replace(known, corpus_state=state), placing)
        present = {each.paper_id for each in placing.papers}
        return MapReport(
            papers=len(placing.papers),
            placed=len(present - on_map.keys()),
            left=len(on_map.keys() - present),
            not_placed=placing.not_placed,
            is_drawn_anew=False,
        )

    def _save(self, drawn: StoredMap, placing: _Placing) -> None:
        self._file.save(
            replace(
                drawn,
                papers=tuple(placing.papers),
                not_placed=placing.not_placed,
                drawn_at=self._clock.now().isoformat(timespec="seconds"),
            )
        )


class _PhaseReport:
    """Reports of the layout as phases of progress."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._phase = ""
        self._done = 0

    def __call__(self, phase: str, done: int, total: int) -> None:
        if phase != self._phase:
            self._phase, self._done = phase, 0
            name, unit = _PHASES[phase]
            self._progress.begin(name, total, unit)
        self._progress.advance(done - self._done)
        self._done = done
        if done == total:
            self._progress.end()


def _put(
    placing: _Placing, model: MapModel, paper: Paper, place: complex | None, number: int
) -> None:
    if place is None:
        placing.not_placed += 1
        return
    region = model.regions.region_at(place)
    placing.papers.append(
        PlacedPaper(number, paper.id, paper.title, paper.year, region, place.real, place.imag)
    )


def _as_text(paper: Paper) -> MapText:
    return MapText(paper.id, paper.title, paper.abstract, paper.keywords, paper.year)
