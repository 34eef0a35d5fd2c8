"""Starts Carrel for a host that installed the bundle; the host sets what its user chose."""

import json
import os
import sys


def choose_settings(variables: dict[str, str]) -> None:
    """Take away what the user left empty, and keep a folder whole whatever its name holds."""
    for name in ("CARREL_HOME", "CARREL_PAPERS_WATCH"):
        # Some hosts leave the placeholder of an option that was not filled in.
        if not variables.get(name, "").strip() or variables[name].startswith("${"):
            variables.pop(name, None)
    folder = variables.get("CARREL_PAPERS_WATCH")
    if folder is not None:
        variables["CARREL_PAPERS_WATCH"] = json.dumps([folder])


if __name__ == "__main__":
    choose_settings(os.environ)  # type: ignore[arg-type]
    from carrel.cli import main

    sys.exit(main(["mcp"]))
