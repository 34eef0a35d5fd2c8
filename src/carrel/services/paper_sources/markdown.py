"""Papers in Markdown with YAML front matter, images and translations beside them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote

from carrel.libraries.text.front_matter import (
    FrontMatterError,
    NoNamedFieldsError,
    load_front_matter,
    split_front_matter,
)
from carrel.libraries.works.file_kinds import HEAD_BYTES, KINDS_TAKEN, FileKind, recognise_file
from carrel.libraries.works.given_names import given_name
from carrel.libraries.works.prose import is_prose
from carrel.rooms.papers.building.models import Reading, ReadProblem, SourcePart
from carrel.rooms.papers.building.paper_records import (
    FieldOrigin,
    Heading,
    KeptImage,
    PaperRecord,
    mark_guesses,
)
from carrel.rooms.papers.building.ports import AssetStore
from carrel.services.paper_sources.fields import parse_fields
from carrel.services.paper_sources.markdown_lists import read_text_figures, read_text_references
from carrel.services.paper_sources.stated_references import read_stated_references
from carrel.services.paper_sources.texts import clean, one_line

_LONGEST_FRONT = 256 * 1024
# Of a text that nobody named, which is shown by its first line.
_LONGEST_FIRST_LINE = 120
# Of a first heading taken for the title and a section taken for the abstract, chosen by hand: the
# words are the author's, only their part is read from the layout.
_HEADING_CONFIDENCE = 0.9
_SECTION_CONFIDENCE = 0.9
_HEADING = re.compile(r"^(#{1,6})[ \t]+(.+)$")
_FENCE = re.compile(r"^ {0,3}(```+|~~~+)")
_IMAGE = re.compile(
    r"(!\[[^\[\]\n]*+\]\()<?([^()<>\s]{1,1000})>?((?:\s{1,20}\"[^\"\n]{0,500}\")?\))"
)
_IMAGE_EXTENSIONS = frozenset(
    {"png", "jpg", "jpeg", "gif", "svg", "webp", "bmp", "tif", "tiff", "avif"}
)
_INLINE_MARKS = re.compile(r"[*_`]+|!?\[([^\[\]]*+)\]\([^()]*+\)")
_LANGUAGE_SUFFIX = re.compile(r"^(?P<base>.+)\.(?P<language>[a-z]{2,3}(?:-[A-Za-z0-9]{2,8})*)$")


class NotTextError(ValueError):
    """The bytes are not UTF-8."""


class MarkdownReader:
    """`paper.md`, with `paper.zh.md` as its Chinese translation and `paper.pdf` as its print."""

    name = "markdown"
    version = 4

    def accepts(self, path: Path, head: bytes) -> bool:
        return path.suffix.lower() in {".md", ".markdown"}

    def parts(self, path: Path, companions: tuple[Path, ...]) -> Iterator[SourcePart]:
        yield SourcePart(path, companions=companions)

    def read(self, part: SourcePart, assets: AssetStore) -> Reading:
        try:
            raw = part.path.read_bytes()
            text = decode_text(raw)
        except NotTextError as error:
            return Reading.failed("not_utf8", str(error))
        body = markdown_body(text)
        fields, problems = _front_fields(split_front_matter(text).block)
        parsed = parse_fields(fields)
        problems = [*problems, *parsed.problems]
        record = parsed.record
        if not body.strip() and not _says_something(record):
            return Reading.failed("empty", "there is nothing in this file")
        headings = find_headings(body)
        if reason := _why_no_paper(raw, body, headings, record):
            return Reading.failed("not_a_paper", reason)
        if not record.title:
            title, origin = _title_from(headings, part.path, body, problems)
            record = replace(record, title=title, origins=(*record.origins, origin))
        if not record.abstract and (abstract := section(body, "abstract")):
            origin = FieldOrigin("abstract", "layout", _SECTION_CONFIDENCE)
            record = replace(record, abstract=abstract, origins=(*record.origins, origin))
        body, images = store_images(body, part.path.parent, assets)
        translations, translation_problems, pdf = _companions(part, assets)
        references = read_stated_references(fields) or read_text_references(body)
        figures = read_text_figures(body)
        record = replace(
            record,
            headings=tuple(heading for heading in headings if heading.level in {2, 3}),
            markdown_sha256=assets.keep_markdown(body) if body.strip() else None,
            pdf_sha256=pdf,
            translations=translations,
            images=images,
            references_sha256=assets.keep_references(references) if references else None,
            figures_sha256=assets.keep_figures(figures) if figures else None,
        )
        return Reading((record,), (*problems, *translation_problems))


def _why_no_paper(
    raw: bytes, body: str, headings: tuple[Heading, ...], record: PaperRecord
) -> str | None:
    """The reason why no paper is made of a text; None where it is one."""
    match recognise_file("", raw[:HEAD_BYTES]):
        case FileKind.PICTURE:
            return f"it is a picture; papers are made of {KINDS_TAKEN}"
        case FileKind.TEX:
            return f"it is TeX source, which is not read; papers are made of {KINDS_TAKEN}"
    if _says_something(record) or headings or is_prose(body):
        return None
    return (
        "it has no title (front matter or a heading) and fewer than two sentences; "
        "add a title to make it a paper"
    )


def _says_something(record: PaperRecord) -> bool:
    return bool(record.title or record.doi or record.arxiv_id or record.abstract or record.bibtex)


def decode_text(raw: bytes) -> str:
    """UTF-8 text without a byte-order mark, with uniform line ends."""
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise NotTextError(
            f"not valid UTF-8 at byte {error.start}; save the file as UTF-8"
        ) from None
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "")


def markdown_body(text: str) -> str:
    """The text below its front matter."""
    parts = split_front_matter(text)
    return parts.body if parts.block is None else parts.body.lstrip("\n")


def find_headings(body: str) -> tuple[Heading, ...]:
    """Section headings outside code blocks, without inline marks."""
    found: list[Heading] = []
    fence: str | None = None
    for line in body.split("\n"):
        if mark := _FENCE.match(line):
            fence = (
                mark.group(1)
                if fence is None
                else (None if mark.group(1).startswith(fence) else fence)
            )
        elif fence is None and (heading := _HEADING.match(line)):
            title = one_line(
                _INLINE_MARKS.sub(
                    lambda piece: piece.group(1) or "", _without_closing_hashes(heading.group(2))
                )
            )
            if title:
                found.append(Heading(len(heading.group(1)), title))
    return tuple(found)


def _without_closing_hashes(text: str) -> str:
    kept = text.rstrip(" \t").rstrip("#").rstrip(" \t")
    return kept or text[:1]


def section(body: str, title: str) -> str | None:
    """The text under a heading of that name, up to the next heading."""
    lines = body.split("\n")
    for at, line in enumerate(lines):
        heading = _HEADING.match(line)
        if heading and _without_closing_hashes(heading.group(2)).strip(" *_:").lower() == title:
            end = next(
                (place for place in range(at + 1, len(lines)) if _HEADING.match(lines[place])),
                len(lines),
            )
            return clean("\n".join(lines[at + 1 : end]))
    return None


def parse_translation_name(path: Path) -> tuple[str, str] | None:
    """The text that a file translates and its language: ('paper', 'zh') for paper.zh.md."""
    found = (
        _LANGUAGE_SUFFIX.match(path.stem) if path.suffix.lower() in {".md", ".markdown"} else None
    )
    return (found["base"], found["language"].lower()) if found else None


def store_images(body: str, folder: Path, assets: AssetStore) -> tuple[str, tuple[KeptImage, ...]]:
    """Store images of the text's folder, and rewrite the text to refer to them."""
    images: dict[str, KeptImage] = {}
    root = folder.resolve()

    def keep(found: re.Match[str]) -> str:
        reference = found.group(2)
        extension = reference.rpartition(".")[2].lower()
        if (
            "://" in reference
            or reference.startswith(("data:", "//"))
            or extension not in _IMAGE_EXTENSIONS
        ):
            return found.group()
        if reference not in images:
            images[reference] = _keep_image(reference, extension, root, assets)
        image = images[reference]
        return (
            f"{found.group(1)}{image.static_path}{found.group(3)}"
            if image.sha256
            else found.group()
        )

    return _IMAGE.sub(keep, body), tuple(images.values())


def _keep_image(reference: str, extension: str, root: Path, assets: AssetStore) -> KeptImage:
    try:
        path = (root / unquote(reference)).resolve()
        is_ours = path.is_relative_to(root) and path.is_file()
    except (OSError, ValueError):
        is_ours = False
    if not is_ours:
        return KeptImage(
            f"images/{Path(unquote(reference).replace(chr(0), '')).name}", extension, None
        )
    sha256 = assets.keep_image(path)
    return KeptImage(f"images/{sha256}.{extension}", extension, sha256)


def _companions(
    part: SourcePart, assets: AssetStore
) -> tuple[tuple[tuple[str, str], ...], list[ReadProblem], str | None]:
    translations: list[tuple[str, str]] = []
    problems: list[ReadProblem] = []
    pdf: str | None = None
    for companion in part.companions:
        if companion.suffix.lower() == ".pdf":
            pdf = assets.keep_pdf(companion)
        elif named := parse_translation_name(companion):
            try:
                text = markdown_body(decode_text(companion.read_bytes()))
            except NotTextError as error:
                problems.append(
                    ReadProblem(
                        "not_utf8", f"translation {companion.name}: {error}", is_fatal=False
                    )
                )
                continue
            translations.append((named[1], assets.keep_translation(text, named[1])))
    return tuple(translations), problems, pdf


def _front_fields(front: str | None) -> tuple[Mapping[str, object], list[ReadProblem]]:
    if front is None:
        return {}, []
    if len(front) > _LONGEST_FRONT:
        return {}, [
            ReadProblem(
                "front_matter_too_long",
                f"front matter of {len(front):,} characters was not read",
                is_fatal=False,
            )
        ]
    try:
        return load_front_matter(front), []
    except NoNamedFieldsError:
        message = "front matter is not a list of named fields"
        return {}, [ReadProblem("front_matter_not_valid", message, is_fatal=False)]
    except FrontMatterError as error:
        return {}, [
            ReadProblem(
                "front_matter_not_valid",
                f"front matter is not valid YAML ({error})",
                is_fatal=False,
            )
        ]


def _title_from(
    headings: tuple[Heading, ...], path: Path, body: str, problems: list[ReadProblem]
) -> tuple[str, FieldOrigin]:
    if headings and headings[0].level == 1:
        return headings[0].title, FieldOrigin("title", "layout", _HEADING_CONFIDENCE)
    [origin] = mark_guesses("title")
    name = given_name(path)
    if name is None:
        code, words = "title_from_first_line", "the first line is used"
        title = one_line(body.strip().partition("\n")[0][:_LONGEST_FIRST_LINE])
    else:
        code, words = "title_from_file_name", "the file's name is used"
        title = one_line(Path(name).stem.replace("_", " ")) or name
    problems.append(
        ReadProblem(code, f"no title in front matter or heading; {words}", is_fatal=False)
    )
    return title or path.name, origin
