"""Files of a corpus beside its snapshot: texts, summaries and manifests, and papers handed in."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypedDict

import orjson

from carrel.core.process_name import process_name
from carrel.libraries.works.cited_works import CitedWork, encode_cited_works
from carrel.libraries.works.figures import PaperFigure, encode_figures
from carrel.libraries.works.given_names import name_file
from carrel.rooms.papers.building.paper_records import FiledSummary
from carrel.rooms.papers.building.papers import PublishedPaper

_ASSET_FOLDERS = ("md", "pdf", "md_translate", "images", "references", "figures")
_NOT_IN_A_NAME = re.compile(r'[<>:"/\\|?*\x00-\x1f\s]+')
_LONGEST_NAME = 80
_COPY_BYTES = 1024 * 1024


class PaperAssets:
    """Stores assets under the hash of their content, each written once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def keep_markdown(self, text: str) -> str:
        return self._keep_text(text, "md")

    def keep_translation(self, text: str, language: str) -> str:
        return self._keep_text(text, f"md_translate/{language}")

    def keep_pdf(self, path: Path) -> str:
        return self._keep_file(path, "pdf", "pdf")

    def keep_image(self, path: Path) -> str:
        return self._keep_file(path, "images", path.suffix.lower().removeprefix("."))

    def keep_image_bytes(self, content: bytes, extension: str) -> str:
        return self._keep_bytes(content, "images", extension)

    def keep_references(self, works: Sequence[CitedWork]) -> str:
        return self._keep_bytes(encode_cited_works(works), "references", "json")

    def keep_figures(self, figures: Sequence[PaperFigure]) -> str:
        return self._keep_bytes(encode_figures(figures), "figures", "json")

    def read_text(self, static_path: str) -> str:
        return (self._folder / static_path).read_text(encoding="utf-8")

    def _keep_text(self, text: str, where: str) -> str:
        return self._keep_bytes(text.encode("utf-8", "replace"), where, "md")

    def _keep_bytes(self, raw: bytes, where: str, extension: str) -> str:
        sha256 = hashlib.sha256(raw).hexdigest()
        target = self._folder / where / f"{sha256}.{extension}"
        if not target.exists():
            write_whole(target, raw)
        return sha256

    def _keep_file(self, path: Path, where: str, extension: str) -> str:
        with path.open("rb") as file:
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        target = self._folder / where / f"{sha256}.{extension}"
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            aside = target.with_name(f".{target.name}.{process_name()}")
            shutil.copyfile(path, aside)
            aside.replace(target)
        return sha256


class PaperStaticFolder:
    """Writes what is read paper by paper: summaries by template and the manifest."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._hands = ThreadPoolExecutor(1, thread_name_prefix="static-folder")
        self._unfinished: list[Future[None]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._hands.shutdown(cancel_futures=True)

    def write(self, papers: Sequence[PublishedPaper]) -> None:
        """Writes on another thread; waits only for the batch before."""
        self.flush()
        self._unfinished = [self._hands.submit(self._write, paper) for paper in papers]

    def flush(self) -> None:
        for future in self._unfinished:
            future.result()
        self._unfinished = []

    def _write(self, paper: PublishedPaper) -> None:
        own = self._folder / "summary" / paper.paper_id
        for stale in own.glob("*.json") if own.is_dir() else ():
            if stale.stem not in paper.summaries.templates:
                stale.unlink()
        for name in paper_file_names(paper):
            content = make_paper_file(paper, name)
            if content is not None:
                write_whole(self._folder / name, content)

    def sweep(self, paper_ids: frozenset[str], assets: frozenset[str]) -> int:
        gone = 0
        for name in ("manifest", "summary"):
            for entry in _entries(self._folder / name):
                if entry.stem not in paper_ids:
                    gone += 1
                    shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
        for name in _ASSET_FOLDERS:
            for path in (self._folder / name).rglob("*"):
                if path.is_file() and path.relative_to(self._folder).as_posix() not in assets:
                    gone += 1
                    path.unlink()
        return gone


def paper_file_names(paper: PublishedPaper) -> list[str]:
    """The files of the static folder that are written paper by paper."""
    paper_id = paper.paper_id
    return [
        *(f"summary/{paper_id}/{template}.json" for template in paper.summaries.templates),
        f"summary/{paper_id}.json",
        f"manifest/{paper_id}.json",
    ]


def make_paper_file(paper: PublishedPaper, name: str) -> bytes | None:
    """The content of one of these files; None where the paper has none of that name."""
    kind, _, rest = name.partition("/")
    own, _, template = rest.removesuffix(".json").partition("/")
    if own != paper.paper_id or not rest.endswith(".json"):
        return None
    if kind == "manifest" and not template:
        return _json(_manifest(paper))
    if kind != "summary":
        return None
    if not template:
        shown = _summary(paper, paper.summaries.preferred)
        return _json({**shown, "available_templates": list(paper.summaries.templates)})
    chosen = next((each for each in paper.summaries.all if each.template == template), None)
    return None if chosen is None else _json(_summary(paper, chosen))


def write_whole(target: Path, raw: bytes) -> None:
    """A reader sees the old file or the new one, never half of it; an OSError leaves neither."""
    aside = f"{target.parent}/.{target.name}.{process_name()}"
    try:
        file = open(aside, "wb", buffering=0)  # noqa: PTH123, SIM115
    except FileNotFoundError:
        target.parent.mkdir(parents=True, exist_ok=True)
        file = open(aside, "wb", buffering=0)  # noqa: PTH123, SIM115
    try:
        with file:
            rest = memoryview(raw)
            while rest:  # A disk that becomes full takes a part, and refuses what follows.
                rest = rest[file.write(rest) :]
        os.replace(aside, target)  # noqa: PTH105
    except OSError:
        with suppress(OSError):
            os.unlink(aside)  # noqa: PTH108
        raise


def _entries(folder: Path) -> list[Path]:
    return list(folder.iterdir()) if folder.is_dir() else []


def _json(value: object) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_INDENT_2)


def _summary(paper: PublishedPaper, summary: FiledSummary) -> dict[str, object]:
    record = paper.record
    return {
        "paper_id": paper.paper_id,
        "paper_title": record.title,
        "paper_authors": record.authors,
        "publication_date": paper.publication_date,
        "publication_venue": paper.venue,
        "abstract": record.abstract or "",
        "keywords": record.keywords,
        "paper_institutions": record.institutions,
        "output_language": summary.language,
        "provider": summary.provider,
        "model": summary.model,
        "prompt_template": summary.prompt_template,
        "extracted_at": summary.extracted_at,
        "template_tag": summary.template,
        "summary": summary.markdown,
    }


def _manifest(paper: PublishedPaper) -> dict[str, object]:
    record = paper.record
    first_author = _name(record.authors[0]) if record.authors else "unknown"
    short = f"{first_author}_{paper.year}"
    return {
        "paper_id": paper.paper_id,
        "folder_name": f"{short}_{_name(record.title)}_{paper.paper_id}",
        "folder_name_short": f"{short}_{paper.paper_id}",
        "assets": {
            "pdf": _asset("pdf", record.pdf_sha256, "pdf", "source.pdf"),
            "source_md": _asset("md", record.markdown_sha256, "md", "source.md"),
            "translated_md": [
                {
                    "lang": language,
                    **_asset(f"md_translate/{language}", sha256, "md", f"translated/{language}.md"),
                }
                for language, sha256 in record.translations
            ],
            "summary": {
                "static_path": f"summary/{paper.paper_id}.json",
                "zip_path": "summary.json",
            },
            "summary_templates": [
                {
                    "template_tag": tag,
                    "static_path": f"summary/{paper.paper_id}/{tag}.json",
                    "zip_path": f"summaries/{tag}.json",
                }
                for tag in paper.summaries.templates
            ],
        },
        "images": [
            {
                "static_path": image.static_path,
                "zip_path": image.static_path,
                "sha256": image.sha256,
                "ext": image.extension,
                "status": "available" if image.sha256 else "missing",
            }
            for image in record.images
        ],
        "conflicts": [conflict.message for conflict in paper.conflicts],
    }


def _asset(folder: str, sha256: str | None, extension: str, zip_path: str) -> dict[str, str | None]:
    if sha256 is None:
        return {"static_path": None, "zip_path": None, "sha256": None}
    return {"static_path": f"{folder}/{sha256}.{extension}", "zip_path": zip_path, "sha256": sha256}


def _name(text: str) -> str:
    return _NOT_IN_A_NAME.sub("_", text).strip("_.")[:_LONGEST_NAME] or "unknown"


class PaperInboxFolder:
    """Files are named for their content, so that handing in the same thing twice makes one file."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(self, content: bytes, suffix: str) -> Path:
        path = self.folder / f"{hashlib.sha256(content).hexdigest()[:32]}{suffix}"
        if not path.exists():
            write_whole(path, content)
        return path

    def put_file(self, file: Path, sha256: str, suffix: str, name: str = "") -> Path:
        path = self.folder / f"{sha256[:32]}{suffix}"
        if not path.exists():
            self.folder.mkdir(parents=True, exist_ok=True)
            if name:
                # Before the file: whoever reads the file knows its name.
                write_whole(name_file(path), name.encode("utf-8", "replace"))
            aside = path.with_name(f".{path.name}.{process_name()}")
            try:
                shutil.copyfile(file, aside)
                aside.replace(path)
            finally:
                aside.unlink(missing_ok=True)
        return path

    def remove(self, path: Path) -> None:
        path.unlink(missing_ok=True)
        name_file(path).unlink(missing_ok=True)


class SummaryFiles:
    """`<folder>/<paper_id>/<template>.json`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def stamps(self) -> Mapping[str, str]:
        found: dict[str, str] = {}
        for path in sorted(self._folder.glob("*/*.json")):
            found[path.parent.name] = found.get(path.parent.name, "") + _stamp(path)
        return found

    def stamp(self, paper_id: str) -> str:
        return "".join(_stamp(path) for path in sorted((self._folder / paper_id).glob("*.json")))

    def of(self, paper_id: str) -> tuple[FiledSummary, ...]:
        return tuple(
            FiledSummary(**_read(path)["summary"])
            for path in sorted((self._folder / paper_id).glob("*.json"))
        )

    def has(self, paper_id: str, template: str, basis: str) -> bool:
        path = self._folder / paper_id / f"{template}.json"
        return path.is_file() and _read(path)["basis"] == basis

    def file(self, paper_id: str, summary: FiledSummary, basis: str) -> None:
        content = orjson.dumps(
            {"basis": basis, "summary": asdict(summary)}, option=orjson.OPT_INDENT_2
        )
        write_whole(self._folder / paper_id / f"{summary.template}.json", content)


def _stamp(path: Path) -> str:
    status = path.stat()
    return f" {path.stem}:{status.st_size}:{status.st_mtime_ns}"


class _Filed(TypedDict):
    basis: str
    summary: dict[str, Any]


def _read(path: Path) -> _Filed:
    value: _Filed = orjson.loads(path.read_bytes())
    return value
