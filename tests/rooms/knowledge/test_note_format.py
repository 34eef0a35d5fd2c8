"""Notes as Markdown files: odd ones by hand, all others by property, and five thousand real ones
byte for byte.
"""

from __future__ import annotations

import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from carrel.rooms.knowledge.folder_import import SyncState
from carrel.rooms.knowledge.note_format import (
    EmptyNoteError,
    NoteTooLargeError,
    parse_note,
    refuse_too_large,
    write_note,
)
from carrel.services.note_folder import MarkdownFolder, file_name

DATA = Path(__file__).parents[3].parent / "shared" / "data" / "notes"


@pytest.mark.parametrize("text", ["", "\n \n", "---\n---\n", "---\n---\n\n"])
def test_a_file_without_text_is_no_note(text: str) -> None:
    with pytest.raises(EmptyNoteError):
        parse_note(text, "a.md")


@pytest.mark.parametrize(
    ("most", "problem"),
    [
        (lambda extra: f"title: {'x' * (500 + extra)}", "the title has 501 characters"),
        (
            lambda extra: f"tags: [{', '.join(f't{n}' for n in range(100 + extra))}]",
            "there are 101 tags",
        ),
        (lambda extra: f"tags: [{'x' * (100 + extra)}]", "a tag has 101 characters"),
    ],
    ids=["title", "tags", "tag"],
)
def test_what_a_store_would_not_take_whole_is_refused_and_the_most_it_takes_is_not(
    most: Callable[[int], str], problem: str
) -> None:
    with pytest.raises(NoteTooLargeError, match=problem):
        refuse_too_large(parse_note(f"---\n{most(1)}\n---\nText", "a.md"))
    refuse_too_large(parse_note(f"---\n{most(0)}\n---\nText", "a.md"))


@pytest.mark.parametrize(
    ("text", "title", "content", "tags"),
    [
        ("Plain words #idea", "a", "Plain words #idea", ("idea",)),
        ("# Heading\n\nBody", "Heading", "# Heading\n\nBody", ()),
        (
            "---\ntitle: Given\ntags: [One, two words]\n---\nBody #three #one",
            "Given",
            "Body #three #one",
            ("One", "two words", "three"),
        ),
        ("---\ntags: one, two three\n---\nFoam", "a", "Foam", ("one", "two", "three")),
        ("---\ntag: single\nname: Named\n---\nx", "Named", "x", ("single",)),
        ("---\ntitle: 2024\n---\nx", "2024", "x", ()),
        ("---\ndescription: From above\ntitle: T\n---\n", "T", "From above", ()),
        ("---\nuid: X1\nvalue: true\n---\n", "a", "uid: X1\nvalue: true", ()),
        ("---\nbad: [yaml\n---\nBody", "a", "---\nbad: [yaml\n---\nBody", ()),
        ("---\n- a list\n---\nBody", "a", "---\n- a list\n---\nBody", ()),
        ("--- not front matter\nBody", "a", "--- not front matter\nBody", ()),
        ("---\r\ntitle: Windows\r\n---\r\nBody\r\n", "Windows", "Body\r\n", ()),
        (
            "#nested/tag and #with-dash and #2024 and #y2024 and a#no",
            "a",
            None,
            ("nested/tag", "with-dash", "y2024"),
        ),
        ("`#code` and\n```\n#fence\n# not a title\n```\n#real", "a", None, ("real",)),
        ("https://example.org/#anchor and # heading", "a", None, ()),
        ("#日本語 タグ", "a", None, ("日本語",)),
    ],
)
def test_a_note_is_read(text: str, title: str, content: str | None, tags: tuple[str, ...]) -> None:
    note = parse_note(text, "folder/a.md")
    assert (note.title, note.content, note.tags) == (
        title,
        text if content is None else content,
        tags,
    )


def test_a_folder_note_is_named_for_its_folder() -> None:
    assert parse_note("x", "spaces/S000088/README.md").title == "S000088"
    assert parse_note("x", "README.md").title == "README"


def test_a_folder_note_is_told_by_its_name_whatever_the_case_and_others_are_not() -> None:
    assert parse_note("x", "a/b/Index.md").title == "b"
    assert parse_note("x", "a/b/_INDEX.md").title == "b"
    assert parse_note("x", "a/b/other.md").title == "other"
    assert parse_note("# Said", "a/b/README.md").title == "Said"


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# Closed ##", "Closed"),
        ("# Closed ## \t\nx", "Closed"),
        ("# #", "#"),
        ("#no heading", "a"),
        ("text\n# Later", "Later"),
        ("---\ntitle: ' '\n---\n# Heading", "Heading"),
        ("---\ntitle: true\n---\nx", "a"),
        ("---\ntitle: [x]\nname: Named\n---\nx", "Named"),
        ("---\ntitle: 1.5\n---\nx", "1.5"),
        ("---\ntitle: '  two   words '\n---\nx", "two words"),
    ],
)
def test_a_title_is_the_one_given_or_the_first_heading_or_the_name_of_the_file(
    text: str, title: str
) -> None:
    assert parse_note(text, "folder/a.md").title == title


@pytest.mark.parametrize(
    ("front", "tags", "problem"),
    [
        ("tags: 2024", ("2024",), None),
        ("tags: 2024-05-01", ("2024-05-01",), None),
        ("tags: [1.5, '#b', ' ', /c/, B]", ("1.5", "b", "c"), None),
        ("tags: '#x, y'", ("x", "y"), None),
        ("tags:", (), None),
        ("tags: [a, [b], {c: d}]", ("a",), "2 of the tags"),
        ("tags: {a: b}", (), "1 of the tags"),
        ("tag: one\ntags: [two]", ("two",), None),
    ],
)
def test_tags_are_words_numbers_and_days_and_anything_else_is_named(
    front: str, tags: tuple[str, ...], problem: str | None
) -> None:
    note = parse_note(f"---\n{front}\n---\nx", "a.md")
    assert note.tags == tags
    assert [warning[: len(problem or "")] for warning in note.warnings] == (
        [problem] if problem else []
    )


@pytest.mark.parametrize(
    ("text", "content", "content_from", "front_matter"),
    [
        ("---\nsummary: S\n---\n \n", "S", "description", "---\nsummary: S\n---\n \n"),
        ("---\ndescription: ''\nabstract: A\n---\n", "A", "description", None),
        ("---\nvalue: 1\n---\n", "value: 1", "front_matter", None),
        ("---\ndescription: D\n---\nBody", "Body", "body", "---\ndescription: D\n---\n"),
        ("Body", "Body", "body", ""),
    ],
)
def test_a_note_without_a_body_is_its_description_or_its_front_matter(
    text: str, content: str, content_from: str, front_matter: str | None
) -> None:
    note = parse_note(text, "a.md")
    assert (note.content, note.content_from) == (content, content_from)
    assert note.front_matter == (text if front_matter is None else front_matter)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("---\ntitle: open\nBody", "has no end"),
        ("---\r\ntitle:\r\nBody", "has no end"),
        ("---\n\nA rule", None),
        ("---\n- a\n---\nBody", "line 2, has no names with values"),
        ("---\na: b: c\n---\nBody", "not valid YAML, line 2: "),
        ("---\nx: 1\na: b: c\n---\nBody", "not valid YAML, line 3: "),
        ("---\nx: \x01\n---\nBody", "not valid YAML, line 2 or after: "),
        ("---\na: 1\n---\nBody", None),
    ],
)
def test_front_matter_that_was_left_in_the_text_is_named_with_its_line(
    text: str, problem: str | None
) -> None:
    note = parse_note(text, "a.md")
    assert len(note.warnings) == (0 if problem is None else 1)
    if problem is not None:
        assert problem in note.warnings[0] and note.content == text


def test_a_written_note_has_only_the_front_matter_that_it_needs() -> None:
    assert write_note("x", "Body #a", ("a",), "x.md") == "Body #a"
    assert write_note("T", "Body", (), "x.md") == "---\ntitle: T\n---\nBody"
    assert write_note("x", "Body", ("a",), "x.md") == "---\ntags:\n- a\n---\nBody"
    old = "---\ntags: [a]\nkeep: 1\n---\n"
    assert write_note("x", "Body", (), "x.md", old) == "---\nkeep: 1\n---\nBody"
    assert write_note("x", "Body", ("b",), "x.md", old) == "---\nkeep: 1\ntags:\n- b\n---\nBody"
    assert write_note("x", "Body", ("a",), "x.md", old) == old + "Body"
    # A header that ends the file gets its line end before a text follows.
    assert write_note("x", "Body", (), "x.md", "---\nkeep: 1\n---") == "---\nkeep: 1\n---\nBody"
    # A text that looks like front matter stays a text.
    rule = "---\nnot: front\n---\nmatter"
    written = write_note("x", rule, (), "x.md")
    assert written == "---\n---\n" + rule and parse_note(written, "x.md").content == rule
    # A key that cannot be cut out by lines is set by writing all keys anew.
    odd = '---\n{"title": "Old", "keep": 1}\n---\n'
    assert write_note("New", "b", (), "x.md", odd) == "---\nkeep: 1\ntitle: New\n---\nb"


_text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=200)
_tag = (
    st.from_regex(r"\A[a-zA-Z0-9_\-/äé日本 ]{1,12}\Z")
    .map(lambda tag: " ".join(tag.split()).strip("/ "))
    .filter(bool)
)


@settings(max_examples=300, deadline=None)
@given(_text, _text, st.sampled_from(["a.md", "b/README.md"]))
def test_any_text_is_read_and_untouched_notes_are_written_as_they_were(
    front: str, body: str, path: str
) -> None:
    for text in (body, f"---\n{front}\n---\n{body}", front + body):
        try:
            note = parse_note(text, path)
        except EmptyNoteError:
            continue
        assert note.front_matter + (note.content if note.content_from == "body" else "") == text
        assert note.title == note.title.strip() and len(note.title) <= 500
        assert len({tag.casefold() for tag in note.tags}) == len(note.tags)


@settings(max_examples=300, deadline=None)
@given(
    title=_text.map(lambda text: " ".join(text.split())).filter(bool),
    content=_text.filter(str.strip),
    tags=st.lists(_tag, max_size=4, unique_by=str.casefold).map(tuple),
    front=st.sampled_from(
        [
            "",
            "---\nkeep: [1, 2]\ntitle: Old\ntags:\n- old\n- older\nlast: x\n---\n",
            "---\n# comment\na: {b: c}\n---\n",
        ]
    ),
)
def test_what_is_written_reads_as_the_same_note(
    title: str, content: str, tags: tuple[str, ...], front: str
) -> None:
    text = write_note(title, content, tags, "x.md", front)
    note = parse_note(text, "x.md")
    assert (note.title, note.content, note.content_from) == (title, content, "body")
    # A tag inside the text is a tag, whatever the list says.
    assert {tag.casefold() for tag in tags} <= {tag.casefold() for tag in note.tags}
    assert (
        parse_note(
            write_note(note.title, note.content, note.tags, "x.md", note.front_matter), "x.md"
        )
        == note
    )
    if "keep" in front:
        assert (
            "keep: [1, 2]" in text
            and "last: x" in text
            and "older" not in text.partition(content)[0]
        )


def test_only_what_must_change_changes_in_the_front_matter() -> None:
    front = "---\n# mine\ntitle: 'Old'   # why\nrefs:\n  - a: 1\ndate: 2024-01-01\n---\n"
    assert (
        write_note("New", "body\n", (), "x.md", front)
        == "---\n# mine\nrefs:\n  - a: 1\ndate: 2024-01-01\ntitle: New\n---\nbody\n"
    )
    assert write_note("Old", "body\n", (), "x.md", front) == front + "body\n"


def test_a_folder_never_writes_or_reads_outside_itself(tmp_path: Path) -> None:
    inside, outside = tmp_path / "in", tmp_path / "out"
    inside.mkdir()
    outside.mkdir()
    (outside / "secret.md").write_text("secret")
    (inside / "link.md").symlink_to(outside / "secret.md")
    (inside / "linked").symlink_to(outside)
    (inside / ".obsidian").mkdir()
    (inside / ".obsidian" / "hidden.md").write_text("x")
    (inside / "note.MD").write_text("x")
    folder = MarkdownFolder(inside)
    assert folder.paths() == ["note.MD"]
    for path in ("../out/new.md", "/etc/x.md", "linked/new.md", "a/../../out/new.md"):
        with pytest.raises(OSError, match="leave the folder"):
            folder.write(path, "x")
    assert [file.name for file in outside.iterdir()] == ["secret.md"]


def test_the_record_is_kept_and_a_damaged_one_is_not_guessed_at(tmp_path: Path) -> None:
    folder = MarkdownFolder(tmp_path)
    assert folder.read_record() == {}
    folder.write_record({"ä/b.md": SyncState("id", "f", "n")})
    assert folder.read_record() == {"ä/b.md": SyncState("id", "f", "n")}
    (tmp_path / ".carrel-notes.json").write_text("{")
    with pytest.raises(OSError, match="damaged"):
        folder.read_record()


@given(st.text(max_size=300))
def test_every_title_has_a_file_name_that_every_system_can_store(title: str) -> None:
    name = file_name(title.encode("utf-8", "replace").decode())
    assert name.endswith(".md") and len(name.encode()) <= 200
    assert not set(name) & set('<>:"/\\|?*[]#^\0\n') and name.strip(" .") == name


@pytest.mark.promise("K7")
@pytest.mark.skipif(not DATA.is_dir(), reason="../shared/data/notes is not beside the checkout")
@pytest.mark.parametrize(
    "archive", ["wikipathways_2095notes_cc0.tar.xz", "pi-base_3500notes_ccby4.tar.xz"]
)
def test_real_notes_are_read_and_written_byte_for_byte(archive: str) -> None:
    count = 0
    with tarfile.open(DATA / archive) as files:
        for member in files:
            if not member.name.endswith(".md"):
                continue
            reader = files.extractfile(member)
            assert reader is not None
            text = reader.read().decode()
            note = parse_note(text, member.name)
            assert note.title and note.content.strip()
            assert note.front_matter + (note.content if note.content_from == "body" else "") == text
            count += 1
    assert count > 2000
