"""The two engines behind one call: ours in this process, citeproc-js in a Node process."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from benchmarks.citation_judge.jobs import Job
from carrel.libraries.csl import Cite, Cluster, Processor, Style, load_style
from carrel.libraries.csl.archive import read_archived

ENGINE = Path(__file__).with_name("engine.js")


@dataclass(frozen=True)
class Rendering:
    """What an engine says: citations in order, entries in the style's order, or an error."""

    citations: tuple[str, ...] = ()
    bibliography: tuple[str, ...] = ()
    order: tuple[str, ...] = ()
    error: str = ""


@lru_cache(maxsize=200)
def find_style(style_id: str) -> Style:
    return load_style(style_id)


def render_ours(job: Job, output: Any = "text") -> Rendering:
    style = find_style(job.style)
    cited = [cite["id"] for cluster in job.clusters for cite in cluster["items"]]
    order = list(dict.fromkeys([*cited, *(item["id"] for item in job.items)]))
    by_id = {item["id"]: item for item in job.items}
    try:
        processor = Processor(
            style, [by_id[each] for each in order], locale=job.locale, output=output
        )
        clusters = [
            Cluster(
                [
                    Cite(
                        cite["id"],
                        locator=cite.get("locator", ""),
                        label=cite.get("label", "page"),
                        prefix=cite.get("prefix", ""),
                        suffix=cite.get("suffix", ""),
                        suppress_author=cite.get("suppress-author", False),
                        author_only=cite.get("author-only", False),
                    )
                    for cite in cluster["items"]
                ],
                cluster["note"] if style.is_note else 0,
                mode=cluster.get("mode", ""),
                infix=cluster.get("infix", ""),
            )
            for cluster in job.clusters
        ]
        citations = tuple(processor.cite(clusters))
        entries = processor.bibliography()
    except Exception as error:  # noqa: BLE001 - whatever it is, the judge counts it
        return Rendering(error=f"{type(error).__name__}: {error}"[:300])
    return Rendering(
        citations, tuple(one.text for one in entries), tuple(one.id for one in entries)
    )


class CiteprocJs:
    """citeproc-js of a folder that npm filled; end it with `close`."""

    def __init__(self, peers: Path) -> None:
        self._peers = peers
        self._process = self._start()
        self._sent: set[str] = set()
        self._known: set[str] = set()

    def _start(self) -> subprocess.Popen[str]:
        return subprocess.Popen(
            ["node", "--stack-size=4000", str(ENGINE), str(self._peers.resolve())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def render(self, job: Job, output: str = "text") -> Rendering:
        is_note = find_style(job.style).is_note
        sent: dict[str, Any] = {
            "key": f"{job.style} {job.locale}",
            "style": read_archived(job.style) or job.style,
            "lang": job.locale,
            "locales": self._locales(job.locale),
            "items": job.items,
            "clusters": [
                {**cluster, "note": cluster["note"] if is_note else 0} for cluster in job.clusters
            ],
            "format": output,
        }
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(sent) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            self._process, self._sent = self._start(), set()
            return Rendering(error="citeproc-js ended")
        told = json.loads(line)
        if "error" in told:
            return Rendering(error=told["error"])
        return Rendering(
            tuple((each or "") for each in told["citations"]),
            tuple(each.strip("\n") for each in told["bibliography"]),
            tuple(map(str, told["order"])),
        )

    def _locales(self, locale: str) -> dict[str, str]:
        """The locales that the process has not been given: the asked one, and what it asks for."""
        wanted = {"en-US", locale}
        if not self._known:
            from benchmarks.citation_judge.jobs import locales

            self._known = set(locales())
            wanted |= self._known
        found = {
            name: text
            for name in wanted - self._sent
            if (text := read_archived(f"locales-{name}")) is not None
        }
        self._sent |= wanted
        return found

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
