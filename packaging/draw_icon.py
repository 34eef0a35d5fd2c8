"""Draws Carrel's icon, an open book on a desk, into src/carrel/doors/mcp as SVG and PNG.

Needs nothing beyond Python: `python packaging/draw_icon.py`. A test checks that the files in the
package are what this draws.
"""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

FOLDER = Path(__file__).parent.parent / "src" / "carrel" / "doors" / "mcp"
# Pixels of the PNG files: the large one for bundles and registries, the small one for handshakes.
SIZES = {"icon.png": 512, "icon_small.png": 48}

Point = tuple[float, float]
Shape = tuple[str, tuple[Point, ...]]

SIDE = 64
BACKGROUND, DESK, PAGE, SHADE, LINE = "#1f3a5f", "#c98b4b", "#fdf8ec", "#e6dcc4", "#7a93b0"
COLOURS = (BACKGROUND, DESK, PAGE, SHADE, LINE)


def draw_shapes() -> list[Shape]:
    """Filled polygons on a square of 64, from back to front."""
    board: Shape = (DESK, ((7, 47), (57, 47), (57, 52), (7, 52)))
    legs: list[Shape] = [
        (DESK, ((11, 52), (16, 52), (16, 59), (11, 59))),
        (DESK, ((48, 52), (53, 52), (53, 59), (48, 59))),
    ]
    left: Shape = (PAGE, ((8, 18), (20, 15), (32, 20), (32, 46), (20, 41), (8, 44)))
    right: Shape = (SHADE, ((56, 18), (44, 15), (32, 20), (32, 46), (44, 41), (56, 44)))
    lines = [
        (LINE, tuple((32 + side * x, y) for x, y in _line_at(top)))
        for top in (22, 28, 34)
        for side in (-1, 1)
    ]
    return [board, *legs, left, right, *lines]


def _line_at(top: float) -> tuple[Point, ...]:
    """A line of text on the right page, measured from the fold."""
    upper = ((4, top + 2), (12, top - 1.5), (20, top + 0.5))
    return (*upper, *((x, y + 2) for x, y in reversed(upper)))


SHAPES = draw_shapes()


def svg() -> str:
    """The icon as SVG, on a square with round corners."""
    shapes = "".join(
        f'<path fill="{colour}" d="M{"L".join(f"{x:g} {y:g}" for x, y in points)}z"/>'
        for colour, points in SHAPES
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {SIDE} {SIDE}">'
        f'<rect width="{SIDE}" height="{SIDE}" rx="12" fill="{BACKGROUND}"/>{shapes}</svg>\n'
    )


def png(pixels: int) -> bytes:
    """The icon as PNG with a palette; the corners are transparent."""
    scale = SIDE / pixels
    rows = [
        bytes([0]) + bytes(_colour_at((x + 0.5) * scale, (y + 0.5) * scale) for x in range(pixels))
        for y in range(pixels)
    ]
    palette = b"".join(bytes.fromhex(colour[1:]) for colour in (BACKGROUND, *COLOURS))
    header = struct.pack(">IIBBBBB", pixels, pixels, 8, 3, 0, 0, 0)
    chunks = (
        (b"IHDR", header),
        (b"PLTE", palette),
        (b"tRNS", b"\0"),
        (b"IDAT", zlib.compress(b"".join(rows), 9)),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in chunks
    )


def _colour_at(x: float, y: float) -> int:
    """The place in the palette: 0 is transparent."""
    if _is_outside_corners(x, y):
        return 0
    colour = BACKGROUND
    for fill, points in SHAPES:
        if _is_inside(x, y, points):
            colour = fill
    return 1 + COLOURS.index(colour)


def _is_outside_corners(x: float, y: float, radius: float = 12) -> bool:
    across = max(radius - x, x - (SIDE - radius), 0)
    down = max(radius - y, y - (SIDE - radius), 0)
    return across * across + down * down > radius * radius


def _is_inside(x: float, y: float, points: tuple[Point, ...]) -> bool:
    inside = False
    for (ax, ay), (bx, by) in zip(points, (*points[1:], points[0]), strict=True):
        if (ay > y) != (by > y) and x < (bx - ax) * (y - ay) / (by - ay) + ax:
            inside = not inside
    return inside


def main() -> None:
    (FOLDER / "icon.svg").write_text(svg(), "utf-8")
    for name, pixels in SIZES.items():
        (FOLDER / name).write_bytes(png(pixels))


if __name__ == "__main__":
    main()
