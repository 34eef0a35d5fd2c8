"""`python -m tests.journeys.typed.session` (make transcript): types README and guide and writes
docs/transcript.md.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from tests.journeys.installed import ROOT
from tests.journeys.typed import transcript
from tests.journeys.typed.documents import Written, commands
from tests.journeys.typed.sample_home import fill
from tests.journeys.typed.terminal import Terminal, Typed, install_wheel
from tests.journeys.typed.transcript import Entry

PAGES = {"README": ROOT / "README.md", "Guide": ROOT / "docs" / "guide.md"}
TRANSCRIPT = ROOT / "docs" / "transcript.md"


@dataclass(frozen=True, slots=True)
class Session:
    """Everything that was typed, page by page, and the transcript of it."""

    entries: dict[str, list[Entry]]
    text: str
    carrel_file: str


def type_pages(folder: Path) -> Session:
    """Types every page in a home of its own."""
    installed = install_wheel(folder)
    entries: dict[str, list[Entry]] = {}
    terminals: dict[str, Terminal] = {}
    carrel_file = ""
    for name, file in PAGES.items():
        home = folder / f"home-of-{name.lower()}"
        fill(home)
        with Terminal(installed, home) as terminal:
            where = terminal.run_python("import carrel; print(carrel.__file__)")
            carrel_file = where.output.strip()
            entries[name] = [
                Entry(each, _type(each, terminal))
                for each in commands(file.read_text(encoding="utf-8"))
            ]
            terminals[name] = terminal
    text = transcript.page((name, entries[name], terminals[name]) for name in PAGES)
    return Session(entries, text, carrel_file)


def _type(written: Written, terminal: Terminal) -> Typed | None:
    if written.needs is not None:
        return None
    match written.kind:
        case "description":
            return _describe(written, terminal)
        case "python":
            return terminal.run_python(written.text)
        case "shell" if "carrel serve" in written.text:
            return terminal.start_server(written.text)
        case "shell":
            return terminal.type(written.text)


def _describe(written: Written, terminal: Terminal) -> Typed:
    """What a description names must be there: its words up to the first option or placeholder,
    asked for help.
    """
    words: list[str] = []
    for word in written.text.split():
        if word.startswith("-") or word.isupper():
            break
        words.append(word)
    return terminal.type(" ".join([*words, "--help"]))


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        transcript.write(type_pages(Path(folder)).text, TRANSCRIPT)


if __name__ == "__main__":
    main()
