"""A library behind links, mounts and read-only folders: the link stays a link, the target is
changed, and errors are true.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from carrel.stores.csl_json import file_replacement
from carrel.stores.csl_json.library_file import LibraryFile
from carrel.stores.csl_json.working_folder import locate_library
from carrel.stores.file_lock import LockHeldError, hold_lock
from tests.processes import warm

pytestmark = [
    pytest.mark.promise("L9"),
    pytest.mark.skipif(os.name != "posix", reason="POSIX links"),
]
FIRST = '[{"id": "first", "type": "book"}]'


def add(library: LibraryFile, item_id: str) -> None:
    library.change(lambda present: present.with_added([{"id": item_id, "type": "book"}]))


def ids(path: Path) -> list[str]:
    return [item["id"] for item in json.loads(path.read_text(encoding="utf-8"))]


def absolute_link(folder: Path, target: Path) -> Path:
    link = folder / "link.json"
    link.symlink_to(target)
    return link


def relative_link(folder: Path, target: Path) -> Path:
    link = folder / "link.json"
    link.symlink_to(os.path.relpath(target, folder))
    return link


def chain_of_links(folder: Path, target: Path) -> Path:
    middle = folder / "deep" / "middle.json"
    middle.parent.mkdir()
    middle.symlink_to(os.path.relpath(target, middle.parent))
    return relative_link(folder, middle)


def link_in_the_folders(folder: Path, target: Path) -> Path:
    (folder / "alias").symlink_to(target.parent)
    return folder / "alias" / target.name


LINKS = [absolute_link, relative_link, chain_of_links, link_in_the_folders]


@pytest.fixture
def target(tmp_path: Path) -> Path:
    found = tmp_path / "elsewhere" / "real.json"
    found.parent.mkdir()
    return found


@pytest.mark.parametrize("make", LINKS)
def test_a_link_stays_a_link_and_its_target_is_changed(
    tmp_path: Path, target: Path, make: Callable[[Path, Path], Path]
) -> None:
    target.write_text(FIRST, encoding="utf-8")
    link = make(tmp_path, target)
    where = link.readlink() if link.is_symlink() else None
    library = LibraryFile(link)
    for number in range(3):
        add(library, f"new-{number}")
    assert (link.readlink() if link.is_symlink() else None) == where
    assert ids(target) == ids(link) == ["first", "new-0", "new-1", "new-2"]
    assert not target.is_symlink()
    assert (target.parent / ".real.json.carrel").is_dir()


@pytest.mark.parametrize("make", LINKS[:3])
def test_the_first_write_through_a_dangling_link_creates_its_target(
    tmp_path: Path, target: Path, make: Callable[[Path, Path], Path]
) -> None:
    link = make(tmp_path, target)
    library = LibraryFile(link)
    assert library.read().document.items() == []
    add(library, "a")
    assert link.is_symlink()
    assert ids(target) == ["a"]


def test_a_link_into_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    link = absolute_link(tmp_path, tmp_path / "unmounted" / "real.json")
    with pytest.raises(FileNotFoundError, match="the link leads to a folder that does not exist"):
        add(LibraryFile(link), "a")
    assert not (tmp_path / "unmounted").exists()


def test_a_loop_of_links_is_said(tmp_path: Path) -> None:
    (tmp_path / "a.json").symlink_to("b.json")
    (tmp_path / "b.json").symlink_to("a.json")
    with pytest.raises(OSError, match="form a loop"):
        add(LibraryFile(tmp_path / "a.json"), "x")


def test_a_link_that_is_changed_while_we_run_is_followed(tmp_path: Path, target: Path) -> None:
    other = target.with_name("other.json")
    target.write_text(FIRST, encoding="utf-8")
    other.write_text('[{"id": "other"}]', encoding="utf-8")
    link = relative_link(tmp_path, target)
    library = LibraryFile(link)
    add(library, "a")
    link.unlink()
    link.symlink_to(other)
    assert [item["id"] for item in library.read().document.items()] == ["other"]
    add(library, "b")
    assert ids(other) == ["other", "b"]
    assert ids(target) == ["first", "a"]


def test_the_link_and_its_target_share_one_lock_and_one_history(
    tmp_path: Path, target: Path
) -> None:
    target.write_text(FIRST, encoding="utf-8")
    link = relative_link(tmp_path, target)
    add(LibraryFile(link), "by-link")
    stale = target.read_text(encoding="utf-8")
    add(LibraryFile(target), "by-target")
    target.write_text(stale, encoding="utf-8")
    assert [item["id"] for item in LibraryFile(link).read().document.items()] == [
        "first",
        "by-link",
        "by-target",
    ]
    with (
        hold_lock(locate_library(link).lock_file),
        pytest.raises(LockHeldError),
        hold_lock(locate_library(target).lock_file),
    ):
        pass


@pytest.mark.parametrize("failure", [errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP])
@pytest.mark.parametrize("has_second_names", [True, False])
def test_without_an_exchange_of_names_nothing_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failure: int, has_second_names: bool
) -> None:
    monkeypatch.setattr(file_replacement, "swap_names", lambda one, other: failure)
    if not has_second_names:
        monkeypatch.setattr(os, "link", _refuse)
    path = tmp_path / "lib.json"
    path.write_text(FIRST, encoding="utf-8")
    library = LibraryFile(path)
    add(library, "a")
    stale = path.read_text(encoding="utf-8")
    add(library, "b")
    path.write_text(stale.replace("first", "renamed"), encoding="utf-8")
    add(library, "c")
    assert set(ids(path)) >= {"a", "b", "c", "renamed"}
    assert list((tmp_path / ".lib.json.carrel").glob("draft*")) == []


def _refuse(*_: object, **__: object) -> None:
    raise PermissionError(errno.EPERM, "no second names here")


@pytest.mark.parametrize("failure", [errno.EBUSY, errno.EXDEV])
def test_a_name_that_cannot_be_given_away_is_written_in_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failure: int
) -> None:
    monkeypatch.setattr(file_replacement, "swap_names", lambda one, other: failure)
    path = tmp_path / "lib.json"
    path.write_text(FIRST, encoding="utf-8")
    inode = path.stat().st_ino
    library = LibraryFile(path)
    add(library, "a")
    add(library, "b")
    library.change(lambda present: present.without("first"))
    assert ids(path) == ["a", "b"]
    assert path.stat().st_ino == inode
    versions = [
        json.loads(file.read_bytes())
        for file in (tmp_path / ".lib.json.carrel" / "versions").iterdir()
    ]
    assert [{"id": "first", "type": "book"}] in versions


def test_a_hard_link_goes_on_naming_the_same_file(tmp_path: Path) -> None:
    path, second = tmp_path / "lib.json", tmp_path / "second.json"
    path.write_text(FIRST, encoding="utf-8")
    os.link(path, second)
    add(LibraryFile(path), "a")
    assert ids(second) == ["first", "a"]


def test_mode_and_owner_of_the_file_stay(tmp_path: Path, target: Path) -> None:
    target.write_text(FIRST, encoding="utf-8")
    target.chmod(0o640)
    if os.geteuid() == 0:
        os.chown(target, 65534, 65533)
    before = target.stat()
    add(LibraryFile(relative_link(tmp_path, target)), "a")
    after = target.stat()
    assert (after.st_mode, after.st_uid, after.st_gid) == (
        before.st_mode,
        before.st_uid,
        before.st_gid,
    )


_KILLED_IN_PLACE = textwrap.dedent("""
    import os, signal, sys
    from pathlib import Path
    from carrel.stores.csl_json import file_replacement
    from carrel.stores.csl_json.library_file import LibraryFile
    path, last = Path(sys.argv[1]), int(sys.argv[2])
    file_replacement.swap_names = lambda one, other: 16
    library = LibraryFile(path)
    library.change(lambda present: present.with_added([{"id": "acknowledged", "type": "book"}]))
    write, count = os.write, 0
    def write_a_little(descriptor, data):
        global count
        count += 1
        if count == last:
            os.kill(os.getpid(), signal.SIGKILL)
        return write(descriptor, data[:7])
    file_replacement.os.write = write_a_little
    library.change(lambda present: present.without("first").with_added([{"id": "z" * 40, "type": "book"}]))
""")  # noqa: E501


@pytest.mark.parametrize("last", [1, 2, 5, 9, 14])
def test_a_kill_in_the_middle_of_a_write_in_place_loses_nothing(tmp_path: Path, last: int) -> None:
    path = tmp_path / "lib.json"
    path.write_text(
        '[{"id": "first", "type": "book"}, {"id": "second", "type": "book"}]', encoding="utf-8"
    )
    killed = warm.run(
        [sys.executable, "-c", _KILLED_IN_PLACE, str(path), str(last)], check=False, timeout=60
    )
    assert killed.returncode == -signal.SIGKILL
    found = [item["id"] for item in LibraryFile(path).read().document.items()]
    assert {"second", "acknowledged"} <= set(found)
    assert ids(path) == found
    add(LibraryFile(path), "later")
    assert {"second", "acknowledged", "later"} <= set(ids(path))


def test_an_error_before_the_file_was_touched_leaves_no_trace_of_the_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "lib.json"
    path.write_text(FIRST, encoding="utf-8")
    library = LibraryFile(path)
    add(library, "a")
    monkeypatch.setattr(file_replacement, "swap_names", lambda one, other: errno.EIO)
    with pytest.raises(OSError, match=os.strerror(errno.EIO)):
        add(library, "b")
    assert not library.is_touched
    monkeypatch.undo()
    assert ids(path) == ["first", "a"]
    assert [item["id"] for item in LibraryFile(path).read().document.items()] == ["first", "a"]


def test_an_error_after_the_file_was_touched_is_not_called_harmless(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "lib.json"
    library = LibraryFile(path)
    add(library, "a")

    def fail(*_: object) -> None:
        raise OSError(errno.EIO, "the disk is gone")

    monkeypatch.setattr("carrel.stores.csl_json.journal.LibraryJournal.keep_replaced", fail)
    with pytest.raises(OSError, match="the disk is gone"):
        add(library, "b")
    assert library.is_touched
    monkeypatch.undo()
    assert [item["id"] for item in LibraryFile(path).read().document.items()] == ["a", "b"]


# What a person who is not root may not do is tried as nobody, where the tests themselves run as
# root.
_AS_NOBODY = textwrap.dedent("""
    import os, sys
    from pathlib import Path
    from carrel.stores.csl_json.library_file import LibraryFile
    if os.geteuid() == 0:
        os.setgroups([]); os.setgid(65534); os.setuid(65534)
    library = LibraryFile(Path(sys.argv[1]))
    print([item["id"] for item in library.read().document.items()])
    try:
        library.change(lambda present: present.with_added([{"id": "a", "type": "book"}]))
    except OSError as error:
        print(error.strerror)
""")


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that others can reach, too; those of pytest are for the one who runs the tests."""
    with tempfile.TemporaryDirectory() as made:
        Path(made).chmod(0o755)
        found = Path(made) / "folder"
        found.mkdir()
        yield found


@pytest.mark.parametrize(
    ("folder_mode", "file_mode", "said"),
    [
        (0o555, 0o666, "the folder is read-only"),
        (0o777, 0o444, "the file is read-only"),
        (0o555, 0o444, "is read-only"),
    ],
)
def test_what_is_read_only_is_read_and_refused_and_stays_as_it_was(
    folder: Path, folder_mode: int, file_mode: int, said: str
) -> None:
    path = folder / "lib.json"
    path.write_text(FIRST, encoding="utf-8")
    path.chmod(file_mode)
    if os.geteuid() == 0:
        os.chown(path, 65534, 65534)
    folder.chmod(folder_mode)
    try:
        ran = warm.run(
            [sys.executable, "-c", _AS_NOBODY, str(path)],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    finally:
        folder.chmod(0o755)
    assert ran.stdout.splitlines()[0] == "['first']", ran.stderr
    assert said in ran.stdout.splitlines()[1]
    assert path.read_text(encoding="utf-8") == FIRST
    if folder_mode == 0o555:
        assert [found.name for found in folder.iterdir()] == ["lib.json"]


def mounted(folder: Path, *words: str) -> Iterator[Path]:
    """Mounts what the words say, or skips the test where that is not permitted."""
    folder.mkdir(parents=True, exist_ok=True)
    if os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("mounting needs root")
    ran = subprocess.run(["mount", *words], capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        pytest.skip(f"mount {' '.join(words)}: {ran.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", words[-1]], check=True)


def tmpfs(tmp_path: Path) -> Iterator[Path]:
    yield from mounted(
        tmp_path / "mounted",
        "-t",
        "tmpfs",
        "-o",
        "size=8m",
        "carrel-test",
        str(tmp_path / "mounted"),
    )


def vfat(tmp_path: Path) -> Iterator[Path]:
    if shutil.which("mkfs.vfat") is None:
        pytest.skip("no mkfs.vfat")
    image = tmp_path / "disk.image"
    image.write_bytes(b"\0" * 8 * 1024 * 1024)
    subprocess.run(["mkfs.vfat", str(image)], check=True, capture_output=True)
    yield from mounted(tmp_path / "mounted", "-o", "loop", str(image), str(tmp_path / "mounted"))


def overlay(tmp_path: Path) -> Iterator[Path]:
    for name in ("lower", "upper", "work"):
        (tmp_path / name).mkdir()
    options = f"lowerdir={tmp_path}/lower,upperdir={tmp_path}/upper,workdir={tmp_path}/work"
    yield from mounted(
        tmp_path / "mounted",
        "-t",
        "overlay",
        "-o",
        options,
        "carrel-test",
        str(tmp_path / "mounted"),
    )


@pytest.fixture(params=[tmpfs, vfat, overlay])
def other_file_system(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    yield from request.param(tmp_path)


def test_a_link_into_another_file_system_is_followed(
    tmp_path: Path, other_file_system: Path
) -> None:
    target = other_file_system / "real.json"
    target.write_text(FIRST, encoding="utf-8")
    link = absolute_link(tmp_path, target)
    library = LibraryFile(link)
    add(library, "a")
    stale = target.read_text(encoding="utf-8")
    add(library, "b")
    target.write_text(stale, encoding="utf-8")
    add(library, "c")
    assert link.is_symlink()
    assert ids(target) == ["first", "a", "b", "c"]


@pytest.fixture
def bound_file(tmp_path: Path) -> Iterator[tuple[Path, Path]]:
    outside, inside = tmp_path / "outside.json", tmp_path / "container" / "lib.json"
    outside.write_text(FIRST, encoding="utf-8")
    inside.parent.mkdir()
    inside.touch()
    for _ in mounted(inside.parent, "--bind", str(outside), str(inside)):
        yield outside, inside


def test_a_single_file_that_is_mounted_is_changed_in_place(bound_file: tuple[Path, Path]) -> None:
    outside, inside = bound_file
    library = LibraryFile(inside)
    add(library, "a")
    stale = outside.read_text(encoding="utf-8")
    add(library, "b")
    outside.write_text(stale, encoding="utf-8")
    add(library, "c")
    assert ids(outside) == ids(inside) == ["first", "a", "b", "c"]


def test_a_read_only_mount_is_refused_and_stays_as_it_was(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "lib.json").write_text(FIRST, encoding="utf-8")
    for folder in mounted(
        tmp_path / "read-only", "-o", "bind,ro", str(source), str(tmp_path / "read-only")
    ):
        library = LibraryFile(folder / "lib.json")
        assert [item["id"] for item in library.read().document.items()] == ["first"]
        with pytest.raises(PermissionError, match="read-only"):
            add(library, "a")
        assert [found.name for found in source.iterdir()] == ["lib.json"]
