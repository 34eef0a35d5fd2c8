"""Pages of the literature room's answers at the terminal."""

from __future__ import annotations

from collections.abc import Mapping

from carrel.cli.page import MakePage

PAGES: Mapping[str, MakePage] = {}
