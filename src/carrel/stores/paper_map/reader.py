"""Reads the stored map for a server; a map that was replaced is noticed at the next question."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import TypeVar

import orjson

from carrel.core.errors import UnavailableError
from carrel.rooms.papers.map_models import MapLabel, MapPaper, MapRegion, PaperMap
from carrel.stores.paper_map import FORMAT, MAP_NAME
from carrel.stores.sqlite.connection import connect

AnswerT = TypeVar("AnswerT")
_POINT = "SELECT number, paper_id, title, year, region, x, y FROM point"
_Corner = tuple[float, float]


class StoredMapReader:
    """Questions about the map in the folder of a corpus, each on a thread and a connection."""

    def __init__(self, corpus: Path) -> None:
        self._path = corpus / MAP_NAME

    async def overview(self) -> PaperMap | None:
        return await self._ask(_read_overview)

    async def corpus_state(self) -> str | None:
        return await self._ask(lambda connection: _read_meta(connection)["corpus_state"])

    async def tile(self, name: str) -> bytes | None:
        def read(connection: sqlite3.Connection) -> bytes | None:
            row = connection.execute("SELECT body FROM tile WHERE name = ?", (name,)).fetchone()
            return None if row is None else bytes(row[0])

        return await self._ask(read)

    async def points(self, numbers: Sequence[int]) -> list[MapPaper]:
        return await self._ask(lambda it: _read_points(it, "number", numbers)) or []

    async def locate(self, paper_ids: Sequence[str]) -> list[MapPaper]:
        return await self._ask(lambda it: _read_points(it, "paper_id", paper_ids)) or []

    async def within(self, outline: Sequence[_Corner], limit: int) -> tuple[int, list[MapPaper]]:
        found = await self._ask(lambda it: _read_within(it, outline, limit))
        return (0, []) if found is None else found

    async def _ask(self, question: Callable[[sqlite3.Connection], AnswerT]) -> AnswerT | None:
        """The answer; None where there is no map of this form. Raises UnavailableError."""
        return await asyncio.to_thread(self._ask_here, question)

    def _ask_here(self, question: Callable[[sqlite3.Connection], AnswerT]) -> AnswerT | None:
        if not self._path.is_file():
            return None
        try:
            with closing(connect(self._path, "immutable")) as connection:
                if int(_read_meta(connection)["format"]) != FORMAT:
                    return None
                return question(connection)
        except (sqlite3.Error, KeyError, ValueError) as error:
            raise UnavailableError(
                "The map of the corpus cannot be read",
                next_step="Draw it again with `carrel papers map --again`.",
            ) from error


def _read_meta(connection: sqlite3.Connection) -> dict[str, str]:
    return dict(connection.execute("SELECT name, value FROM meta"))


def _read_overview(connection: sqlite3.Connection) -> PaperMap:
    meta = _read_meta(connection)
    regions = [
        MapRegion(
            number=number,
            label=", ".join(orjson.loads(terms)),
            terms=orjson.loads(terms),
            x=x,
            y=y,
            colour=colour,
            papers=papers,
            first_year=first,
            last_year=last,
        )
        for number, x, y, colour, terms, papers, first, last in connection.execute(
            "SELECT number, x, y, colour, terms, papers, first_year, last_year FROM region"
            " ORDER BY papers DESC, number"
        )
    ]
    labels = [
        MapLabel(text=text, x=x, y=y)
        for x, y, text in connection.execute("SELECT x, y, text FROM label ORDER BY rowid")
    ]
    return PaperMap(
        state="drawn",
        papers=connection.execute("SELECT count(*) FROM point").fetchone()[0],
        not_placed=int(meta["not_placed"]),
        drawn_at=meta["drawn_at"],
        version=meta["version"],
        first_year=int(meta["first_year"]) or None,
        last_year=int(meta["last_year"]) or None,
        regions=regions,
        labels=labels,
        tiles=dict(connection.execute("SELECT name, points FROM tile ORDER BY rowid")),
    )


def _read_points(
    connection: sqlite3.Connection, column: str, values: Sequence[object]
) -> list[MapPaper]:
    """Those that are on the map, in the order asked for."""
    wanted = list(dict.fromkeys(values))
    found = connection.execute(
        f"{_POINT} WHERE {column} IN (SELECT value FROM json_each(?))",
        (orjson.dumps(wanted).decode(),),
    )
    papers = _as_papers(found)
    key: Callable[[MapPaper], object] = (
        (lambda paper: paper.point) if column == "number" else (lambda paper: paper.paper_id)
    )
    by_key = {key(paper): paper for paper in papers}
    return [by_key[value] for value in wanted if value in by_key]


def _read_within(
    connection: sqlite3.Connection, outline: Sequence[_Corner], limit: int
) -> tuple[int, list[MapPaper]]:
    lefts, tops = [x for x, _ in outline], [y for _, y in outline]
    rows = connection.execute(
        "SELECT x, y, number FROM point WHERE x BETWEEN ? AND ? AND y BETWEEN ? AND ?",
        (min(lefts), max(lefts), min(tops), max(tops)),
    )
    inside = [(x, y, number) for x, y, number in rows if _is_inside(x, y, outline)]
    middle_x = sum(x for x, _, _ in inside) / max(1, len(inside))
    middle_y = sum(y for _, y, _ in inside) / max(1, len(inside))
    inside.sort(key=lambda at: ((at[0] - middle_x) ** 2 + (at[1] - middle_y) ** 2, at[2]))
    numbers = [number for _, _, number in inside[:limit]]
    return len(inside), _read_points(connection, "number", numbers)


def _is_inside(x: float, y: float, outline: Sequence[_Corner]) -> bool:
    """Whether a ray from the place crosses the outline an odd number of times."""
    inside = False
    before_x, before_y = outline[-1]
    for corner_x, corner_y in outline:
        if (corner_y > y) != (before_y > y):
            crossing = (before_x - corner_x) * (y - corner_y) / (before_y - corner_y) + corner_x
            inside ^= x < crossing
        before_x, before_y = corner_x, corner_y
    return inside


def _as_papers(
    rows: Iterable[tuple[int, str, str, int | None, int, float, float]],
) -> list[MapPaper]:
    return [
        MapPaper(point=number, paper_id=paper_id, title=title, year=year, region=region, x=x, y=y)
        for number, paper_id, title, year, region, x, y in rows
    ]
