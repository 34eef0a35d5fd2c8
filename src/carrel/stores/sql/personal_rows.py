"""Which rows are whose: what a person's leaving counts, exports, hands over and erases.

Every table is named here, those of nobody too, so that a test finds a new one that was forgotten.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from carrel.stores.sql.driver import Rows, Step

# In place of the name of somebody who was erased, where the row is the team's.
FORMER_MEMBER = "(former member)"
_PAGE = 200


@dataclass(frozen=True, slots=True)
class Children:
    """Rows that belong to a person's row, by a condition with `:name`."""

    table: str
    condition: str


@dataclass(frozen=True, slots=True)
class PersonalTable:
    """A table with a column that names a person.

    `what` says for people what its rows are. Rows that `ends` are of the account and are not handed
    over. `twin` is a condition on the rows `t` that the other person has already, which are left
    out; `renamed` is a column that is made different where the other person has one of that name.
    """

    table: str
    column: str
    what: str
    ends: bool = False
    prefix: str = ""
    children: tuple[Children, ...] = ()
    secret: tuple[str, ...] = ()
    twin: str = ""
    renamed: str = ""
    key: str = "id"
    before_handing_over: str = ""
    # Columns of rows of others that say who did something.
    named_besides: tuple[tuple[str, str], ...] = ()
    # Whether the JSON in `body` names the owner, too.
    has_owner_in_body: bool = False


def _of(parent: str, column: str, name: str = "owner") -> str:
    return f"{column} IN (SELECT id FROM {parent} WHERE {name} = :name)"


_OF_PROJECT = _of("research_projects", "research_id")
_OF_ALERT = _of("literature_alerts", "alert_id")
_OF_GRANT = "grant_id IN (SELECT grant_id FROM access_grants WHERE user_name = :name)"

PERSONAL_TABLES: Mapping[str, Sequence[PersonalTable]] = {
    "research": (
        PersonalTable(
            "research_projects",
            "owner",
            "research projects",
            children=(
                Children(
                    "research_steps",
                    f"job_id IN (SELECT id FROM research_jobs WHERE {_OF_PROJECT})",
                ),
                *(
                    Children(f"research_{name}", _OF_PROJECT)
                    for name in (
                        *("hypotheses", "reviews", "matches", "outputs", "events", "jobs"),
                        "tasks",
                    )
                ),
            ),
            has_owner_in_body=True,
        ),
        PersonalTable("research_safety", "owner", "decisions on goals", has_owner_in_body=True),
    ),
    "literature": (
        PersonalTable(
            "literature_alerts",
            "owner",
            "alerts",
            children=tuple(
                Children(f"literature_alert_{name}", _OF_ALERT)
                for name in ("marks", "works", "keys")
            ),
            renamed="name",
        ),
        PersonalTable(
            "literature_completions",
            "owner",
            "completions",
            twin="""EXISTS (SELECT 1 FROM literature_completions o WHERE o.owner = :other
                AND o.target = t.target AND o.record_id = t.record_id)""",
        ),
    ),
    "library_members": (
        PersonalTable(
            "shared_library_members",
            "user_id",
            "memberships of shared libraries",
            key="library",
            twin="""EXISTS (SELECT 1 FROM shared_library_members o WHERE o.user_id = :other
                AND o.library = t.library)""",
            # Whoever is given an owner's place is an owner, member before or not.
            before_handing_over="""UPDATE shared_library_members SET role = 'owner'
                WHERE user_id = :other AND EXISTS (SELECT 1 FROM shared_library_members h
                  WHERE h.library = shared_library_members.library AND h.user_id = :name
                    AND h.role = 'owner')""",
            named_besides=(
                ("shared_library_members", "added_by"),
                ("shared_libraries", "created_by"),
            ),
        ),
    ),
    "jobs": (PersonalTable("background_jobs", "owner", "jobs"),),
    "quotas": (
        PersonalTable("quota_use", "subject", "days of use", ends=True, prefix="user:"),
        PersonalTable("quota_allotments", "subject", "quotas", ends=True, prefix="user:"),
    ),
    "access": (
        PersonalTable("access_tokens", "user_name", "tokens", ends=True, secret=("token_hash",)),
        PersonalTable(
            "access_grants",
            "user_name",
            "grants",
            ends=True,
            children=(
                Children("access_codes", _OF_GRANT),
                Children("access_refresh", _OF_GRANT),
            ),
        ),
        PersonalTable(
            "access_sessions", "user_name", "sessions", ends=True, secret=("session_hash",)
        ),
        PersonalTable("access_origins", "user_name", "known browsers", ends=True),
        PersonalTable("access_people", "user_name", "links to an institute", ends=True),
        PersonalTable(
            "access_sign_ins",
            "user_name",
            "log-ins at an institute",
            ends=True,
            secret=("sealed_refresh",),
        ),
        # The last: until it is gone the leaving can be finished.
        PersonalTable("access_users", "name", "accounts", ends=True, secret=("password_hash",)),
    ),
}
# Children whose rows are secrets or of no use elsewhere, so that no export has them.
_NEVER_EXPORTED = frozenset({"access_codes", "access_refresh"})
# Tables that name people and are handled by their rooms: notes through their store, since indexes
# follow them, libraries by the references room.
ROOMS_TABLES: Mapping[str, str] = {
    "notes": "knowledge",
    "note_tags": "knowledge",
    "note_history": "knowledge",
    "note_shelves": "knowledge",
    "note_sizes": "knowledge",
    "changes": "knowledge",
    "change_marks": "knowledge",
    "knowledge_notes": "knowledge",
    "knowledge_note_tags": "knowledge",
    "knowledge_history": "knowledge",
    "knowledge_removed": "knowledge",
    "reference_libraries": "references",
    "reference_items": "references",
    "reference_work_keys": "references",
    "reference_changes": "references",
    "reference_versions": "references",
    "reference_files": "references",
    "reference_file_chunks": "references",
    "reference_file_drafts": "references",
}
# Tables that name nobody, or must go on naming everybody.
NOBODYS_TABLES: Mapping[str, str] = {
    "access_clients": "programs",
    "access_keys": "keys of the server",
    "access_logouts": "log-out tokens, for minutes",
    "nodes": "the team's graph",
    "node_grams": "the team's graph",
    "knowledge_nodes": "the team's graph",
    "literature_notices": "retractions",
    "literature_tables": "retractions",
    "literature_leases": "who works on what, for minutes",
    "limit_buckets": "for minutes",
    "audit_log": "the audit log stays: it can only grow",
    "audit_anchors": "the audit log stays",
    "audit_signing_key": "the audit log stays",
    "shared_libraries": "shared libraries are their members'",
    "carrel_versions": "versions of tables",
    "carrel_imports": "what was moved or restored",
}


def count_rows(part: str, name: str) -> Generator[Step, Rows, dict[str, int]]:
    """How many rows a person has in a part, by what they are."""
    found = {}
    for table in PERSONAL_TABLES[part]:
        rows = yield (
            f"SELECT count(*) FROM {table.table} WHERE {table.column} = :name",
            {"name": table.prefix + name},
        )
        found[table.what] = int(rows[0][0])
    return found


def export_statements(part: str) -> list[tuple[str, str, PersonalTable]]:
    """For each table its name and the statement that gives a person's rows; `:name` is theirs."""
    found = []
    for table in PERSONAL_TABLES[part]:
        found.append(
            (table.table, f"SELECT * FROM {table.table} WHERE {table.column} = :name", table)
        )
        found += [
            (each.table, f"SELECT * FROM {each.table} WHERE {each.condition}", table)
            for each in table.children
            if each.table not in _NEVER_EXPORTED
        ]
    return found


def erase_rows(part: str, name: str, *, account_only: bool = False) -> Generator[Step, Rows, None]:
    """Removes a person's rows of a part with all that belongs to them."""
    for table in PERSONAL_TABLES[part]:
        if account_only and not table.ends:
            continue
        owner: dict[str, object] = {"name": table.prefix + name}
        for each in table.children:
            yield f"DELETE FROM {each.table} WHERE {each.condition}", owner
        yield f"DELETE FROM {table.table} WHERE {table.column} = :name", owner
        for besides, column in table.named_besides:
            yield (
                f"UPDATE {besides} SET {column} = :stand_in WHERE {column} = :name",
                {**owner, "stand_in": FORMER_MEMBER},
            )


ORPHANED_LIBRARIES = (
    "SELECT l.name FROM shared_libraries l JOIN shared_library_members m "
    "ON m.library = l.library AND m.user_id = :name AND m.role = 'owner' "
    "WHERE l.is_removed = 0 AND NOT EXISTS (SELECT 1 FROM shared_library_members o "
    "WHERE o.library = l.library AND o.user_id <> :name AND o.role = 'owner') ORDER BY l.name"
)


def hand_over_rows(part: str, name: str, other: str) -> Generator[Step, Rows, None]:
    """Gives a person's rows of a part to another; what is of the account stays where it is."""
    names: dict[str, object] = {"name": name, "other": other}
    for table in PERSONAL_TABLES[part]:
        if table.ends:
            continue
        if table.before_handing_over:
            yield table.before_handing_over, names
        if table.twin:
            yield (
                f"DELETE FROM {table.table} WHERE {table.column} = :name AND {table.key} IN "
                f"(SELECT t.{table.key} FROM {table.table} t WHERE t.{table.column} = :name "
                f"AND {table.twin})",
                names,
            )
        if table.renamed:
            yield (
                f"UPDATE {table.table} SET {table.renamed} = {table.renamed} || :suffix "
                f"WHERE {table.column} = :name AND {table.renamed} IN (SELECT {table.renamed} "
                f"FROM {table.table} WHERE {table.column} = :other)",
                {**names, "suffix": f" (from {name})"},
            )
        if table.has_owner_in_body:
            yield from _hand_over_bodies(table, name, other)
        yield (
            f"UPDATE {table.table} SET {table.column} = :other WHERE {table.column} = :name",
            names,
        )


def erase_note_authors(history_table: str, name: str) -> Step:
    """Takes a person's name out of the versions of notes that stay."""
    return (
        f"UPDATE {history_table} SET changed_by = :stand_in WHERE changed_by = :name",
        {"stand_in": FORMER_MEMBER, "name": name},
    )


def forget_shelves(name: str) -> Step:
    """Removes what counts the words of a person's notes, in a file whose notes are gone."""
    shelves = {place: f"{place}:{name}" for place in ("open", "proposed", "done")}
    return (
        "DELETE FROM note_shelves WHERE notes = 0 AND name IN (:open, :proposed, :done)",
        shelves,
    )


def _hand_over_bodies(table: PersonalTable, name: str, other: str) -> Generator[Step, Rows, None]:
    after = ""
    while rows := (
        yield (
            f"SELECT id, body FROM {table.table} WHERE {table.column} = :name AND id > :after "
            f"ORDER BY id LIMIT {_PAGE}",
            {"name": name, "after": after},
        )
    ):
        after = str(rows[-1][0])
        for row_id, body in rows:
            facts: dict[str, Any] = json.loads(body)
            if facts.get("owner") == name:
                changed = json.dumps({**facts, "owner": other}, ensure_ascii=False)
                yield (
                    f"UPDATE {table.table} SET body = :body WHERE id = :id",
                    {"body": changed, "id": row_id},
                )
