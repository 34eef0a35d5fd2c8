"""How much processor time and memory the import of a large BibTeX file takes.

    python benchmarks/imports.py FOLDER [--entries 50000]

FOLDER holds `tugboat.bib.xz`; its entries are repeated with new keys up to the number asked for.
The import runs in a process
of its own, so
that the memory printed is that of the interpreter, the file's text and all items together. The
target is 15 s and 300 MB for
50,000 entries.
"""

import argparse
import lzma
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from carrel.libraries.bibliography.bibtex.reader import read_bibtex

SECONDS = 15.0
MEGABYTES = 300.0

_KEY = re.compile(r"^(@(?!string|preamble|comment)\w+\{)([^,\s]+),", re.IGNORECASE | re.MULTILINE)


def large_file(source: Path, entries: int) -> str:
    """The strings of the source once, then its entries again and again under new keys."""
    text = lzma.decompress(source.read_bytes()).decode("utf-8")
    first = _KEY.search(text)
    if first is None:
        raise SystemExit(f"{source} holds no entries")
    head, body = text[: first.start()], text[first.start() :]
    starts = [found.start() for found in _KEY.finditer(body)]
    parts, written, turn = [head], 0, 0
    while written < entries:
        wanted = min(entries - written, len(starts))
        end = starts[wanted] if wanted < len(starts) else len(body)
        parts.append(_KEY.sub(rf"\g<1>\g<2>-{turn},", body[:end]))
        written, turn = written + wanted, turn + 1
    return "".join(parts)


def measure(path: Path) -> None:
    """Imports the file and prints what it took; runs in the child."""
    size = path.stat().st_size
    begin = time.process_time()
    imported = read_bibtex(path.read_bytes())
    seconds = time.process_time() - begin
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (
        1024 if sys.platform != "darwin" else 1024 * 1024
    )
    counts = (
        f"{len(imported.items)} items, {len(imported.warnings)} warnings, "
        f"{len(imported.failures)} failures"
    )
    print(f"{counts} from {size / 1e6:.1f} MB")
    print(f"{seconds:.2f} s of processor time, {seconds / SECONDS:.0%} of the target")
    print(f"{megabytes:.0f} MB of memory at most, {megabytes / MEGABYTES:.0%} of the target")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--entries", type=int, default=50_000)
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        measure(arguments.folder)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.bib"
        path.write_text(
            large_file(arguments.folder / "tugboat.bib.xz", arguments.entries), encoding="utf-8"
        )
        subprocess.run([sys.executable, __file__, str(path), "--measure"], check=True)


if __name__ == "__main__":
    main()
