"""Finds drawings among the paths of a page: clusters that are larger than a rule or a box."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from carrel.libraries.pdf_layout.content import Box

# Points. Parts of one drawing lie this near; a smaller cluster is an ornament or a fraction bar.
_NEAR = 12.0
_SMALLEST_SIDE = 30.0
_MOST_CLUSTERS = 300
# A path as large as the page is its background.
_BACKGROUND_SHARE = 0.85


def group_drawings(paths: Iterable[Box], width: float, height: float) -> list[Box]:
    """The places of drawings on a page of this size, from the top."""
    clusters: list[Box] = []
    for box in paths:
        if box.width * box.height > _BACKGROUND_SHARE * width * height:
            continue
        clusters = _add(clusters, box)
        if len(clusters) > _MOST_CLUSTERS:
            clusters = [each for each in clusters if _is_large(each)][:_MOST_CLUSTERS]
    return sorted((each for each in clusters if _is_large(each)), key=lambda box: box.y0)


def _is_large(box: Box) -> bool:
    return min(box.width, box.height) >= _SMALLEST_SIDE


def _add(clusters: Sequence[Box], box: Box) -> list[Box]:
    """The clusters with one more path; those that it touches become one."""
    apart: list[Box] = []
    for other in clusters:
        if _is_near(other, box):
            box = Box(
                min(box.x0, other.x0),
                min(box.y0, other.y0),
                max(box.x1, other.x1),
                max(box.y1, other.y1),
            )
        else:
            apart.append(other)
    apart.append(box)
    return apart


def _is_near(first: Box, second: Box) -> bool:
    return (
        first.x0 - _NEAR < second.x1
        and second.x0 - _NEAR < first.x1
        and first.y0 - _NEAR < second.y1
        and second.y0 - _NEAR < first.y1
    )
