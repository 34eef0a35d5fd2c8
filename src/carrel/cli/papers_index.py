"""`carrel papers index`: the fast index beside a snapshot, also one that somebody else made, and
vectors of meaning.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from carrel.cli.options import add_desk_options, settings_from
from carrel.cli.output import say_next_step
from carrel.cli.progress import TerminalProgress
from carrel.core.errors import InvalidInputError
from carrel.wiring.audit import record_command
from carrel.wiring.papers import snapshot_path
from carrel.wiring.papers_build import embed_papers, index_papers


def run(words: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="carrel papers index", description="Make or renew the fast index beside a snapshot."
    )
    add_desk_options(parser)
    parser.add_argument(
        "--meaning",
        action="store_true",
        help="also vectors of meaning (the extra `semantic`); resumable",
    )
    options = parser.parse_args(words[1:])
    settings = settings_from(options)
    snapshot = snapshot_path(settings)
    if not Path(snapshot).is_file():
        raise InvalidInputError(
            f"There is no snapshot at {snapshot}", next_step="Name one with --snapshot."
        )
    progress = TerminalProgress()
    with record_command(
        settings, "papers:index", f"papers:{snapshot}", {"meaning": options.meaning}
    ):
        index_papers(snapshot, progress)
        if options.meaning:
            embed_papers(snapshot, progress)
    print(f"The index of {snapshot} is up to date.")
    say_next_step("papers index")
    return 0
