"""Papers from JSON: records one by line, and paper_infos.json of other tools."""

from __future__ import annotations

import gzip
import lzma
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

import orjson

from carrel.rooms.papers.building.models import Reading, ReadProblem, SourcePart
from carrel.rooms.papers.building.paper_records import FiledSummary, PaperRecord
from carrel.rooms.papers.building.ports import AssetStore
from carrel.services.paper_sources.fields import parse_fields
from carrel.services.paper_sources.markdown import (
    NotTextError,
    decode_text,
    find_headings,
    markdown_body,
    parse_translation_name,
    store_images,
)
from carrel.services.paper_sources.stated_references import read_stated_references
from carrel.services.paper_sources.texts import clean, one_line

_SUFFIXES = (".jsonl", ".ndjson", ".jsonlines")
_PART_BYTES = 1024 * 1024
_LONGEST_LINE = 16 * 1024 * 1024


class JsonLinesReader:
    """One object per line with title, authors, doi, abstract and the like."""

    name = "json_lines"
    version = 3

    def accepts(self, path: Path, head: bytes) -> bool:
        name = path.name.lower()
        return name.removesuffix(".gz").removesuffix(".xz").endswith(_SUFFIXES)

    def parts(self, path: Path, companions: tuple[Path, ...]) -> Iterator[SourcePart]:
        """Parts of about a megabyte, cut at line ends; a read error becomes the last one."""
        number, line, lines, size = 0, 1, list[bytes](), 0
        try:
            with _open(path) as file:
                while text := file.readline(_LONGEST_LINE):
                    if len(text) == _LONGEST_LINE and not text.endswith(b"\n"):
                        raise EOFError(
                            f"line {line + len(lines)} is longer than {_LONGEST_LINE:,} bytes"
                        )
                    lines.append(text)
                    size += len(text)
                    if size >= _PART_BYTES and text.endswith(b"\n"):
                        yield SourcePart(path, number, line, b"".join(lines))
                        number, line, lines, size = number + 1, line + len(lines), [], 0
        except (OSError, EOFError, lzma.LZMAError, zlib.error) as error:
            if lines:
                yield SourcePart(path, number, line, b"".join(lines))
            yield SourcePart(
                path, number + 1, line + len(lines), f"\x00{type(error).__name__}: {error}".encode()
            )
            return
        if lines:
            yield SourcePart(path, number, line, b"".join(lines))

    def read(self, part: SourcePart, assets: AssetStore) -> Reading:
        content = part.content or b""
        if content.startswith(b"\x00"):
            reason = content[1:].decode("utf-8", "replace")
            return Reading.failed(
                "not_unpacked", f"the rest could not be unpacked ({reason})", part.first_line
            )
        records: list[PaperRecord] = []
        problems: list[ReadProblem] = []
        for number, raw in enumerate(content.split(b"\n"), start=part.first_line):
            line = raw.strip(b"\r\n\t \xef\xbb\xbf") if number == 1 else raw.strip()
            if not line:
                continue
            try:
                fields = orjson.loads(line)
            except orjson.JSONDecodeError as error:
                problems.append(ReadProblem("json_not_valid", f"not valid JSON: {error}", number))
                continue
            if not isinstance(fields, Mapping):
                problems.append(
                    ReadProblem("json_not_valid", "not an object with named fields", number)
                )
                continue
            parsed = parse_fields(fields, number)
            problems.extend(parsed.problems)
            works = read_stated_references(fields)
            references = assets.keep_references(works) if works else None
            records.append(replace(parsed.record, references_sha256=references))
        return Reading(tuple(records), tuple(problems))


def _open(path: Path) -> BinaryIO | gzip.GzipFile | lzma.LZMAFile:
    match path.suffix.lower():
        case ".gz":
            return gzip.open(path, "rb")
        case ".xz":
            return lzma.open(path, "rb")
        case _:
            return path.open("rb")


_NOT_A_SUMMARY = frozenset(
    {
        *(
            "paper_title",
            "paper_authors",
            "publication_date",
            "publication_venue",
            "abstract",
            "keywords",
            "paper_institutions",
        ),
        *(
            "output_language",
            "source_path",
            "source_hash",
            "prompt_template",
            "provider",
            "model",
            "extracted_at",
            "summary",
        ),
        *(
            "ai_generated_tags",
            "doi",
            "paper_doi",
            "arxiv",
            "arxiv_id",
            "bibtex",
            "source_truncated",
            "id",
            "tags",
            "institutions",
        ),
        *("volume", "issue", "pages", "publisher", "issn", "isbn", "pmid", "pmcid", "url"),
    }
)


class PaperInfosReader:
    """An object with `template_tag` and `papers`, or the bare list of papers."""

    name = "paper_infos"
    version = 2

    def accepts(self, path: Path, head: bytes) -> bool:
        return path.suffix.lower() == ".json" and b'"paper_title"' in head

    def parts(self, path: Path, companions: tuple[Path, ...]) -> Iterator[SourcePart]:
        yield SourcePart(path)

    def read(self, part: SourcePart, assets: AssetStore) -> Reading:
        try:
            document = orjson.loads(part.path.read_bytes())
        except orjson.JSONDecodeError as error:
            return Reading.failed("json_not_valid", f"not valid JSON: {error}")
        template = (
            one_line(str(document.get("template_tag") or ""))
            if isinstance(document, Mapping)
            else None
        )
        papers = document.get("papers") if isinstance(document, Mapping) else document
        if not isinstance(papers, list):
            return Reading.failed("json_not_valid", "no list of papers in it")
        records: list[PaperRecord] = []
        problems: list[ReadProblem] = []
        also_read: list[Path] = []
        for number, fields in enumerate(papers, start=1):
            if not isinstance(fields, Mapping):
                problems.append(
                    ReadProblem(
                        "json_not_valid", f"paper {number} is not an object with named fields"
                    )
                )
                continue
            record = self._paper(fields, template, problems)
            whole = _with_source(record, fields.get("source_path"), part.path.parent, assets)
            records.extend(whole.records)
            problems.extend(whole.problems)
            also_read.extend(whole.also_read)
        return Reading(tuple(records), tuple(problems), tuple(dict.fromkeys(also_read)))

    def _paper(
        self, fields: Mapping[str, object], template: str | None, problems: list[ReadProblem]
    ) -> PaperRecord:
        parsed = parse_fields(fields)
        problems.extend(parsed.problems)
        said = {
            name: one_line(value) if isinstance(value := fields.get(name), str) else None
            for name in _NOT_A_SUMMARY
        }
        markdown = (
            clean(summary)
            if isinstance(summary := fields.get("summary"), str)
            else _modules(fields)
        )
        record = replace(parsed.record, citation_key=None, source_hash=said["source_hash"])
        bibtex = fields.get("bibtex")
        if isinstance(bibtex, Mapping) and isinstance(entry := bibtex.get("fields"), Mapping):
            record = _with_bibliography(record, parse_fields(entry).record)
        if record.bibtex:
            record = replace(record, citation_key=record.bibtex.key)
        if markdown is None:
            return record
        return replace(
            record,
            summaries=(
                FiledSummary(
                    template=template or said["prompt_template"] or "simple",
                    markdown=markdown,
                    language=said["output_language"],
                    provider=said["provider"],
                    model=said["model"],
                    prompt_template=said["prompt_template"],
                    extracted_at=said["extracted_at"],
                ),
            ),
        )


def _with_bibliography(record: PaperRecord, entry: PaperRecord) -> PaperRecord:
    """Venue, date and identifiers of the bibliography entry win, as a person checked it."""
    return replace(
        record,
        doi=record.doi or entry.doi,
        arxiv_id=record.arxiv_id or entry.arxiv_id,
        venue=entry.venue or record.venue,
        publication_date=record.publication_date or entry.publication_date,
        volume=record.volume or entry.volume,
        issue=record.issue or entry.issue,
        pages=record.pages or entry.pages,
        publisher=record.publisher or entry.publisher,
        isbn=record.isbn or entry.isbn,
        issn=record.issn or entry.issn,
        url=record.url or entry.url,
        pmid=record.pmid or entry.pmid,
        editors=record.editors or entry.editors,
    )


def _modules(fields: Mapping[str, object]) -> str | None:
    """A template that fills named pieces: each piece under its own heading."""
    pieces = [
        (name, text)
        for name, text in fields.items()
        if name not in _NOT_A_SUMMARY and isinstance(text, str) and text.strip()
    ]
    return clean(
        "\n\n".join(
            f"## {name.replace('_', ' ').capitalize()}\n\n{text.strip()}" for name, text in pieces
        )
    )


def _with_source(record: PaperRecord, named: object, folder: Path, assets: AssetStore) -> Reading:
    """The record with the text, images and translations that its `source_path` leads to."""
    if not isinstance(named, str) or not named.strip() or "\x00" in named:
        return Reading((record,))
    path = next((place for place in _places(named.strip(), folder) if place.is_file()), None)
    if path is None:
        message = f"{record.title[:80]!r}: its source {named[:200]!r} is not there"
        return Reading((record,), (ReadProblem("source_missing", message, is_fatal=False),))
    also_read = [path, path.parent]
    if path.suffix.lower() == ".pdf":
        return Reading((replace(record, pdf_sha256=assets.keep_pdf(path)),), (), tuple(also_read))
    try:
        body = markdown_body(decode_text(path.read_bytes()))
        translations = tuple(_translations(path, assets, also_read))
    except NotTextError as error:
        problem = ReadProblem("not_utf8", f"{path.name}: {error}", is_fatal=False)
        return Reading((record,), (problem,), tuple(also_read))
    body, images = store_images(body, path.parent, assets)
    record = replace(
        record,
        headings=tuple(heading for heading in find_headings(body) if heading.level in {2, 3}),
        markdown_sha256=assets.keep_markdown(body) if body.strip() else None,
        translations=translations,
        images=images,
    )
    return Reading((record,), (), tuple(also_read))


def _places(named: str, folder: Path) -> Iterator[Path]:
    """Candidate paths of the source, never outside the file's folder."""
    root = folder.resolve()
    for candidate in (root / named, root / Path(named).name):
        resolved = candidate.resolve()
        if resolved.is_relative_to(root):
            yield resolved


def _translations(
    path: Path, assets: AssetStore, also_read: list[Path]
) -> Iterator[tuple[str, str]]:
    for sibling in sorted(path.parent.glob(f"{_literal(path.stem)}.*.md")):
        named = parse_translation_name(sibling)
        if named and named[0] == path.stem:
            also_read.append(sibling)
            yield (
                named[1],
                assets.keep_translation(markdown_body(decode_text(sibling.read_bytes())), named[1]),
            )


def _literal(stem: str) -> str:
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in stem)
