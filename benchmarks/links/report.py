"""Our ranking of pairs that never met beside the usual link-prediction measures, on time slices."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.discovery_data import medline, mesh
from benchmarks.links.baselines import MEASURES, Neighbourhood, PairMeasures
from benchmarks.links.measures import (
    FIRST,
    Flags,
    Numbers,
    StartScore,
    fit_logistic,
    interval,
    score_start,
)
from benchmarks.links.slices import LinkSlice, Years, slice_by_names, slice_by_texts
from carrel.libraries.discovery.paths.abc_paths import ends
from carrel.libraries.discovery.paths.link_prediction import prospect
from carrel.libraries.discovery.records import Paper

EARLIER = Years(2016, 2018, 2020)
LATER = Years(2019, 2021, 9999)
MEDLINE_YEARS = Years(1977, 1978, 1979)
LEAST_PAPERS = 3
LEAST_PAPERS_OF_TEXTS = 8
LEAST_PAPERS_OF_HEADINGS = 10
RARE = 30
FIT_STARTS = 100
TEST_STARTS = 160
# Starts as the published figures have them: a random pair of theirs comes true in 1 % of cases.
KNOWN_FINDS = 5
KNOWN_PAPERS = 8
NINE_HERE = "logistic of nine, fitted here"
NINE_EARLIER = "logistic of nine, fitted elsewhere"
OURS = "ours"
SHOWN = (
    "common_neighbours",
    "adamic_adar",
    "resource_allocation",
    "weighted_by_npmi",
    "preferential_attachment",
    "cosine",
)


@dataclass(frozen=True)
class ScoredStart:
    """The candidates of a start with every ranking's scores."""

    scores: dict[str, Numbers]
    is_found: Flags
    uses: Numbers
    is_apart: Flags

    def judge(self, name: str, among: Flags) -> StartScore | None:
        """How one ranking does among some candidates; None where none of them came true."""
        found = self.is_found[among]
        if not found.any() or found.all():
            return None
        return score_start(self.scores[name][among], found, self.uses[among])


def nine_rows(of: LinkSlice, start: int, candidates: Sequence[int]) -> list[PairMeasures]:
    """The nine measures of a start and its candidates."""
    return Neighbourhood(of).measure(start, candidates)


def fit_nine(of: LinkSlice, starts: Sequence[int]) -> Numbers:
    """Weights of the nine, fitted on all candidates of some starts."""
    rows: list[list[float]] = []
    found: list[bool] = []
    for start in starts:
        candidates, true = of.candidates(start), of.finds(start)
        rows += [own.row() for own in nine_rows(of, start, candidates)]
        found += [number in true for number in candidates]
    return fit_logistic(np.array(rows), np.array(found))


def score_candidates(of: LinkSlice, start: int, fitted: dict[str, Numbers]) -> ScoredStart:
    """Every ranking of a start's candidates."""
    candidates, true = of.candidates(start), of.finds(start)
    own = nine_rows(of, start, candidates)
    rows = np.array([one.row() for one in own])
    scores = {name: rows[:, MEASURES.index(name)] for name in SHOWN}
    scores |= {name: rows @ weights for name, weights in fitted.items()}
    company = of.reader.company
    here = company(start)
    scores[OURS] = np.array([prospect(here, company(number)) for number in candidates])
    return ScoredStart(
        scores,
        np.array([number in true for number in candidates]),
        np.array([float(of.uses[number]) for number in candidates]),
        np.array([not of.meet_in_texts(start, number) for number in candidates]),
    )


def show_table(
    title: str, starts: Sequence[ScoredStart], among: Callable[[ScoredStart], Flags]
) -> None:
    """Each ranking with intervals over starts, and how far it is from the logistic of nine."""
    chosen = [(one, flags) for one in starts if (flags := among(one)).any()]
    kept = [(one, flags) for one, flags in chosen if one.judge(OURS, flags)]
    if not kept:
        print(f"  {title}: no start has a find among them")
        return
    by_lot = np.mean([one.is_found[flags].mean() for one, flags in kept])
    print(f"  {title}: {len(kept)} starts, at random P@10 {by_lot:.3f}")
    scored = {
        name: [judged for one, flags in kept if (judged := one.judge(name, flags))]
        for name in kept[0][0].scores
    }
    for name, own in scored.items():
        area = interval([one.area for one in own])
        first = interval([one.precision for one in own])
        pairs = list(zip(own, scored[NINE_HERE], strict=True))
        more_area = interval([one.area - other.area for one, other in pairs])
        more = interval([one.precision - other.precision for one, other in pairs])
        papers = np.mean([one.papers for one in own])
        print(
            f"    {name.replace('_', ' '):34} AUC {_range(area)}  P@10 {_range(first)}"
            f"  to the nine {_signed(more_area)}, {_signed(more)}  papers {papers:.0f}"
        )


def _range(value: tuple[float, float, float]) -> str:
    return "{:.3f} [{:.3f}, {:.3f}]".format(*value)


def _signed(value: tuple[float, float, float]) -> str:
    return "{:+.3f} [{:+.3f}, {:+.3f}]".format(*value)


def show_proposals(of: LinkSlice, starts: Sequence[int]) -> None:
    """What open discovery itself proposes: its first ten ends, of all concepts it knows."""
    shares, papers, seconds = [], [], []
    for start in starts:
        begun = time.process_time()
        literature = of.reader.literature([of.reader.index.key(start)])
        first = () if literature is None else ends(of.reader, literature, FIRST)
        seconds.append(time.process_time() - begun)
        true = of.finds(start)
        shares.append(sum(end.concept in true for end in first) / FIRST)
        papers.append(float(np.mean([of.uses.get(end.concept, 0) for end in first] or [0])))
    print(
        f"  open discovery, first ten ends from the same {len(starts)} starts (no paper joins them "
        f"more than chance, none is broad): P@10 {_range(interval(shares))}  papers "
        f"{np.mean(papers):.0f}; {np.median(seconds):.2f} CPU s a start, at most {max(seconds):.2f}"
    )


def show_slice(title: str, of: LinkSlice, earlier: Numbers, *, with_known: bool = False) -> None:
    """Tables of one slice: all candidates, rare ones, and those that no text joins either."""
    finds = sum(len(of.finds(number)) for number in of.concepts) // 2
    print(f"\n{title}: {len(of.reader.index)} papers, {len(of.concepts)} concepts, {finds} pairs")
    drawn = of.starts(FIT_STARTS + TEST_STARTS, seed=1)
    fitted = {NINE_HERE: fit_nine(of, drawn[:FIT_STARTS]), NINE_EARLIER: earlier}
    sets = {"starts with a find": drawn[FIT_STARTS:]}
    if with_known:
        known = of.starts(FIT_STARTS + TEST_STARTS, 2, KNOWN_FINDS, KNOWN_PAPERS)
        name = f"starts in {KNOWN_PAPERS} papers with {KNOWN_FINDS} finds"
        sets[name] = [one for one in known if one not in drawn[:FIT_STARTS]][:TEST_STARTS]
    for name, starts in sets.items():
        scored = [score_candidates(of, start, fitted) for start in starts]
        show_table(f"{name}, all never met", scored, lambda one: one.uses > 0)
        show_table(f"{name}, in < {RARE} papers", scored, lambda one: one.uses < RARE)
        if any((~one.is_apart).any() for one in scored):
            show_table(f"{name}, no text joins them either", scored, lambda one: one.is_apart)
            show_table(
                f"{name}, no text joins them either, in < {RARE} papers",
                scored,
                lambda one: one.is_apart & (one.uses < RARE),
            )
        show_proposals(of, starts)


def report(folder: Path, papers: Sequence[Paper]) -> None:
    """eLife with keywords and without, and MEDLINE headings, none of which ours was fitted on."""
    before = slice_by_names(papers, EARLIER, LEAST_PAPERS)
    earlier = fit_nine(before, before.starts(FIT_STARTS, seed=1))
    of = slice_by_names(papers, LATER, LEAST_PAPERS)
    show_slice("eLife keywords up to 2019, first joined from 2021 on", of, earlier, with_known=True)
    texts = slice_by_texts(papers, LATER, LEAST_PAPERS_OF_TEXTS)
    show_slice("eLife without keywords, the same years", texts, earlier)
    vocabulary = mesh(folder)
    titles = list(medline(folder, with_headings=True))
    if vocabulary is None or not titles:
        print("\nMEDLINE: skipped, no titles with headings in the folder")
        return
    headings = slice_by_names(titles, MEDLINE_YEARS, LEAST_PAPERS_OF_HEADINGS, vocabulary)
    show_slice("MEDLINE headings of 1977, first joined in 1978 or 1979", headings, earlier)
