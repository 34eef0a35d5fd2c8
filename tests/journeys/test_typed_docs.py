"""README and guide, typed in order: from an installed wheel, in an empty home, with real files and
no network.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass

import pytest

from tests.journeys.typed.documents import UnclearPageError, Written, commands
from tests.journeys.typed.session import PAGES, TRANSCRIPT, Session, type_pages

pytestmark = [pytest.mark.promise("Q6"), pytest.mark.timeout(900)]


@dataclass(frozen=True, slots=True)
class Expected:
    """What an answer holds, as regular expressions, and the exit status."""

    shows: tuple[str, ...] = ()
    status: int = 0
    lacks: tuple[str, ...] = ()


def shows(*patterns: str, status: int = 0, lacks: tuple[str, ...] = ()) -> Expected:
    return Expected(patterns, status, lacks)


SERVING = shows(r"Carrel is serving .* at http://127\.0\.0\.1:\d+", r"/desk/mcp")
EMPTY_DESK = shows(r"ok +papers .*no papers yet", r"carrel add FOLDER", r"ok +references")
ADDED = shows(
    r"^papers: 68 new",
    r"^references: \d+ new",
    r"On the desk: 68 papers, \d+ references, 0 notes\.",
    r"carrel watch .*papers keeps",
    lacks=("not added",),
)
RESEARCHED = shows(
    r"100% completed",
    r"Fish oil and Raynaud disease may be connected",
    r"carrel research results res_",
)
CITED = (
    r"Kucsko G, Maurer PC, Yao NY, Kubo M\. Nanometre-scale thermometry in a living cell\. "
    r"Nature\. 2013;500:54–8"
)
WRITTEN = shows(r"Written to ")
CLAUDE_COMMAND = shows(r"^claude mcp add --scope user carrel -- /.*/bin/carrel mcp$")

UPLOAD_BEGUN = (
    'UPLOAD=$(curl -s -d "{\\"name\\":\\"rooms.pdf\\",\\"size\\":$(wc -c < ~/papers/rooms.pdf)}" '
    "-H 'content-type: application/json' 127.0.0.1:8080/uploads | "
    """sed 's/.*"upload_id":"\\([0-9a-f]*\\)".*/\\1/')"""
)
UPLOAD_SENT = (
    "curl -T ~/papers/rooms.pdf -X PATCH -H 'content-type: application/offset+octet-stream' "
    "-H 'upload-offset: 0' 127.0.0.1:8080/uploads/$UPLOAD"
)
UPLOAD_ADDED = (
    'curl -d "{\\"tool_name\\":\\"add_paper\\",\\"params\\":{\\"upload_id\\":\\"$UPLOAD\\"}}" '
    "-H 'content-type: application/json' 127.0.0.1:8080/mcp/invoke"
)

README: Mapping[str, list[Expected]] = {
    "carrel doctor": [
        shows(
            r"ok +papers",
            r"ok +references .*\d+ references",
            r"ok +knowledge +2 notes",
            lacks=("MISS",),
        )
    ],
    "carrel add ~/papers": [ADDED, shows(r"papers: 68 files unchanged", lacks=("68 new",))],
    "carrel watch ~/papers --once": [shows(lacks=("new", "changed", "removed"))],
    'carrel papers search "blood viscosity"': [
        shows(r"Raised blood viscosity", r"carrel papers show")
    ],
    "carrel find blood viscosity": [
        shows(r"blood viscosity", r"carrel papers show \w{32}", lacks=("get_paper_metadata",))
    ]
    * 2,
    "carrel connect claude-desktop --write --check": [
        shows(*WRITTEN.shows, r"which answered"),
        shows(r"Already there", r"which answered"),
    ],
    "carrel connect --list": [shows(r"^claude-desktop\t.*\.config/Claude")],
    "carrel doctor --fix": [shows()],
    "carrel completion bash --write": [shows(r"Written")],
    "carrel references add refs.bib": [
        shows(r"^2 added$", r"^added\tkucsko-2013\t", r"^added\tswanson-1986\t")
    ],
    "carrel references cite kucsko-2013 --style vancouver": [shows(CITED)],
    "carrel knowledge import ~/notes": [shows(r"^2 new$")],
    "carrel knowledge search text:viscosity": [shows(r"^1\. Measuring viscosity$")],
    'carrel research start "Find new treatments for Raynaud disease" --watch': [RESEARCHED],
    'carrel research understand "Find new treatments for Raynaud disease"': [
        shows(r"^Read as: what may be connected to Raynaud disease", r"Asked for: treatments")
    ],
    'carrel research check-claim "Fish oil lowers blood viscosity"': [
        shows(
            r"^supports\tFish oil lowers blood viscosity\tfor\t.*Fish oil lowered blood viscosity"
        )
    ],
    "carrel serve": [SERVING],
    "CARREL_OBSERVABILITY_METRICS=prometheus carrel serve": [SERVING],
    "curl … search_papers": [shows(r"Fish oil lowers", r'"success":true')],
    "carrel knowledge import ~/notes --source team": [shows(r"2 shared")],
    "TOKEN=$(carrel tokens create ada --scopes knowledge:read)": [shows(r"it is shown only now")],
    "CARREL_AUTH_MODE=tokens carrel serve": [SERVING],
    "curl … search_knowledge": [shows(r"Measuring viscosity", r'"success":true')],
    "CARREL_AUTH_MODE=builtin carrel serve --workers 2": [
        shows(r"log in as admin with the password", *SERVING.shows)
    ],
    "carrel backup desk.tar.gz": [shows(r"read back and whole")],
    "carrel restore desk.tar.gz --home ~/second-desk": [
        shows(r"Next: carrel doctor --home .*second-desk says")
    ],
}
GUIDE: Mapping[str, list[Expected]] = {
    "carrel --version": [shows(r"^carrel \d+\.\d+")],
    "carrel doctor": [EMPTY_DESK],
    "carrel doctor --fix": [EMPTY_DESK],
    "carrel add ~/papers": [ADDED],
    "carrel papers build ~/papers": [shows(r"68 papers: 0 new, 0 changed, 0 gone")],
    'carrel papers search "fish oil" --limit 3': [
        shows(r"^1\. Fish oil lowers", r"Ben Lind · 1971 · Lipid Letters")
    ],
    "carrel papers search 'keyword:\"raynaud disease\" year:1975..1979' --limit 3": [
        shows(r"Raynaud disease", r"Ada Moor · 197[5-9]", lacks=("· 1974",))
    ],
    'carrel papers passages "blood viscosity" --limit 2': [
        shows(r"~\w{10}", r"blood viscosity is raised")
    ],
    'carrel papers quote "blood viscosity in patients with Raynaud disease"': [
        shows(r"Found nearly", r"near, with other words, 71% alike")
    ],
    "carrel papers facets keyword --limit 5": [shows(r"^fish oil\t12$")],
    'carrel papers export --format ris --query "blood viscosity"': [
        shows(r"TY  - JOUR", r"blood viscosity")
    ],
    "carrel references add refs.bib": [shows(r"^added\tkucsko-2013\tNanometre-scale")],
    "carrel references search raynaud": [shows(r"swanson-1986", lacks=("kucsko-2013",))],
    "carrel references cite kucsko-2013 swanson-1986": [
        shows(r"Kucsko, G\., Maurer, P\. C\.", r"Swanson, D\. R\. \(1986\)")
    ],
    "carrel references cite kucsko-2013 --style vancouver --kind in_text": [
        shows(r"\(1\)", lacks=("text:",))
    ],
    "carrel references export --format biblatex": [
        shows(r"@article\{kucsko-2013", lacks=("carrel-csl",))
    ],
    "carrel references attach swanson-1986 ~/papers/rooms.pdf": [
        shows(r"Next: carrel references fulltext")
    ],
    "carrel references fulltext swanson-1986": [shows(r"\.pdf")],
    "carrel knowledge import ~/notes": [shows(r"^2 new$")],
    'carrel knowledge search "#protocol"': [shows(r"Measuring viscosity", r"Capsules")],
    "carrel knowledge search text:degrees": [shows(r"Measuring viscosity", lacks=("Capsules",))],
    'carrel knowledge save "Ask Cleo for the old viscometer." --tags idea': [
        shows(
            r"^Saved note [\w-]{20}: Ask Cleo for the old viscomete",
            r"^Next: carrel knowledge show [\w-]{20} reads it",
        )
    ],
    "carrel knowledge import ~/notes --source team": [shows(r"^2 shared$")],
    'carrel knowledge search "*" --whose team': [
        shows(r"Measuring viscosity", r"Capsules", lacks=("viscometer",))
    ],
    "TOKEN=$(carrel tokens create ada --scopes knowledge:read,knowledge:write)": [
        shows(r"it is shown only now")
    ],
    "CARREL_AUTH_MODE=tokens carrel serve": [SERVING],
    "curl … search_knowledge": [
        shows(r"Measuring viscosity"),
        shows(r'"result":\[\]', r"Nothing was found in 2 notes", lacks=("old viscometer", "Cleo")),
    ],
    'carrel research start "Find new treatments for Raynaud disease" --watch': [RESEARCHED],
    "carrel research list": [shows(r"Find new treatments for Raynaud disease")],
    "carrel connect claude-code": [
        shows(r"^claude mcp add --scope user carrel -- /.*/bin/carrel mcp$")
    ],
    **{
        f"carrel connect {client} --write": [WRITTEN]
        for client in ("claude-desktop", "cursor", "codex", "gemini")
    },
    "carrel connect cursor --name carrel-papers --write -- --rooms papers": [WRITTEN],
    "carrel connect --list": [shows(r"^claude-desktop\t", r"^goose\t")],
    "carrel connect cursor --check": [shows(r"2026-07-28", r"search_papers", r"which answered")],
    "carrel connect gemini --remove": [shows(r"Removed from ")],
    **{
        f"carrel connect {client} --name desk --url http://127.0.0.1:8080/desk/mcp --write": [
            WRITTEN
        ]
        for client in ("claude-desktop", "cursor", "codex", "gemini")
    },
    "carrel serve": [SERVING],
    "curl 127.0.0.1:8080/health": [shows(r"healthy")],
    "curl 127.0.0.1:8080/ready": [shows(r"ready")],
    "curl 127.0.0.1:8080/mcp/tools/search_papers": [shows(r'"name":"search_papers"')],
    UPLOAD_BEGUN: [shows()],
    UPLOAD_SENT: [shows(r'"is_complete":true', r'"kind":"pdf"')],
    UPLOAD_ADDED: [shows(r'"success":true', r'"paper_id":"\w{32}"', r'"is_new":false')],
    "curl … search_papers": [shows(r"Fish oil lowers")],
    "curl … cite_references": [shows(r"Nanometre-scale thermometry", r'"jsonrpc":"2.0"')],
    "carrel serve --secret": [shows(*SERVING.shows, r"uthorization")],
    "carrel audit list --action tool: --limit 4": [
        shows(r"http tool:search_papers", r"http tool:cite_references success")
    ],
    "carrel audit verify": [shows(r"lines? in \d+ chains?: whole")],
    "carrel backup desk.tar.gz": [shows(r"read back and whole")],
    "carrel backup --verify desk.tar.gz": [shows(r"whole")],
    "carrel restore desk.tar.gz --home ~/second-desk": [
        shows(r"Next: carrel doctor --home .*second-desk says")
    ],
}
EXPECTED = {"README": README, "Guide": GUIDE}


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Session:
    return type_pages(tmp_path_factory.mktemp("typed"))


def key_of(written: Written) -> str:
    """The command, or for a question over HTTP the operation that it asks."""
    asked = re.search(r'"(?:tool_name|name)":"(\w+)"', written.text)
    return f"curl … {asked[1]}" if written.text.startswith("curl") and asked else written.text


@pytest.mark.parametrize("page", PAGES)
def test_every_command_works_as_written(session: Session, page: str) -> None:
    left = {command: list(answers) for command, answers in EXPECTED[page].items()}
    wrong: list[str] = []
    for entry in session.entries[page]:
        written, typed = entry.written, entry.typed
        if typed is None:
            continue
        if written.kind != "shell":
            wrong.extend([f"{written.text}\n{typed.output}"] if typed.status else [])
            continue
        answers = left.get(key_of(written))
        if not answers:
            wrong.append(
                f"nothing is expected of {written.text}: say in {__file__} what it "
                f"shows\n{typed.output}"
            )
            continue
        expected = answers.pop(0)
        missing = [
            pattern
            for pattern in expected.shows
            if not re.search(pattern, typed.output, re.MULTILINE)
        ]
        extra = [pattern for pattern in expected.lacks if re.search(pattern, typed.output)]
        if typed.status != expected.status or missing or extra:
            wrong.append(
                f"$ {written.text}\n{typed.output}\nstatus {typed.status}, misses {missing}, "
                f"should not show {extra}"
            )
    assert not wrong, "\n\n".join(wrong)
    untyped = [command for command, answers in left.items() if answers]
    assert not untyped, f"expected and never typed: {untyped}"


def test_it_is_the_wheel_that_was_typed(session: Session) -> None:
    assert "environment/lib/python" in session.carrel_file


@pytest.mark.parametrize("page", PAGES)
def test_what_is_not_typed_says_what_it_needs(session: Session, page: str) -> None:
    untyped = [entry.written for entry in session.entries[page] if entry.typed is None]
    known = (
        *("network", "Node.js", "Docker", "Claude Code", "a checkout", "that model"),
        "the dump",
    )
    assert untyped and all(
        each.needs is not None and any(word in each.needs for word in known) for each in untyped
    )
    assert not [
        each.text
        for each in untyped
        if each.text.startswith("carrel") and each.needs == "needs a checkout"
    ]


def test_the_transcript_in_the_docs_is_what_was_typed(session: Session) -> None:
    kept = TRANSCRIPT.read_text(encoding="utf-8")
    differs = "\n".join(
        difflib.unified_diff(
            kept.splitlines(), session.text.splitlines(), "docs/transcript.md", "typed", lineterm=""
        )
    )
    assert not differs, f"make transcript writes it again\n{differs}"


def test_a_page_says_of_every_command_whether_it_can_be_typed() -> None:
    page = (
        "Type `carrel doctor` or `make x` (needs network). See `carrel papers show "
        "PAPER_ID`.\n\n```sh\ncarrel a\npipx b  # needs network\n```\n"
    )
    assert [(each.text, each.kind, each.needs) for each in commands(page)] == [
        ("carrel doctor", "shell", None),
        ("make x", "shell", "needs network"),
        ("carrel papers show PAPER_ID", "description", None),
        ("carrel a", "shell", None),
        ("pipx b", "shell", "needs network"),
    ]
    for unclear in (
        "    carrel doctor\n",
        "|a|b|\n|-|-|\n|`carrel x y`|c|\n",
        "|a|needs|\n|-|-|\n|`carrel x y`|perhaps|\n",
    ):
        with pytest.raises(UnclearPageError):
            commands(unclear)
