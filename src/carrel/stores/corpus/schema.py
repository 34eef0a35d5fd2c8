"""The tables of a segment's `records.db`, which is written once and then only read.

A segment is a folder `segments/<name>` with `records.db`, the index parts `papers/` and
`passages/`, and `files/` for assets that are too long for a table.

- `row` is the number of one version of a paper. It is never used again: a changed paper gets a new
  row in a newer segment, and the manifest lists the old row as deleted. Merging keeps rows.
- `paper.record` is a `StoredPaper` (see `records.py`): everything but the long texts.
- `paper.newness` sorts papers newest first: by year, then in the order they first came in.
- `facet.papers` counts the rows of this segment, deleted ones included: subtract the facets of
  deleted rows, which are in their records.
- `asset.body` is packed by `records.pack`; NULL means the file `files/<name>` of the segment.
  Names are those of a static folder: `md/<sha256>.md`, `md_translate/<lang>/<sha256>.md`,
  `pdf/<sha256>.pdf`, `images/…`. Summaries and manifests are made from the record when asked for.
- `paper_asset` names all assets of a row, those too that only one of its sources has.
- `passage.id` is what follows `<paper_id>~` in a passage's id, unique within a row.
  `passage.asset` is the `asset.number` of its text; 0 is the abstract of the record, or its title
  where it has none: the passages of a paper without full text. `start` and `end` are a slice.
- `work_key` is what papers are known by, `reference_key` what their reference lists name, both as
  hashes (see `citation_keys.py`), so that a link is a look-up. `year` and `person` are 0 but for
  titles, and there where they are not known. `number` counts a list from 1; 0 is another version
  of the paper itself.
- `reference_list.entries` is the length of the list of a row; without a row none is known.

Format 1 has no tables of citations: such segments are read as they are, and get them when they are
merged or written again.
"""

from __future__ import annotations

FORMAT = 2
# From here on segments have the tables of citations.
FORMAT_WITH_CITATIONS = 2

RECORDS_NAME = "records.db"
PAPERS_PART = "papers"
PASSAGES_PART = "passages"
FILES_NAME = "files"

TABLES: tuple[str, ...] = (
    "CREATE TABLE segment_meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    """CREATE TABLE paper (
        row INTEGER PRIMARY KEY, paper_id TEXT NOT NULL, year INTEGER NOT NULL,
        newness INTEGER NOT NULL, record BLOB NOT NULL)""",
    """CREATE TABLE paper_key (
        key TEXT PRIMARY KEY, row INTEGER NOT NULL, kind TEXT NOT NULL) WITHOUT ROWID""",
    """CREATE TABLE facet (
        number INTEGER PRIMARY KEY, category TEXT NOT NULL, value TEXT NOT NULL,
        papers INTEGER NOT NULL)""",
    """CREATE TABLE paper_facet (
        facet INTEGER NOT NULL, row INTEGER NOT NULL, PRIMARY KEY (facet, row)) WITHOUT ROWID""",
    """CREATE TABLE asset (
        number INTEGER PRIMARY KEY, name TEXT NOT NULL, size INTEGER NOT NULL, body BLOB)""",
    """CREATE TABLE paper_asset (
        row INTEGER NOT NULL, asset INTEGER NOT NULL, PRIMARY KEY (row, asset)) WITHOUT ROWID""",
    """CREATE TABLE passage (
        row INTEGER NOT NULL, number INTEGER NOT NULL, id TEXT NOT NULL, section TEXT NOT NULL,
        kind TEXT NOT NULL, page INTEGER, start INTEGER NOT NULL, "end" INTEGER NOT NULL,
        asset INTEGER NOT NULL, PRIMARY KEY (row, number)) WITHOUT ROWID""",
    """CREATE TABLE abbreviation (
        short TEXT NOT NULL, long TEXT NOT NULL, papers INTEGER NOT NULL,
        PRIMARY KEY (short, long)) WITHOUT ROWID""",
    """CREATE TABLE work_key (
        hash INTEGER NOT NULL, row INTEGER NOT NULL, year INTEGER NOT NULL,
        person INTEGER NOT NULL, flags INTEGER NOT NULL, PRIMARY KEY (hash, row)) WITHOUT ROWID""",
    """CREATE TABLE reference_key (
        hash INTEGER NOT NULL, row INTEGER NOT NULL, number INTEGER NOT NULL,
        year INTEGER NOT NULL, person INTEGER NOT NULL, flags INTEGER NOT NULL,
        PRIMARY KEY (hash, row, number)) WITHOUT ROWID""",
    "CREATE TABLE reference_list (row INTEGER PRIMARY KEY, entries INTEGER NOT NULL)",
)

CITATION_TABLES = ("work_key", "reference_key", "reference_list")

INDEXES: tuple[str, ...] = (
    "CREATE UNIQUE INDEX paper_by_id ON paper(paper_id)",
    "CREATE INDEX paper_by_newness ON paper(newness DESC)",
    "CREATE UNIQUE INDEX facet_by_value ON facet(category, value)",
    "CREATE INDEX facet_by_papers ON facet(category, papers DESC)",
    "CREATE UNIQUE INDEX asset_by_name ON asset(name)",
)

# Names in `segment_meta`, all values as text: numbers, and JSON for the years ({"2017": 3}).
META_FORMAT = "format"
META_PAPERS = "papers"
META_PASSAGES = "passages"
META_WITH_DOI = "with_doi"
META_WITH_SOURCE = "with_source"
META_WITH_BIBTEX = "with_bibtex"
META_WITH_TRANSLATION = "with_translation"
META_YEARS = "years"

# Of a paper without a year, whose `year` is 0, and the greatest index that still counts.
LATEST_INDEX = 1 << 32


def newness(year: int, paper_index: int) -> int:
    """A number that sorts papers newest first: by year, then by the order they came in."""
    return year * LATEST_INDEX + max(0, LATEST_INDEX - 1 - paper_index)
