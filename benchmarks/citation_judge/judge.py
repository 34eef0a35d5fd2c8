"""Draws jobs, renders each by both engines, shrinks every difference and files it by cause.

    python -m benchmarks.citation_judge.judge PEERS --seeds 0:500 [--locales all] [--output html]

PEERS is a folder with citeproc-js (`npm install --prefix PEERS citeproc`).
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from benchmarks.citation_judge.engines import CiteprocJs, Rendering, render_ours
from benchmarks.citation_judge.families import FAMILIES, draw_family_job
from benchmarks.citation_judge.faults import normal
from benchmarks.citation_judge.jobs import Cluster, Job, draw_job, independent_styles, locales
from benchmarks.citation_judge.theirs import find_fault


@dataclass(frozen=True)
class Difference:
    """One text on which the engines differ, after shrinking its job."""

    seed: int
    part: str
    ours: str
    theirs: str
    job: Job


def differences(ours: Rendering, theirs: Rendering) -> Iterator[tuple[str, str, str]]:
    if theirs.error:
        return
    if ours.error:
        yield "error", ours.error, ""
        return
    for number, (one, other) in enumerate(zip(ours.citations, theirs.citations, strict=False)):
        if normal(one) != normal(other):
            yield f"citation {number}", one, other
    is_shorter = len(theirs.bibliography) < len(theirs.order)
    if ours.order != theirs.order and not (
        # It names works whose entries are empty, which it does not write.
        is_shorter and len(ours.bibliography) == len(theirs.bibliography)
    ):
        yield "order", " ".join(ours.order), " ".join(theirs.order)
        return
    for name, one, other in zip(ours.order, ours.bibliography, theirs.bibliography, strict=False):
        if normal(one) != normal(other):
            yield f"entry {name}", one, other


def count_texts(rendering: Rendering) -> int:
    return len(rendering.citations) + len(rendering.bibliography)


def simpler(job: Job) -> Iterator[Job]:
    """The job with one thing less or plainer, largest things first."""
    for at in range(len(job.clusters)):
        yield replace(job, clusters=job.clusters[:at] + job.clusters[at + 1 :])
    yield from _fewer_items(job)
    yield from _fewer_cites(job)
    for at, item in enumerate(job.items):
        # A work without a title is seldom what differs.
        for name in [each for each in item if each not in {"id", "type", "title"}]:
            yield _with_item(job, at, {key: item[key] for key in item if key != name})
            value = item[name]
            if isinstance(value, list) and len(value) > 1:
                for place in range(len(value)):
                    yield _with_item(job, at, {**item, name: value[:place] + value[place + 1 :]})
    yield from _plainer_values(job)


def _fewer_items(job: Job) -> Iterator[Job]:
    for at, item in enumerate(job.items):
        rest = job.items[:at] + job.items[at + 1 :]
        clusters = [
            {**one, "items": [cite for cite in one["items"] if cite["id"] != item["id"]]}
            for one in job.clusters
        ]
        if rest:
            yield replace(job, items=rest, clusters=[one for one in clusters if one["items"]])


def _fewer_cites(job: Job) -> Iterator[Job]:
    for at, cluster in enumerate(job.clusters):
        for place, cite in enumerate(cluster["items"]):
            others = cluster["items"][:place] + cluster["items"][place + 1 :]
            if others:
                yield _with_cluster(job, at, {**cluster, "items": others})
            for name in [each for each in cite if each != "id"]:
                fewer = {key: value for key, value in cite.items() if key != name}
                items = [*cluster["items"][:place], fewer, *cluster["items"][place + 1 :]]
                yield _with_cluster(job, at, {**cluster, "items": items})


def _plainer_values(job: Job) -> Iterator[Job]:
    plain = {"family": "Doe", "given": "John"}
    for at, item in enumerate(job.items):
        if item.get("title") not in (None, "A study of things"):
            yield _with_item(job, at, {**item, "title": "A study of things"})
        if item["type"] != "book":
            yield _with_item(job, at, {**item, "type": "book"})
        for name, value in item.items():
            for place, person in enumerate(value if isinstance(value, list) else ()):
                if person != plain:
                    people = [*value[:place], plain, *value[place + 1 :]]
                    yield _with_item(job, at, {**item, name: people})


def _with_cluster(job: Job, at: int, cluster: dict[str, object]) -> Job:
    return replace(job, clusters=[*job.clusters[:at], cluster, *job.clusters[at + 1 :]])


def _with_item(job: Job, at: int, item: dict[str, object]) -> Job:
    return replace(job, items=[*job.items[:at], item, *job.items[at + 1 :]])


def first_difference(
    job: Job, peer: CiteprocJs, kind: str, output: str
) -> tuple[str, str, str] | None:
    for found in differences(render_ours(job, output), peer.render(job, output)):
        if found[0].split()[0] == kind:
            return found
    return None


def shrink(job: Job, part: str, peer: CiteprocJs, output: str) -> tuple[Job, tuple[str, str, str]]:
    """The smallest job found that still differs in a part of this kind."""
    kind = part.split(maxsplit=1)[0]
    best = first_difference(job, peer, kind, output)
    if best is None:
        raise RuntimeError(f"citeproc-js answers twice differently: {job}")
    is_smaller = True
    while is_smaller:
        is_smaller = False
        for candidate in simpler(job):
            found = first_difference(candidate, peer, kind, output)
            if found is not None:
                job, best, is_smaller = candidate, found, True
                break
    return job, best


def cause_of(difference: Difference) -> str:
    """A name for like differences: what is left in the job, and how the texts differ."""
    job = difference.job
    fields = sorted({name for item in job.items for name in item} - {"id", "type"})
    cites = {name for one in job.clusters for cite in one["items"] for name in cite} - {"id"}
    ours, theirs = normal(difference.ours), normal(difference.theirs)
    kind = "text"
    if ours.lower() == theirs.lower():
        kind = "case"
    elif re.sub(r"\W", "", ours) == re.sub(r"\W", "", theirs):
        kind = "punctuation"
    part = difference.part.split()[0]
    return f"{part} {kind}: {','.join(fields)}{' | ' + ','.join(sorted(cites)) if cites else ''}"


_COUNTS = (
    "jobs", "whole", "refused", "texts", "different", "excused", "mode_texts", "mode_different",
)  # fmt: skip


def is_in_mode(cluster: Cluster) -> bool:
    """Whether a citation asks for what only citeproc-js defines, such as its names alone."""
    return bool(cluster.get("mode")) or any(cite.get("author-only") for cite in cluster["items"])


@dataclass
class Tally:
    """Texts compared so far, and what differed."""

    jobs: int = 0
    whole: int = 0
    refused: int = 0
    texts: int = 0
    different: int = 0
    excused: int = 0
    mode_texts: int = 0
    mode_different: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    causes: Counter[str] = field(default_factory=Counter)
    kept: list[Difference] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        """Count what another tally counted, too."""
        for name in _COUNTS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.faults += other.faults
        self.causes += other.causes

    def print(self, what: str) -> None:
        total = max(1, self.texts)
        same = self.texts - self.different
        print(f"{what}: {self.jobs} jobs (citeproc-js refused {self.refused}), ", end="")
        print(f"the same in every text: {self.whole}")
        print(f"texts {self.texts}, the same: {same} = {same / total:.4f}")
        excused = (same + self.excused) / total
        print(f"with its faults against sentences of CSL 1.0.2 counted as agreement: {excused:.4f}")
        alike = self.mode_texts - self.mode_different
        print(f"in modes that CSL does not have (author-only, composite …): {alike} ", end="")
        print(f"of {self.mode_texts} the same")
        for name, counts in (("its faults", self.faults), ("left", self.causes)):
            print(f"{name} ({sum(counts.values())} texts):")
            for cause, count in counts.most_common(40):
                print(f"{count:5} {cause}")


def judge_job(seed: int, job: Job, peer: CiteprocJs, output: str, tally: Tally) -> None:
    """Count one job: every text that differs is excused or filed by what it shrinks to."""
    theirs = peer.render(job, output)
    if theirs.error:
        tally.refused += 1
        return
    ours = render_ours(job, output)
    found = list(differences(ours, theirs))
    if found:
        # Its first answer in a style may carry something of the style before.
        theirs = peer.render(job, output)
        found = list(differences(ours, theirs))
    in_mode = [f"citation {place}" for place, one in enumerate(job.clusters) if is_in_mode(one)]
    tally.jobs += 1
    tally.whole += not found
    tally.mode_texts += len(in_mode)
    total = count_texts(theirs) - len(in_mode)
    tally.texts += total
    tally.mode_different += sum(part in in_mode for part, _, _ in found)
    is_shrunk = False
    for part, one, other in found:
        if part in in_mode:
            continue
        count = total if part in {"order", "error"} else 1
        tally.different += count
        difference = Difference(seed, part, one, other, job)
        fault = find_fault(job, normal(one), normal(other))
        if (fault is None or not fault.misses) and not is_shrunk:
            is_shrunk = True
            small, shown = shrink(job, part, peer, output)
            difference = Difference(seed, *shown, small)
            fault = find_fault(small, normal(shown[1]), normal(shown[2]))
        if fault is not None and fault.misses:
            tally.excused += count
            tally.faults[fault.name] += count
        else:
            cause = f"({fault.name})" if fault is not None else cause_of(difference)
            tally.causes[cause] += count
            tally.kept.append(difference)


def write_differences(out: Path, kept: list[Difference]) -> None:
    """A line of JSON for each difference."""
    lines = [json.dumps(asdict(one), ensure_ascii=False) + "\n" for one in kept]
    out.write_text("".join(lines))


def run(peers: Path, seeds: range, languages: list[str], out: Path | None, output: str) -> int:
    peer, styles, tally = CiteprocJs(peers), independent_styles(), Tally()
    for seed in seeds:
        judge_job(seed, draw_job(seed, styles, languages), peer, output, tally)
        if sys.stderr.isatty():
            print(f"\r{seed} {tally.different}/{tally.texts}", end="", file=sys.stderr)
    peer.close()
    if out is not None:
        write_differences(out, tally.kept)
    tally.print("styles" if len(languages) == 1 else "locales")
    return 0


def run_families(peers: Path, seeds: range, names: list[str], out: Path | None, output: str) -> int:
    """Judge small styles, a table row for each family."""
    kept: list[Difference] = []
    total = Tally()
    for name in names:
        peer, tally = CiteprocJs(peers), Tally()
        for seed in seeds:
            judge_job(seed, draw_family_job(seed, name), peer, output, tally)
        peer.close()
        tally.print(name)
        kept += tally.kept
        total.add(tally)
    if out is not None:
        write_differences(out, kept)
    total.print("all families")
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("peers", type=Path)
    parser.add_argument("--seeds", default="0:300")
    parser.add_argument("--locales", default="en-US", help="all, or names with commas")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--output", default="text", help="text or html")
    parser.add_argument("--families", default="", help="small styles: all, or names with commas")
    told = parser.parse_args()
    start, _, end = told.seeds.partition(":")
    if told.families:
        names = list(FAMILIES) if told.families == "all" else told.families.split(",")
        seeds = range(int(start), int(end))
        return run_families(told.peers, seeds, names, told.out, told.output)
    languages = locales() if told.locales == "all" else told.locales.split(",")
    return run(told.peers, range(int(start), int(end)), languages, told.out, told.output)


if __name__ == "__main__":
    raise SystemExit(main())
