"""The figures and tables of a JATS article, with their captions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from carrel.libraries.text.budget import current_budget
from carrel.libraries.text.xml import Element
from carrel.libraries.works.figures import PaperFigure
from carrel.rooms.papers.building.paper_records import KeptImage
from carrel.rooms.papers.building.ports import AssetStore
from carrel.services.paper_sources.jats_text import caption_markdown, child, plain, table_markdown
from carrel.services.paper_sources.texts import one_line

# More than any article has; what follows is left out.
MAX_FIGURES = 1_000
_OTHER_ARTICLES = frozenset({"sub-article", "response"})
# As publishers deliver them; the first that lies beside the article is taken.
_IMAGE_EXTENSIONS = ("png", "jpg", "jpeg", "gif", "webp", "svg", "tif", "tiff")
_FILE_NAME = re.compile(r"[\w][\w .()+-]{0,200}")


@dataclass(frozen=True, slots=True)
class ArticleFigures:
    """What was found, and the images that lie beside the article."""

    figures: tuple[PaperFigure, ...] = ()
    images: tuple[KeptImage, ...] = ()


def read_figures(article: Element, folder: Path, assets: AssetStore) -> ArticleFigures:
    """Every figure and table in order; those without a label are numbered by their kind."""
    figures: list[PaperFigure] = []
    images: dict[str, KeptImage] = {}
    counts = {"fig": 0, "table-wrap": 0}
    for node in _own_figures(article):
        counts[node.tag] += 1
        image = None if node.tag == "table-wrap" else _keep_graphic(node, folder, assets)
        if image is not None:
            images[image.static_path] = image
        word = "Table" if node.tag == "table-wrap" else "Figure"
        label = (one_line(plain(child(node, "label"))) or "").rstrip(" .:")
        figures.append(
            PaperFigure(
                kind="table" if node.tag == "table-wrap" else "figure",
                label=label or f"{word} {counts[node.tag]}",
                caption=caption_markdown(node),
                image=image.static_path if image else None,
                markdown=table_markdown(node),
            )
        )
        if len(figures) == MAX_FIGURES:
            break
    return ArticleFigures(tuple(figures), tuple(images.values()))


def _own_figures(article: Element) -> Iterator[Element]:
    budget = current_budget()
    waiting = [article]
    while waiting:
        node = waiting.pop()
        budget.step()
        if node.tag in {"fig", "table-wrap"}:
            yield node
        elif node is article or node.tag not in _OTHER_ARTICLES:
            waiting.extend(reversed(list(node)))


def _keep_graphic(node: Element, folder: Path, assets: AssetStore) -> KeptImage | None:
    """The graphic's file, where it lies beside the article under its name."""
    graphic = next((each for each in node.iter() if each.tag == "graphic"), None)
    if graphic is None:
        return None
    linked = next((value for key, value in graphic.attrib.items() if key.endswith("href")), "")
    name = PurePosixPath(linked).name
    if not _FILE_NAME.fullmatch(name):
        return None
    stem, _, extension = name.rpartition(".")
    if extension.lower() not in _IMAGE_EXTENSIONS:
        stem = name
    for candidate in (name, *(f"{stem}.{ending}" for ending in _IMAGE_EXTENSIONS)):
        path = (folder / candidate).resolve()
        ending = path.suffix.lower().removeprefix(".")
        # A link may lead out of the folder, where nothing belongs to the article.
        is_ours = path.is_relative_to(folder.resolve()) and path.is_file()
        if ending in _IMAGE_EXTENSIONS and is_ours:
            sha256 = assets.keep_image(path)
            return KeptImage(f"images/{sha256}.{ending}", ending, sha256)
    return None
