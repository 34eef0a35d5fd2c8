"""The tables of a paper snapshot, as other tools read them, and a check of foreign snapshots."""

from __future__ import annotations

import re
import sqlite3

from carrel.rooms.papers.errors import SnapshotUnavailableError

NAMED_FACETS = ("author", "keyword", "institution", "tag", "venue")

_OF_PAPER = "FOREIGN KEY (paper_id) REFERENCES paper(paper_id) ON DELETE CASCADE"


def _named_facet(name: str) -> tuple[str, str]:
    return (
        f"CREATE TABLE {name} ({name}_id INTEGER PRIMARY KEY, value TEXT NOT NULL UNIQUE, "
        "paper_count INTEGER NOT NULL DEFAULT 0)",
        f"CREATE TABLE paper_{name} (paper_id TEXT NOT NULL, {name}_id INTEGER NOT NULL, PRIMARY "
        f"KEY (paper_id, {name}_id), "
        f"{_OF_PAPER}, FOREIGN KEY ({name}_id) REFERENCES {name}({name}_id) ON DELETE CASCADE)",
    )


TABLES: tuple[str, ...] = (
    "CREATE TABLE snapshot_meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
    """CREATE TABLE paper (
        paper_id TEXT PRIMARY KEY, paper_key TEXT NOT NULL, paper_key_type TEXT NOT NULL, doi TEXT,
          title TEXT NOT NULL,
        year TEXT NOT NULL, month TEXT NOT NULL, publication_date TEXT NOT NULL, venue TEXT NOT
          NULL,
        preferred_summary_template TEXT NOT NULL, summary_preview TEXT NOT NULL, paper_index INTEGER
          NOT NULL DEFAULT 0,
        source_hash TEXT, output_language TEXT, provider TEXT, model TEXT, prompt_template TEXT,
          extracted_at TEXT,
        pdf_content_hash TEXT, source_md_content_hash TEXT)""",
    "CREATE TABLE paper_summary (paper_id TEXT NOT NULL, template_tag TEXT NOT NULL, "
    f"PRIMARY KEY (paper_id, template_tag), {_OF_PAPER})",
    "CREATE TABLE paper_translation (paper_id TEXT NOT NULL, lang TEXT NOT NULL, md_content_hash "
    "TEXT NOT NULL, "
    f"PRIMARY KEY (paper_id, lang), {_OF_PAPER})",
    "CREATE TABLE paper_bibtex (paper_id TEXT PRIMARY KEY, bibtex_raw TEXT NOT NULL, bibtex_key "
    "TEXT, entry_type TEXT, "
    f"{_OF_PAPER})",
    "CREATE TABLE paper_key_alias (paper_key TEXT PRIMARY KEY, paper_id TEXT NOT NULL, "
    "paper_key_type TEXT NOT NULL, "
    f"meta_fingerprint TEXT, {_OF_PAPER})",
    *(statement for name in NAMED_FACETS for statement in _named_facet(name)),
    "CREATE TABLE facet_node (node_id INTEGER PRIMARY KEY, facet_type TEXT NOT NULL, value TEXT "
    "NOT NULL, "
    "paper_count INTEGER NOT NULL DEFAULT 0, UNIQUE(facet_type, value))",
    f"CREATE TABLE paper_facet (paper_id TEXT NOT NULL, node_id INTEGER NOT NULL, PRIMARY KEY "
    f"(paper_id, node_id), {_OF_PAPER}, "
    "FOREIGN KEY (node_id) REFERENCES facet_node(node_id) ON DELETE CASCADE)",
    "CREATE TABLE facet_edge (node_id_a INTEGER NOT NULL, node_id_b INTEGER NOT NULL, paper_count "
    "INTEGER NOT NULL DEFAULT 0, "
    "PRIMARY KEY (node_id_a, node_id_b), FOREIGN KEY (node_id_a) REFERENCES facet_node(node_id) "
    "ON DELETE CASCADE, "
    "FOREIGN KEY (node_id_b) REFERENCES facet_node(node_id) ON DELETE CASCADE)",
    "CREATE TABLE year_count (year TEXT PRIMARY KEY, paper_count INTEGER NOT NULL)",
    "CREATE TABLE month_count (month TEXT PRIMARY KEY, paper_count INTEGER NOT NULL)",
    "CREATE VIRTUAL TABLE paper_fts USING fts5("
    "paper_id UNINDEXED, title, summary, source, translated, metadata, tokenize='unicode61')",
    "CREATE VIRTUAL TABLE paper_fts_trigram USING fts5(paper_id UNINDEXED, title, venue, "
    "tokenize='trigram')",
)

# Tables that other tools do not have and need not know. A snapshot that is built upon may lack
# them.
OWN_TABLES: tuple[str, ...] = (
    "CREATE TABLE IF NOT EXISTS paper_inferred (paper_id TEXT NOT NULL, field TEXT NOT NULL, "
    f"PRIMARY KEY (paper_id, field), {_OF_PAPER})",
)

INDEXES: tuple[str, ...] = (
    "CREATE INDEX idx_paper_summary_template ON paper_summary(template_tag)",
    "CREATE INDEX idx_paper_key_alias_paper_id ON paper_key_alias(paper_id)",
    *(
        f"CREATE INDEX idx_paper_{name}_{name}_id ON paper_{name}({name}_id)"
        for name in NAMED_FACETS
    ),
    "CREATE INDEX idx_facet_node_type ON facet_node(facet_type)",
    "CREATE INDEX idx_facet_node_value ON facet_node(value)",
    "CREATE INDEX idx_paper_facet_node_id ON paper_facet(node_id)",
    "CREATE INDEX idx_facet_edge_a ON facet_edge(node_id_a)",
    "CREATE INDEX idx_facet_edge_b ON facet_edge(node_id_b)",
)

PAPER_TABLES: tuple[str, ...] = (
    *(f"paper_{name}" for name in NAMED_FACETS),
    *(
        "paper_inferred",
        "paper_summary",
        "paper_translation",
        "paper_bibtex",
        "paper_key_alias",
        "paper_facet",
        "paper",
    ),
)


_CREATED = re.compile(r"CREATE (?:VIRTUAL )?TABLE (?:IF NOT EXISTS )?(\w+)")
_READ = frozenset(
    found.group(1) for statement in (*TABLES, *OWN_TABLES) if (found := _CREATED.match(statement))
)
# The hidden columns of PRAGMA table_xinfo: 2 and 3 are generated ones.
_GENERATED = (2, 3)
# Where full-text tables keep their words.
_SHADOWS = ("paper_fts_", "paper_fts_trigram_")
_KEPT_ELSEWHERE = re.compile(r"\bcontent\s*=\s*(?!''|\"\"|``|\[\])", re.IGNORECASE)
_MODULE = re.compile(r"\bUSING\s+[\"'`\[]?(\w+)", re.IGNORECASE)


def refuse_computed_tables(connection: sqlite3.Connection) -> None:
    """Refuse views, foreign virtual tables and generated columns under the names that are read.

    Each could be a query without an end. Views under other names are never read and may stay.
    """
    schema = connection.execute(
        "SELECT type, name, coalesce(sql, ''), rootpage = 0 FROM sqlite_master WHERE type IN "
        "('table', 'view')"
    )
    for kind, name, statement, is_virtual in schema.fetchall():
        if str(name).lower() not in _READ and not str(name).lower().startswith(_SHADOWS):
            continue
        if kind == "view":
            raise SnapshotUnavailableError(f"'{name}' is a view and not a table")
        if is_virtual:
            module = _MODULE.search(statement)
            if (
                module is None
                or module.group(1).lower() != "fts5"
                or _KEPT_ELSEWHERE.search(statement)
            ):
                raise SnapshotUnavailableError(f"'{name}' takes its rows from elsewhere")
            continue
        for column, hidden in connection.execute(
            "SELECT name, hidden FROM pragma_table_xinfo(?)", (name,)
        ).fetchall():
            if hidden in _GENERATED:
                raise SnapshotUnavailableError(
                    f"the column '{column}' of '{name}' is computed and not stored"
                )
