"""One work is one paper: texts, their bibliography and their versions in a build."""

from __future__ import annotations

import random
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from carrel.core.errors import InvalidInputError
from carrel.rooms.papers.building.build_reports import BuildReport
from tests.rooms.papers.building.conftest import Corpus
from tests.rooms.papers.test_bibliography import ask

pytestmark = pytest.mark.promise("P15")

WORDS = (
    *("whales", "bread", "rivers", "glaciers", "enzymes", "markets"),
    *("poems", "bridges", "lichens", "comets", "orchids", "volcanoes"),
)


def text(word: str, number: int) -> str:
    return (
        f'---\ntitle: "On the measurement of {word} in seasonal populations"\n'
        f"authors: [Anna Maria Müller{number}, Jürgen {word.title()}son]\nyear: {2000 + number}\n"
        f"---\n\n# Text\n\nAbout {word}.\n"
    )


def entry(word: str, number: int, more: str = "") -> str:
    return (
        f"@article{{key{number}, title={{On the {{M}}easurement of {word} in Seasonal "
        f'Populations.}},\n author={{M{{\\"u}}ller{number}, A. M. and {word.title()}son, J.}}, '
        f"year={{{2001 + number}}}, journal={{J. {word.title()}}}{more}}}\n\n"
    )


def groups(corpus: Corpus) -> list[list[tuple[str, int]]]:
    """The records of each paper, by file and place."""
    with closing(sqlite3.connect(corpus.into / ".carrel-build" / "state.db")) as state:
        rows = state.execute(
            "SELECT paper, path, place FROM record JOIN source ON source.number = record.source"
        ).fetchall()
    papers: dict[int, list[tuple[str, int]]] = {}
    for paper, path, place in rows:
        papers.setdefault(paper, []).append((Path(path).name, place))
    return sorted(sorted(members) for members in papers.values())


def versions(corpus: Corpus, paper_id: object) -> Any:
    home = corpus.into.parent / "home"
    shutil.rmtree(home, ignore_errors=True)
    shutil.copytree(corpus.into, home / "papers")
    return ask(home, "get_paper_metadata", paper_id=paper_id).get("versions")


def messages(report: BuildReport, code: str) -> list[str]:
    return [line.message for line in report.lines if line.code == code]


def test_ten_texts_and_their_bibliography_are_ten_papers_and_each_join_is_told(
    corpus: Corpus,
) -> None:
    for number, word in enumerate(WORDS[:10]):
        corpus.write(f"{word}.md", text(word, number))
    corpus.write("refs.bib", "".join(entry(word, at) for at, word in enumerate(WORDS[:10])))
    report = corpus.build()
    assert report.papers == 10
    joined = messages(report, "joined")
    assert len(joined) == 10
    assert joined[0].startswith("bread.md and refs.bib are one paper: same title, 2 of 2 authors")
    again = corpus.build()
    assert (again.papers, again.is_changed, messages(again, "joined")) == (10, False, [])


def test_a_build_in_steps_is_the_same_as_one_and_what_leaves_leaves_the_rest(
    corpus: Corpus, tmp_path: Path
) -> None:
    files = {f"{word}.md": text(word, number) for number, word in enumerate(WORDS)}
    files["a.bib"] = "".join(entry(word, at) for at, word in enumerate(WORDS[:8]))
    files["b.bib"] = "".join(entry(word, at) for at, word in enumerate(WORDS[4:], start=4))
    names = list(files)
    random.Random(7).shuffle(names)
    (tmp_path / "once").mkdir()
    at_once = Corpus(tmp_path / "once")
    for name in names:
        at_once.write(name, files[name])
        corpus.write(name, files[name])
        corpus.build()
    at_once.build()
    assert groups(corpus) == groups(at_once)
    assert len(groups(corpus)) == len(WORDS)
    for name in ("a.bib", "whales.md", "bread.md"):
        (corpus.sources / name).unlink()
    corpus.build()
    for name in ("a.bib", "whales.md", "bread.md"):
        corpus.write(name, files[name])
    corpus.build()
    assert groups(corpus) == groups(at_once)


def test_an_identifier_survives_a_bibliography_that_comes_and_goes(corpus: Corpus) -> None:
    corpus.write("whales.md", text("whales", 1))
    corpus.build()
    (before,) = corpus.ask("SELECT paper_id FROM paper")
    corpus.write("refs.bib", entry("whales", 1, ", doi={10.1000/whales}"))
    corpus.build()
    assert corpus.ask("SELECT paper_id FROM paper") == [before]
    (corpus.sources / "refs.bib").unlink()
    corpus.build()
    assert corpus.ask("SELECT paper_id FROM paper") == [before]


def test_a_file_link_joins_a_text_that_says_nothing_of_itself(corpus: Corpus) -> None:
    corpus.write("pdfs/scan: 1.md", "# Scan 0001\n\nThe text.\n")
    corpus.write("refs.bib", entry("whales", 1, ", file={Full Text:pdfs/scan\\: 1.md:Markdown}"))
    report = corpus.build()
    assert report.papers == 1
    assert "the entry names this file" in messages(report, "joined")[0]


def test_a_link_out_of_the_folder_is_only_compared(corpus: Corpus) -> None:
    corpus.write("refs.bib", entry("whales", 1, ", file={../../../../etc/passwd;:/dev/zero:PDF}"))
    assert corpus.build().papers == 1


def test_preprint_and_article_are_two_papers_that_name_each_other(corpus: Corpus) -> None:
    corpus.write("a.bib", entry("whales", 1, ", doi={10.1101/2001.01.01.000001}"))
    corpus.write("b.bib", entry("whales", 1, ", doi={10.7554/eLife.00001}").replace("key1", "key2"))
    report = corpus.build()
    assert report.papers == 2
    assert messages(report, "perhaps_one_paper") == []
    rows: Any = corpus.ask("SELECT doi, paper_id FROM paper")
    ids = dict(rows)
    preprint, article = ids["10.1101/2001.01.01.000001"], ids["10.7554/elife.00001"]
    assert versions(corpus, preprint) == [{"relation": "preprint_of", "paper_id": article}]
    assert versions(corpus, article) == [{"relation": "published_as", "paper_id": preprint}]
    (corpus.sources / "b.bib").unlink()
    corpus.build()
    assert versions(corpus, preprint) is None


def test_doubtful_pairs_are_told_until_nothing_is_doubtful(corpus: Corpus) -> None:
    corpus.write("one.md", "# The measurement of whales in the sea\n\nOne.\n")
    corpus.write("two.md", "# The measurement of whales in the sea\n\nTwo.\n")
    report = corpus.build()
    assert report.papers == 2
    (message,) = messages(report, "perhaps_one_paper")
    assert "may be one paper with" in message
    assert messages(corpus.build(), "perhaps_one_paper") == [message]
    ids = {str(paper_id) for (paper_id,) in corpus.ask("SELECT paper_id FROM paper")}
    corpus.write("two.md", "# The measurement of whales in the sea\n\nTwo, corrected.\n")
    corpus.build()
    assert {str(paper_id) for (paper_id,) in corpus.ask("SELECT paper_id FROM paper")} == ids
    (corpus.sources / "two.md").unlink()
    assert messages(corpus.build(), "perhaps_one_paper") == []


def test_a_thousand_records_with_one_title_stay_apart(corpus: Corpus) -> None:
    corpus.write_lines(
        "dump.jsonl",
        *(
            {"title": "The measurement of whales", "authors": [f"Per{at} Son{at}"], "year": 2000}
            for at in range(1000)
        ),
    )
    corpus.write("whales.md", text("whales", 1))
    assert corpus.build().papers == 1001


def test_a_block_list_of_the_operator_keeps_false_twins_apart(corpus: Corpus) -> None:
    corpus.into.mkdir()
    (corpus.into / "never_join.txt").write_text("# copies of famous papers\n10.5555\n")
    corpus.write("whales.md", text("whales", 1))
    corpus.write("refs.bib", entry("whales", 1, ", doi={10.5555/copy}"))
    assert corpus.build().papers == 2
    (corpus.into / "never_join.txt").write_text("never ever\n")
    with pytest.raises(InvalidInputError, match="never ever"):
        corpus.build()


def test_several_titles_that_stand_twice_in_one_list_are_papers_of_their_own(
    corpus: Corpus,
) -> None:
    lines = [
        f'{{"title": "On {word} of the deep sea", "abstract": "Seen in the {ocean}."}}'
        for ocean in ("Atlantic", "Pacific")
        for word in WORDS
    ]
    corpus.write("list.jsonl", "\n".join(lines) + "\n")
    assert corpus.build().papers == 2 * len(WORDS)
    assert corpus.build().is_changed is False
