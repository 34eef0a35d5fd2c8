"""`python -m carrel`: the command line where the folder of programs is not on the path."""

from __future__ import annotations

import sys

from carrel.cli import main

if __name__ == "__main__":
    sys.exit(main())
