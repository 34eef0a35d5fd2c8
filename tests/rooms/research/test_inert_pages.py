"""Pages of a project that papers and models have written in."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from carrel.rooms.papers.building.models import BuildOptions
from carrel.rooms.research.inert_text import inert_text, inert_values
from carrel.wiring.papers_build import build_papers
from tests.libraries.discovery.small_corpus import GOAL, small_papers
from tests.rooms.research.house import Asker, settings_for, visit

pytestmark = pytest.mark.promise("A8")

ATTACKS = [
    "<script>alert(1)</script>",
    "<scr<i></i>ipt>alert(1)</scr<b>ipt>",
    '<img src="https://evil.example/x.png" onerror=alert(1)>',
    "![x](https://evil.example/x.png)",
    "!![x](https://evil.example/x.png)",
    "!<i></i>[x](https://evil.example/x.png)",
    "![x][ref]\n\n[ref]: https://evil.example/x.png",
    "[![x](https://evil.example/x.png)](https://evil.example)",
    "[x](javascript:alert(1))",
    "[x](&#106;avascript:alert(1))",
    "<javascript:alert(1)>",
    "<!-- hidden --> <?php ?> </div> <svg/onload=alert(1)> <iframe src=//evil.example>",
    "safe\u202egnp.exe\u2066 \x1b]8;;https://evil.example\x07click\x1b]8;;\x07",
]
LIVE = re.compile(
    r"<[A-Za-z/!?]|!\[|\]\(|\]:|\]\[|[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]"
)


@pytest.mark.parametrize("attack", ATTACKS)
def test_nothing_in_a_text_is_live(attack: str) -> None:
    assert not LIVE.search(inert_text(f"before {attack} after"))
    assert inert_text(inert_text(attack)) == inert_text(attack)
    assert inert_values({"a": [attack, 1, None]}) == {"a": [inert_text(attack), 1, None]}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("The <i>lacZ</i> gene and CO<sub>2</sub>", "The lacZ gene and CO2"),
        ("p < 0.05 and a > b", "p < 0.05 and a > b"),
        ("**Bold** `code` [id] (2020): 3 < 4!", "**Bold** `code` [id] (2020): 3 < 4!"),
    ],
)
def test_ordinary_text_stays_readable(text: str, shown: str) -> None:
    assert inert_text(text) == shown


def test_exports_of_a_project_hold_nothing_live_and_references_keep_their_markup(
    tmp_path: Path,
) -> None:
    attack = (
        ' <i>in vivo</i> <img src="https://evil.example/x.png"> '
        "![x](https://evil.example/y.png) <script>1</script>"
    )
    lines = [
        json.dumps(
            {
                "title": p.title + attack,
                "abstract": p.abstract + attack,
                "keywords": list(p.keywords),
                "year": p.year,
            }
        )
        for p in small_papers()
    ]
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "papers.jsonl").write_text("\n".join(lines), encoding="utf-8")
    build_papers([tmp_path / "source"], tmp_path / "corpus", BuildOptions(workers=1))

    async def story(asker: Asker) -> None:
        started = await asker.ask("start_research", goal=GOAL, hypothesis_count=3)
        assert (await asker.finished(started.research_id)).status == "completed"
        for form in ("markdown", "json"):
            page = (
                await asker.ask("export_research", research_id=started.research_id, format=form)
            ).body
            assert "evil.example" in page, "the attack is in the material"
            assert not re.search(r"<(img|script|i)\b|!\[|\]\(", page)
        results = await asker.ask("get_results", research_id=started.research_id, format="detailed")
        assert not LIVE.search(results.markdown)
        assert any("<i>in vivo</i>" in str(item.get("title")) for item in results.bibliography)
        whole = (
            await asker.ask("export_research", research_id=started.research_id, format="html")
        ).body
        assert not re.search(r"<(img|script|iframe)\b", whole)
        assert not LIVE.search(await asker.read(f"research://projects/{started.research_id}"))

    visit(settings_for(tmp_path / "corpus" / "paper_snapshot.db", tmp_path / "home"), story)
