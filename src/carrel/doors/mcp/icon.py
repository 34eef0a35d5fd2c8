"""The server's icon as data URIs, so that a client fetches nothing to show it."""

from __future__ import annotations

import base64
from functools import cache
from pathlib import Path

_FILES = (("icon_small.png", "image/png", "48x48"), ("icon.svg", "image/svg+xml", "any"))


@cache
def server_icons() -> list[dict[str, object]]:
    """A PNG, which every client that shows icons reads, and an SVG for any size."""
    folder = Path(__file__).parent
    return [
        {
            "src": f"data:{media_type};base64,"
            + base64.b64encode((folder / name).read_bytes()).decode(),
            "mimeType": media_type,
            "sizes": [size],
        }
        for name, media_type, size in _FILES
    ]
