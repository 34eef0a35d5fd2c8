"""Writes the fixed part of the judge that the tests keep: jobs with the texts of citeproc-js.

    python -m benchmarks.citation_judge.fixed PEERS

Named jobs, and of drawn ones those on which both engines agree. The tests run them without Node.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from benchmarks.citation_judge.engines import CiteprocJs, Rendering, render_ours
from benchmarks.citation_judge.families import FAMILIES, draw_family_job
from benchmarks.citation_judge.jobs import Job, draw_job, independent_styles, locales
from benchmarks.citation_judge.judge import differences
from benchmarks.citation_judge.named_jobs import NAMED_JOBS

FIXED = Path(__file__).resolve().parents[2] / "tests/libraries/csl/agreement.jsonl"
DRAWN_PER_FAMILY = 6
DRAWN_STYLES = 20
_PARTS = ("citations", "bibliography", "order")


def drawn_jobs() -> Iterator[tuple[str, Job]]:
    for family in FAMILIES:
        for seed in range(DRAWN_PER_FAMILY):
            yield f"{family} {seed}", draw_family_job(seed, family)
    styles = independent_styles()
    for seed in range(DRAWN_STYLES):
        yield f"style {seed}", draw_job(seed, styles, ["en-US"])
        yield f"locale {seed}", draw_job(seed, styles, locales())


def read_fixed(path: Path = FIXED) -> list[tuple[str, Job, Rendering]]:
    found = []
    for line in path.read_text("utf-8").splitlines():
        kept = json.loads(line)
        citations, entries, order = (tuple(kept["theirs"][part]) for part in _PARTS)
        theirs = Rendering(citations, entries, order)
        found.append((kept["name"], Job(**kept["job"]), theirs))
    return found


def agree(ours: Rendering, theirs: Rendering) -> bool:
    return not theirs.error and not list(differences(ours, theirs))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("peers", type=Path)
    peer = CiteprocJs(parser.parse_args().peers)
    lines, left_out = [], []
    for name, job in [*NAMED_JOBS.items(), *drawn_jobs()]:
        peer.render(job)  # its first answer in a style may carry something of the style before
        theirs = peer.render(job)
        if not agree(render_ours(job), theirs):
            left_out.append(name)
            continue
        texts = {part: getattr(theirs, part) for part in _PARTS}
        kept = {"name": name, "job": asdict(job), "theirs": texts}
        lines.append(json.dumps(kept, ensure_ascii=False) + "\n")
    peer.close()
    FIXED.write_text("".join(lines), encoding="utf-8")
    print(f"{len(lines)} jobs in {FIXED.name}; left out: {', '.join(left_out) or 'none'}")
    return 1 if NAMED_JOBS.keys() & set(left_out) else 0


if __name__ == "__main__":
    raise SystemExit(main())
