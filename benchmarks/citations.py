"""1,000 mixed items in APA, beside citeproc-js and citeproc-py, and how long a cold style takes to
compile: in seconds of CPU, since a machine may be shared.

    python benchmarks/citations.py --peers FOLDER

FOLDER is a scratch folder that holds the peers: `npm install --prefix FOLDER citeproc` and
`pip install --target FOLDER/python citeproc-py`. Without it only our own figures are printed.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from carrel.libraries.csl.archive import read_archived

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "citations"
COUNT = 1000
ROUNDS = 3

NODE = """
const CSL = require(process.argv[2] + '/node_modules/citeproc');
const fs = require('fs');
const [items, style, locale] = [3, 4, 5].map(place => fs.readFileSync(process.argv[place], 'utf8'));
const byId = Object.fromEntries(JSON.parse(items).map(item => [item.id, item]));
const start = process.cpuUsage();
const engine = new CSL.Engine({retrieveLocale: () => locale, retrieveItem: id => byId[id]}, style);
engine.updateItems(Object.keys(byId));
const count = engine.makeBibliography()[1].length;
const used = process.cpuUsage(start);
console.log(JSON.stringify({seconds: (used.user + used.system) / 1e6, count}));
"""

OURS = """
import json, sys, time
from pathlib import Path
items = json.loads(Path(sys.argv[1]).read_text("utf-8"))
from carrel.libraries.csl import Processor, load_style
start = time.process_time()
style = load_style(Path(sys.argv[2]))
compiled = time.process_time() - start
count = len(Processor(style, items, output="html").bibliography())
print(json.dumps({"seconds": time.process_time() - start, "compile_seconds": compiled, "count": count}))
"""  # noqa: E501

CITEPROC_PY = """
import json, sys, time, warnings
from pathlib import Path
warnings.simplefilter("ignore")
from citeproc import Citation, CitationItem, CitationStylesBibliography, CitationStylesStyle, formatter
from citeproc.source.json import CiteProcJSON
items = json.loads(Path(sys.argv[1]).read_text("utf-8"))
start = time.process_time()
style = CitationStylesStyle(sys.argv[2], validate=False)
bibliography = CitationStylesBibliography(style, CiteProcJSON(items), formatter.html)
for item in items:
    bibliography.register(Citation([CitationItem(item["id"])]))
bibliography.sort()
count = len([str(entry) for entry in bibliography.bibliography()])
print(json.dumps({"seconds": time.process_time() - start, "count": count}))
"""  # noqa: E501


def mixed_items() -> list[dict[str, Any]]:
    """Every library in turn, so that all kinds of work are among them."""
    found: dict[str, dict[str, Any]] = {}
    for library in sorted(DATA.glob("*_library.csl.json")):
        for item in json.loads(library.read_text("utf-8")):
            found.setdefault(str(item["id"]).lower(), item)
    ordered = sorted(found.values(), key=lambda item: str(item["id"]))
    return ordered[:: max(1, len(ordered) // COUNT)][:COUNT]


def best(command: list[str], environment: dict[str, str] | None = None) -> dict[str, Any] | None:
    """The fastest of a few runs, each in a fresh process; None where the peer cannot run."""
    runs: list[dict[str, Any]] = []
    for _ in range(ROUNDS):
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        if done.returncode:
            print(
                done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "failed",
                file=sys.stderr,
            )
            return None
        runs.append(json.loads(done.stdout.splitlines()[-1]))
        if runs[-1]["seconds"] > 10:
            break
    return min(runs, key=_seconds)


def _seconds(run: dict[str, Any]) -> float:
    return float(run["seconds"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--peers", type=Path, help="scratch folder with citeproc-js and citeproc-py"
    )
    peers: Path | None = parser.parse_args().peers
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        items, style = Path(folder) / "items.json", DATA / "styles" / "apa.csl"
        items.write_text(json.dumps(mixed_items()), "utf-8")
        ours = best([sys.executable, "-c", OURS, str(items), str(style)])
        if ours is None:
            raise SystemExit("our own engine failed")
        compiling = ours["compile_seconds"] * 1000
        print(
            f"carrel       {ours['seconds']:8.3f} s of CPU for {ours['count']} entries, of which "
            f"compiling APA {compiling:.0f} ms"
        )
        if peers is not None:
            locale = Path(folder) / "locales-en-US.xml"
            locale.write_text(read_archived("locales-en-US") or "", "utf-8")
            script = Path(folder) / "peer.js"
            script.write_text(NODE, "utf-8")
            arguments = [
                str(peers.resolve()),
                str(items),
                str(style),
                str(locale),
            ]
            report("citeproc-js", best(["node", str(script), *arguments]), ours)
            environment = {**os.environ, "PYTHONPATH": str(peers.resolve() / "python")}
            report(
                "citeproc-py",
                best([sys.executable, "-c", CITEPROC_PY, str(items), str(style)], environment),
                ours,
            )
    print(f"all in {time.perf_counter() - started:.0f} s")


def report(name: str, run: dict[str, Any] | None, ours: dict[str, Any]) -> None:
    if run is None:
        print(f"{name:12} could not run")
        return
    ratio = run["seconds"] / ours["seconds"]
    print(
        f"{name:12} {run['seconds']:8.3f} s of CPU for {run['count']} entries, {ratio:.1f} times "
        f"ours"
    )


if __name__ == "__main__":
    main()
