"""Notes and nodes in SQL that SQLite and PostgreSQL share; their folders add what differs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Generator, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, ClassVar, TypeVar

from carrel.libraries.query.notes import AnyTitle, Tagged, TextMatch, TitlePrefix
from carrel.libraries.text.folding import fold_text
from carrel.libraries.text.tokenizer import case_key, name_trigrams
from carrel.rooms.knowledge.documents import DocumentChange, NoteChange, note_documents
from carrel.rooms.knowledge.errors import NoteChangedError, NoteExistsError
from carrel.rooms.knowledge.notes import (
    EXACT_TITLE_SCORE,
    LAST_CHARACTER,
    PROPOSALS_BELOW,
    PROPOSALS_FROM,
    TAG_SCORE,
    Change,
    ChangeKind,
    Insert,
    Node,
    Note,
    NoteHit,
    NoteSearch,
    Order,
    Origin,
    Remove,
    Replace,
    Shelf,
    Version,
    shelf_names,
    shelf_of,
    sort_key,
    text_score,
    title_score,
)
from carrel.rooms.knowledge.ports import Capabilities
from carrel.stores.sql.driver import Driver, Parameters, Rows, Step, bind

ResultT = TypeVar("ResultT")
Statements = Generator[Step, Rows, ResultT]
Row = tuple[Any, ...]

PAGE = 500
COLUMNS = (
    *("id", "title", "content", "user_id", "source", "status", "tags", "schema_version"),
    *("created_at", "updated_at", "promoted_from_id", "promoted_to_id", "origin"),
)
HISTORY_COLUMNS = "note_id, changed_at, changed_by, kind, title, content, tags, status"
NODE_COLUMNS = "name, node_type, description, content, metadata"
# From so many rows on, an order along an index is quicker than sorting.
_MANY = 2000


def note_columns(alias: str = "n") -> str:
    return ", ".join(f"{alias}.{name}" for name in COLUMNS)


def shelf_conditions(shelf: Shelf, column: str) -> list[tuple[str, dict[str, object]]]:
    """One condition for each value of a shelf column, so that each uses an index.

    Proposals are selected by a range: their names are adjacent.
    """
    names = shelf_names(shelf)
    if names is None:
        condition = f"{column} >= :shelf AND {column} < :shelf_end"
        return [(condition, {"shelf": PROPOSALS_FROM, "shelf_end": PROPOSALS_BELOW})]
    return [(f"{column} = :shelf", {"shelf": name}) for name in names]


def shelf_condition(shelf: Shelf, column: str) -> tuple[str, dict[str, object]]:
    """One condition for all values of a shelf column."""
    names = shelf_names(shelf)
    if names is None:
        return shelf_conditions(shelf, column)[0]
    places, parameters = bind("shelf", names)
    return f"{column} IN ({places})", parameters


@dataclass(frozen=True, slots=True)
class ColumnCodec:
    """How a database keeps times, lists of tags and objects."""

    encode_time: Callable[[datetime], object]
    decode_time: Callable[[Any], datetime]
    encode_tags: Callable[[Sequence[str]], object]
    decode_tags: Callable[[Any], tuple[str, ...]]
    encode_object: Callable[[dict[str, object]], object]
    decode_object: Callable[[Any], dict[str, Any]]


class SqlNoteStore(ABC):
    """Notes over a driver; the contract is the port's. Subclasses say what a database needs."""

    capabilities = Capabilities(has_ranking=True, reads_at_most=None)

    codec: ClassVar[ColumnCodec]
    notes: ClassVar[str]
    tags: ClassVar[str]
    history_table: ClassVar[str]
    # The column that identifies a note in its table, and in that of the tags.
    key: ClassVar[str]
    tag_note: ClassVar[str]
    join: ClassVar[str] = "JOIN"
    row_lock: ClassVar[str] = ""
    # Set with every change of a note.
    touch: ClassVar[str] = ""
    # Hints for the newest notes of a short and of a long range of titles, where hints are needed.
    prefix_hints: ClassVar[tuple[str, str] | None] = None

    def __init__(self, driver: Driver) -> None:
        self._driver = driver

    @abstractmethod
    def index_columns(self, note: Note) -> dict[str, object]:
        """Columns of the note's own row that only this database has."""

    @abstractmethod
    def index_words(self, note: Note, key: object) -> Statements[None]:
        """Adds the words of a note where they are kept in tables of their own."""

    @abstractmethod
    def unindex_words(self, key: object) -> Statements[None]: ...

    @abstractmethod
    def record_change(self, note_id: str, *, is_removed: bool) -> Statements[None]:
        """Remembers for `changes` that a note was written or removed."""

    @abstractmethod
    def match_text(self, search: NoteSearch, match: TextMatch) -> Statements[Rows]:
        """The rows of the notes that fit, with their rank at the end."""

    @abstractmethod
    def mark_changes(self) -> Statements[None]:
        """Closes the changes of one transaction, where the database needs it."""

    @abstractmethod
    def note_changes(self, since: str | None) -> AsyncIterator[NoteChange]: ...

    @abstractmethod
    async def describe_place(self) -> str: ...

    async def write(self, changes: Sequence[Change]) -> None:
        await self._driver.transact(self._write(changes))

    async def find(self, note_id: str) -> Note | None:
        rows = await self._rows(
            f"SELECT {note_columns()} FROM {self.notes} n WHERE n.id = :id", id=note_id
        )
        return self.note_from(rows[0]) if rows else None

    async def find_many(self, note_ids: Sequence[str]) -> dict[str, Note]:
        found: dict[str, Note] = {}
        for start in range(0, len(note_ids), PAGE):
            places, ids = bind("id", note_ids[start : start + PAGE])
            sql = f"SELECT {note_columns()} FROM {self.notes} n WHERE n.id IN ({places})"
            for row in await self._rows(sql, **ids):
                note = self.note_from(row)
                found[note.id] = note
        return found

    async def titled(self, titles: Sequence[str], shelf: Shelf) -> dict[str, Note]:
        shelves, names = bind("shelf", shelf_names(shelf) or ())
        keys, titles_asked = bind("title", dict.fromkeys(fold_text(title) for title in titles))
        if not names or not titles_asked:
            return {}
        newest = "row_number() OVER (PARTITION BY n.title_key ORDER BY n.created_at DESC) AS place"
        sql = (
            f"SELECT * FROM (SELECT {note_columns()}, n.title_key, {newest} FROM {self.notes} n "
            f"WHERE n.shelf IN ({shelves}) AND n.title_key IN ({keys})) found WHERE place = 1"
        )
        found = {
            row[-2]: self.note_from(row) for row in await self._rows(sql, **names, **titles_asked)
        }
        return {title: found[key] for title in titles if (key := fold_text(title)) in found}

    async def search(self, search: NoteSearch) -> list[NoteHit]:
        return await self._driver.transact(self.search_statements(search), is_read_only=True)

    async def history(self, note_id: str, limit: int) -> list[Version]:
        sql = (
            f"SELECT {HISTORY_COLUMNS} FROM {self.history_table} "
            "WHERE note_id = :id ORDER BY changed_at DESC LIMIT :limit"
        )
        return [self.version_from(row) for row in await self._rows(sql, id=note_id, limit=limit)]

    async def everything(self, shelf: Shelf) -> AsyncIterator[Note]:
        condition, parameters = shelf_condition(shelf, "n.shelf")
        columns = f"{note_columns()}, n.{self.key}"
        begin = f"SELECT {columns} FROM {self.notes} n WHERE {condition}"
        page = f"ORDER BY n.{self.key} LIMIT {PAGE}"
        rows = await self._rows(f"{begin} {page}", **parameters)
        while rows:
            for row in rows:
                yield self.note_from(row)
            if len(rows) < PAGE:
                return
            sql = f"{begin} AND n.{self.key} > :after {page}"
            rows = await self._rows(sql, **parameters, after=rows[-1][-1])

    def changes(self, since: str | None) -> AsyncIterator[DocumentChange]:
        return note_documents(self.note_changes(since))

    async def ping(self) -> str:
        await self._rows(f"SELECT 1 FROM {self.notes} LIMIT 1")
        return "answers"

    async def check(self) -> str:
        ((count,),) = await self._rows(f"SELECT count(*) FROM {self.notes}")
        return f"{count} note{'' if count == 1 else 's'} in {await self.describe_place()}"

    async def close(self) -> None:
        await self._driver.close()

    def note_from(self, row: Row) -> Note:
        facts = dict(zip(COLUMNS, row, strict=False))
        origin = facts["origin"]
        facts["tags"] = self.codec.decode_tags(facts["tags"])
        facts["created_at"] = self.codec.decode_time(facts["created_at"])
        facts["updated_at"] = self.codec.decode_time(facts["updated_at"])
        facts["origin"] = None if origin is None else Origin(**self.codec.decode_object(origin))
        return Note(**facts)

    async def _rows(self, sql: str, **parameters: object) -> Rows:
        return (await self._driver.run((sql, parameters)))[0]

    def search_statements(self, search: NoteSearch) -> Statements[list[NoteHit]]:
        limit = {"limit": search.limit}
        select = f"SELECT {note_columns()} FROM"
        rows: Rows = []
        match search.condition:
            case TextMatch() as match:
                rows = yield from self.match_text(search, match)
                return [NoteHit(self.note_from(row), text_score(row[-1])) for row in rows]
            case AnyTitle():
                for place, parameters in shelf_conditions(search.shelf, "n.shelf"):
                    rows += yield (
                        f"{select} {self.notes} n WHERE {place} "
                        "ORDER BY n.created_at DESC LIMIT :limit",
                        parameters | limit,
                    )
                notes = self._merge(rows, "newest", search.limit)
                return [NoteHit(note, EXACT_TITLE_SCORE) for note in notes]
            case TitlePrefix(text):
                ends = {"first": text, "end": text + LAST_CHARACTER}
                for place, parameters in shelf_conditions(search.shelf, "n.shelf"):
                    rows += yield from self._titles_within(
                        place, parameters | ends | limit, search.order
                    )
                notes = self._merge(rows, search.order, search.limit)
                return [NoteHit(note, title_score(note, text)) for note in notes]
            case Tagged(tags):
                rarest, *others = yield from self._rarest_first(tags)
                has_others, tagged = self.has_tags(others)
                for place, parameters in shelf_conditions(search.shelf, "t.shelf"):
                    rows += yield (
                        f"{select} {self.tags} t {self.join} {self.notes} n "
                        f"ON n.{self.key} = t.{self.tag_note} WHERE t.tag_key = :rarest AND {place}"
                        f"{has_others} ORDER BY t.created_at DESC LIMIT :limit",
                        parameters | limit | tagged | {"rarest": rarest},
                    )
                notes = self._merge(rows, "newest", search.limit)
                return [NoteHit(note, TAG_SCORE) for note in notes]

    def _merge(self, rows: Rows, order: Order, limit: int) -> list[Note]:
        notes = [self.note_from(row) for row in rows]
        return sorted(notes, key=lambda note: sort_key(note, order))[:limit]

    def _titles_within(self, place: str, parameters: Parameters, order: Order) -> Statements[Rows]:
        inside = f"{place} AND n.title_key >= :first AND n.title_key < :end"
        hint = ""
        if order == "newest" and self.prefix_hints is not None:
            # A short range is sorted; where it is long, walking back in time meets enough soon.
            ((count,),) = yield (
                f"SELECT count(*) FROM (SELECT 1 FROM {self.notes} n WHERE {inside} LIMIT {_MANY})"
                " few",
                parameters,
            )
            hint = self.prefix_hints[count == _MANY]
        by = "n.created_at DESC" if order == "newest" else "n.title_key, n.created_at DESC"
        return (
            yield (
                f"SELECT {note_columns()} FROM {self.notes} n {hint} WHERE {inside} ORDER BY {by} "
                "LIMIT :limit",
                parameters,
            )
        )

    def _rarest_first(self, tags: Sequence[str]) -> Statements[list[str]]:
        if len(tags) == 1:
            return list(tags)
        counts: dict[str, int] = {}
        for tag in tags:
            sql = f"SELECT 1 FROM {self.tags} WHERE tag_key = :tag LIMIT {_MANY}"
            ((counts[tag],),) = yield f"SELECT count(*) FROM ({sql}) few", {"tag": tag}
        return sorted(tags, key=lambda tag: counts[tag])

    def has_tags(self, tags: Sequence[str]) -> tuple[str, dict[str, object]]:
        """A condition that notes `n` carry all of the tags, along the index of the tags."""
        _, parameters = bind("tag", tags)
        sql = "".join(
            f" AND EXISTS (SELECT 1 FROM {self.tags} o WHERE o.tag_key = :{name} AND o.shelf = "
            f"n.shelf AND o.created_at = n.created_at AND o.{self.tag_note} = n.{self.key})"
            for name in parameters
        )
        return sql, parameters

    def _write(self, changes: Sequence[Change]) -> Statements[None]:
        for change in changes:
            match change:
                case Insert(note, by, kind):
                    yield from self.add_note(note)
                    yield from self._add_to_history(note, by, kind)
                case Replace(note, expected, by, kind):
                    key = yield from self._remove_from_indexes(note.id, expected)
                    values = self._values(note)
                    sets = ", ".join(f"{name} = :{name}" for name in values)
                    yield f"UPDATE {self.notes} SET {sets}{self.touch} WHERE id = :id", values
                    yield from self.add_to_indexes(note, key)
                    yield from self._add_to_history(note, by, kind)
                    yield from self.record_change(note.id, is_removed=False)
                case Remove(note_id, expected):
                    yield from self._remove_from_indexes(note_id, expected)
                    yield f"DELETE FROM {self.notes} WHERE id = :id", {"id": note_id}
                    yield f"DELETE FROM {self.history_table} WHERE note_id = :id", {"id": note_id}
                    yield from self.record_change(note_id, is_removed=True)
        yield from self.mark_changes()

    def add_note(self, note: Note) -> Statements[None]:
        """Adds a note without a version of it; raises NoteExistsError."""
        values = self._values(note)
        names = ", ".join(values)
        places = ", ".join(f":{name}" for name in values)
        rows = yield (
            f"INSERT INTO {self.notes} ({names}) VALUES ({places}) "
            f"ON CONFLICT (id) DO NOTHING RETURNING {self.key}",
            values,
        )
        if not rows:
            raise NoteExistsError(note.id)
        yield from self.add_to_indexes(note, rows[0][0])
        yield from self.record_change(note.id, is_removed=False)

    def _values(self, note: Note) -> dict[str, object]:
        values: dict[str, object] = {name: getattr(note, name) for name in COLUMNS}
        if note.origin is not None:
            values["origin"] = self.codec.encode_object(asdict(note.origin))
        return values | {
            "tags": self.codec.encode_tags(note.tags),
            "created_at": self.codec.encode_time(note.created_at),
            "updated_at": self.codec.encode_time(note.updated_at),
            "origin": None
            if note.origin is None
            else self.codec.encode_object(asdict(note.origin)),
            "title_key": fold_text(note.title),
            "shelf": shelf_of(note),
            **self.index_columns(note),
        }

    def _remove_from_indexes(self, note_id: str, expected: datetime) -> Statements[object]:
        """Optimistic lock: NoteChangedError unless the note is in the state that was read."""
        rows = yield (
            f"SELECT {self.key}, updated_at, shelf, created_at, tags FROM {self.notes} "
            f"WHERE id = :id{self.row_lock}",
            {"id": note_id},
        )
        if not rows:
            raise NoteChangedError(note_id, None)
        key, updated_at, shelf, created_at, tags = rows[0]
        if self.codec.decode_time(updated_at) != expected:
            raise NoteChangedError(note_id, self.codec.decode_time(updated_at))
        folded, parameters = bind("tag", {fold_text(tag) for tag in self.codec.decode_tags(tags)})
        if parameters:
            yield (
                f"DELETE FROM {self.tags} WHERE tag_key IN ({folded}) AND shelf = :shelf "
                f"AND created_at = :created_at AND {self.tag_note} = :key",
                parameters | {"shelf": shelf, "created_at": created_at, "key": key},
            )
        yield from self.unindex_words(key)
        return key

    def add_to_indexes(self, note: Note, key: object) -> Statements[None]:
        _, folded = bind("tag", sorted({fold_text(tag) for tag in note.tags}))
        if folded:
            rows = ", ".join(f"(:{name}, :shelf, :created_at, :key)" for name in folded)
            created_at = self.codec.encode_time(note.created_at)
            yield (
                f"INSERT INTO {self.tags} (tag_key, shelf, created_at, {self.tag_note}) "
                f"VALUES {rows}",
                folded | {"shelf": shelf_of(note), "created_at": created_at, "key": key},
            )
        yield from self.index_words(note, key)

    def _add_to_history(self, note: Note, by: str, kind: ChangeKind) -> Statements[None]:
        yield from self.add_version(
            Version(
                note.id,
                note.updated_at,
                by,
                kind,
                note.title,
                note.content,
                note.tags,
                note.status,
            )
        )

    def add_version(self, version: Version) -> Statements[None]:
        """Adds one version to the history of its note."""
        yield (
            f"INSERT INTO {self.history_table} (note_id, changed_at, changed_by, kind, title, "
            "content, tags, status) VALUES (:id, :at, :by, :kind, :title, :content, :tags, "
            ":status)",
            {
                "id": version.note_id,
                "at": self.codec.encode_time(version.changed_at),
                "by": version.by,
                "kind": version.kind,
                "title": version.title,
                "content": version.content,
                "tags": self.codec.encode_tags(version.tags),
                "status": version.status,
            },
        )

    def version_from(self, row: Row) -> Version:
        """A row of HISTORY_COLUMNS."""
        note_id, at, by, kind, title, content, tags, status = row
        changed_at, tagged = self.codec.decode_time(at), self.codec.decode_tags(tags)
        return Version(note_id, changed_at, by, kind, title, content, tagged, status)


class SqlNodeStore(ABC):
    """Nodes over a driver; `name_key` tells nodes apart, `search_key` finds them."""

    codec: ClassVar[ColumnCodec]
    nodes: ClassVar[str]

    def __init__(self, driver: Driver) -> None:
        self._driver = driver

    @abstractmethod
    def put_node(self, values: dict[str, object], trigrams: list[str]) -> Statements[None]:
        """Adds or replaces one node, with what finds names spelled like its own."""

    @abstractmethod
    async def near(self, name: str, limit: int) -> list[str]: ...

    @abstractmethod
    def changes(self, since: str | None) -> AsyncIterator[DocumentChange]: ...

    async def put(self, nodes: Sequence[Node]) -> None:
        await self._driver.transact(self.put_statements(nodes))

    async def find(self, names: Sequence[str]) -> dict[str, Node]:
        exact, keys = bind("key", dict.fromkeys(case_key(name) for name in names))
        folded, search_keys = bind("fold", dict.fromkeys(fold_text(name) for name in names))
        if not keys:
            return {}
        select = f"SELECT {NODE_COLUMNS}, name_key, search_key FROM {self.nodes} WHERE"
        (rows,) = await self._driver.run(
            (
                f"{select} name_key IN ({exact}) UNION {select} search_key IN ({folded})",
                keys | search_keys,
            )
        )
        rows.sort(key=lambda row: str(row[-2]), reverse=True)
        by_fold = {row[-1]: self.node_from(row) for row in rows}
        by_key = {row[-2]: self.node_from(row) for row in rows}
        found = {name: by_key.get(case_key(name)) or by_fold.get(fold_text(name)) for name in names}
        return {name: node for name, node in found.items() if node is not None}

    def node_from(self, row: Row) -> Node:
        return Node(row[0], row[1], row[2], row[3], self.codec.decode_object(row[4]))

    def put_statements(self, nodes: Sequence[Node]) -> Statements[None]:
        for node in nodes:
            values: dict[str, object] = {
                "name_key": case_key(node.name),
                "search_key": fold_text(node.name),
                "name": node.name,
                "node_type": node.node_type,
                "description": node.description,
                "content": node.content,
                "metadata": self.codec.encode_object(node.metadata),
            }
            yield from self.put_node(values, sorted(name_trigrams(node.name)))

    def upsert(self, values: dict[str, object], touch: str = "", returning: str = "") -> Step:
        """Insert or replace one row of the table."""
        names = list(values)
        sets = ", ".join(f"{name} = excluded.{name}" for name in names if name != "name_key")
        sql = (
            f"INSERT INTO {self.nodes} ({', '.join(names)}) "
            f"VALUES ({', '.join(f':{name}' for name in names)}) "
            f"ON CONFLICT (name_key) DO UPDATE SET {sets}{touch}{returning}"
        )
        return sql, values
