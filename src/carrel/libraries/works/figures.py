"""A figure or table of a paper, with its caption."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

import orjson

FigureKind = Literal["figure", "table"]


@dataclass(frozen=True, slots=True)
class PaperFigure:
    """`label` is as printed ("Figure 3", "Table S1"); `image` names an asset of the paper.

    `markdown` is the content of a table. `page` counts from 1 and is None where there are none.
    """

    kind: FigureKind
    label: str
    caption: str = ""
    page: int | None = None
    image: str | None = None
    markdown: str | None = None


def encode_figures(figures: Iterable[PaperFigure]) -> bytes:
    """The list as JSON; fields that say nothing are left out."""
    return orjson.dumps(
        [
            {name: value for name, value in asdict(figure).items() if value not in (None, "")}
            for figure in figures
        ]
    )


_NAMES = frozenset(field.name for field in fields(PaperFigure))


def decode_figures(content: bytes) -> tuple[PaperFigure, ...]:
    """Raises ValueError where the content is not such a list; unknown fields are passed over."""
    try:
        entries: Sequence[dict[str, Any]] = orjson.loads(content)
        return tuple(
            PaperFigure(**{name: value for name, value in entry.items() if name in _NAMES})
            for entry in entries
        )
    except (TypeError, AttributeError) as error:
        raise ValueError("this is no list of figures") from error
