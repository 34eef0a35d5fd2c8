"""Shared libraries: refusals first, then what members of each role do in them, in both stores."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from carrel.cli.page import Page, make_page
from carrel.cli.references_pages import PAGES
from carrel.core.errors import CarrelError
from carrel.core.operation import Effect
from carrel.rooms.references.organizing_models import OrganizedReferences
from carrel.settings import Settings
from carrel.wiring.desk import Desk, open_desk
from tests.rooms.references.desk import Reader

ENTRY = "@book{noether-1918, title={Invariante Variationsprobleme}, author={Noether, Emmy}}"
Scene = Callable[[Desk], Awaitable[None]]


@pytest.fixture(params=["files", "database"])
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    database: dict[str, object] = {}
    if request.param == "database":
        pytest.importorskip("psycopg", reason="the extra `postgres` is not installed")
        database = {"url": request.getfixturevalue("postgres_url")}
    return Settings.model_validate(
        {
            "home": tmp_path / "home",
            "rooms": ("references",),
            "database": database,
            "audit": {"enabled": False},
        }
    )


def play(settings: Settings, scene: Scene) -> None:
    async def playing() -> None:
        async with open_desk(settings).session() as desk:
            await scene(desk)

    asyncio.run(playing())


async def refused(asked: Awaitable[Any]) -> CarrelError:
    with pytest.raises(CarrelError) as caught:
        await asked
    return caught.value


async def shared_with_bob_and_cleo(desk: Desk) -> str:
    """A library of Ada's in which Bob writes and Cleo reads."""
    ada = Reader(desk, "ada")
    made = await ada.ask("create_library", name="Lab papers")
    library = str(made["id"])
    await ada.ask("set_library_member", library=library, member="bob", role="writer")
    await ada.ask("set_library_member", library=library, member="cleo")
    await ada.ask("add_references", input=ENTRY, shared_library=library)
    return library


@pytest.mark.promise("L12")
def test_a_stranger_cannot_tell_a_library_of_others_from_none(settings: Settings) -> None:
    async def scene(desk: Desk) -> None:
        library = await shared_with_bob_and_cleo(desk)
        eve = Reader(desk, "eve")
        asked: list[tuple[str, dict[str, Any]]] = [
            ("list_references", {}),
            ("search_references", {"query": "noether"}),
            ("add_references", {"input": ENTRY}),
            ("remove_reference", {"id": "noether-1918", "force": True}),
            ("undo_library_change", {}),
        ]
        for name, arguments in asked:
            told = []
            for named in (library, "lab-papers-00000000"):
                error = await refused(eve.ask(name, shared_library=named, **arguments))
                told.append((error.code, error.message.replace(named, "X"), error.next_step))
            assert told[0] == told[1] and told[0][0] == "resource_not_found", name
        for name in ("list_library_members", "leave_library"):
            error = await refused(eve.ask(name, library=library))
            assert error.code == "resource_not_found"
        # Neither does its name lead there, which is only looked for among one's own.
        error = await refused(eve.ask("list_references", shared_library="Lab papers"))
        assert error.code == "resource_not_found"
        assert (await eve.ask("list_libraries"))["libraries"] == []
        assert (await eve.ask("search_references", query="noether"))["total"] == 0

    play(settings, scene)


@pytest.mark.promise("L12")
def test_a_reader_reads_and_every_operation_that_changes_anything_is_refused(
    settings: Settings,
) -> None:
    async def scene(desk: Desk) -> None:
        library = await shared_with_bob_and_cleo(desk)
        cleo = Reader(desk, "cleo")
        found = await cleo.ask("search_references", query="noether", shared_library=library)
        assert [item["id"] for item in found["references"]] == ["noether-1918"]
        arguments: dict[str, dict[str, Any]] = {
            "add_references": {"input": ENTRY},
            "remove_reference": {"id": "noether-1918", "force": True},
            "remove_references": {"ids": ["noether-1918"], "force": True},
            "edit_reference": {"id": "noether-1918", "changes": {"title": "x"}},
            "save_reference": {"id": "noether-1918", "version": "x", "changes": {}},
            "restore_references": {"ids": ["noether-1918"]},
            "attach_fulltext": {"id": "noether-1918", "path": "/tmp/x.md"},
            "detach_fulltext": {"id": "noether-1918"},
            "organize_references": {"ids": ["noether-1918"], "add_tags": ["x"]},
            "rename_reference_group": {"kind": "tag", "group": "x", "new_name": "y"},
            "undo_library_change": {},
            "merge_references": {"keep": "noether-1918", "others": ["other"]},
            "rename_reference": {"id": "noether-1918", "new_id": "emmy"},
            "rename_keys": {},
            "attach_file": {"id": "noether-1918", "content": "eA==", "name": "x.csv"},
            "detach_file": {"id": "noether-1918", "name": "x.csv"},
            "adopt_orphan": {"file": "x.csv", "id": "noether-1918"},
            "remove_orphans": {"files": ["x.csv"]},
        }
        changing = {
            name
            for name, operation in desk.catalogue.operations.items()
            if operation.effect is not Effect.READS
            and "shared_library" in operation.question.model_fields
        }
        assert changing == set(arguments)
        for name, given in arguments.items():
            error = await refused(cleo.ask(name, shared_library=library, **given))
            assert (error.code, error.details["required_role"]) == (
                "insufficient_permissions",
                "writer",
            ), name
        listed = await cleo.ask("list_references", shared_library=library)
        assert [item["title"] for item in listed["references"]] == ["Invariante Variationsprobleme"]

    play(settings, scene)


@pytest.mark.promise("L12")
def test_only_owners_change_members_names_and_existence(settings: Settings) -> None:
    async def scene(desk: Desk) -> None:
        library = await shared_with_bob_and_cleo(desk)
        for user in ("bob", "cleo"):
            member = Reader(desk, user)
            for name, given in (
                ("set_library_member", {"member": user, "role": "owner"}),
                ("remove_library_member", {"member": "ada"}),
                ("hand_over_library", {"member": user}),
                ("rename_library", {"name": "Mine"}),
                ("delete_library", {"force": True}),
            ):
                error = await refused(member.ask(name, library=library, **given))
                assert error.code == "insufficient_permissions", (user, name)
        ada = Reader(desk, "ada")
        assert (await refused(ada.ask("delete_library", library=library))).code == "invalid_input"
        for name, given in (
            ("leave_library", {}),
            ("remove_library_member", {"member": "ada"}),
            ("set_library_member", {"member": "ada", "role": "writer"}),
        ):
            assert (await refused(ada.ask(name, library=library, **given))).code == "conflict"
        error = await refused(ada.ask("hand_over_library", library=library, member="dora"))
        assert error.code == "resource_not_found"
        members = (await ada.ask("list_library_members", library=library))["members"]
        assert [(each["user"], each["role"]) for each in members] == [
            ("ada", "owner"),
            ("bob", "writer"),
            ("cleo", "reader"),
        ]

    play(settings, scene)


@pytest.mark.promise("L12")
def test_what_a_writer_changes_others_see_and_nobodys_own_library_does(
    settings: Settings,
) -> None:
    async def scene(desk: Desk) -> None:
        library = await shared_with_bob_and_cleo(desk)
        ada, bob, cleo = (Reader(desk, user) for user in ("ada", "bob", "cleo"))
        shared = {"shared_library": library}
        # Read before the change, so that whatever is kept in memory must follow it.
        for user in (ada, bob, cleo):
            assert (await user.ask("browse_references", **shared))["library_total"] == 1
            assert (await user.ask("browse_references"))["library_total"] == 0
            groups = await user.ask("list_reference_groups", kind="tags", **shared)
            assert groups["groups"] == []
        await bob.ask("organize_references", ids=["noether-1918"], add_tags=["core"], **shared)
        await bob.ask("add_references", input="@misc{two, title={A second}}", **shared)
        for user in (ada, cleo):
            assert (await user.ask("browse_references", **shared))["library_total"] == 2
            groups = await user.ask("list_reference_groups", kind="tags", **shared)
            assert [row["name"] for row in groups["groups"]] == ["core"]
            own = await user.ask("list_reference_groups", kind="tags")
            assert own["groups"] == [] and (await user.ask("list_references"))["total"] == 0
        # Its id and its name lead there, and undo takes back the last change of the library.
        await ada.ask("undo_library_change", shared_library="lab  PAPERS")
        listed = await cleo.ask("list_references", **shared)
        assert [item["id"] for item in listed["references"]] == ["noether-1918"]

    play(settings, scene)


@pytest.mark.promise("L12")
def test_roles_change_and_end_at_the_next_call(settings: Settings) -> None:
    async def scene(desk: Desk) -> None:
        library = await shared_with_bob_and_cleo(desk)
        ada, bob, cleo = (Reader(desk, user) for user in ("ada", "bob", "cleo"))
        await ada.ask("set_library_member", library=library, member="bob", role="reader")
        error = await refused(
            bob.ask("add_references", input="@misc{x, title={X}}", shared_library=library)
        )
        assert error.code == "insufficient_permissions"
        await ada.ask("remove_library_member", library=library, member="cleo")
        error = await refused(cleo.ask("list_references", shared_library=library))
        assert error.code == "resource_not_found"
        await ada.ask("hand_over_library", library=library, member="bob")
        assert (await ada.ask("list_libraries"))["libraries"][0]["role"] == "writer"
        assert (await ada.ask("leave_library", library=library))["id"] == library
        assert (await ada.ask("list_libraries"))["libraries"] == []
        (left,) = (await bob.ask("list_libraries"))["libraries"]
        assert (left["role"], left["members"]) == ("owner", 1)

    play(settings, scene)


@pytest.mark.promise("L12")
def test_a_deleted_library_is_gone_with_its_files_and_leaves_the_others(
    settings: Settings,
) -> None:
    async def scene(desk: Desk) -> None:
        library = await shared_with_bob_and_cleo(desk)
        ada, bob = Reader(desk, "ada"), Reader(desk, "bob")
        other = (await bob.ask("create_library", name="Lab papers"))["id"]
        await bob.ask("add_references", input=ENTRY, shared_library=other)
        for one, user in ((library, ada), (other, bob)):
            await user.ask(
                "attach_file",
                id="noether-1918",
                content="eA==",
                name="table.csv",
                shared_library=one,
            )
        assert (await ada.ask("delete_library", library=library, force=True))["id"] == library
        error = await refused(bob.ask("list_references", shared_library=library))
        assert error.code == "resource_not_found"
        assert not list((settings.home / "references").glob(f"**/*{library}*"))
        files = await bob.ask("list_attachments", id="noether-1918", shared_library=other)
        assert [(row["name"], row["size_bytes"]) for row in files["files"]] == [("table.csv", 1)]

    play(settings, scene)


@pytest.mark.promise("L12")
def test_a_reader_of_two_libraries_of_one_name_must_say_which(settings: Settings) -> None:
    async def scene(desk: Desk) -> None:
        ada = Reader(desk, "ada")
        ids = [(await ada.ask("create_library", name="Théorie"))["id"] for _ in range(2)]
        error = await refused(ada.ask("list_references", shared_library="théorie"))
        assert error.code == "invalid_input"
        for one in ids:
            assert (await ada.ask("list_references", shared_library=one))["total"] == 0
        await ada.ask("rename_library", library=ids[0], name="Praxis")
        assert (await ada.ask("list_references", shared_library="theorie"))["total"] == 0

    play(settings, scene)


@pytest.mark.promise("L12")
def test_a_command_on_a_shared_library_names_no_next_step_in_ones_own() -> None:
    answer = OrganizedReferences(matched=1, changed=1, ids=["k"], is_dry_run=False)
    make = PAGES["organize_references"]
    for shared in (None, "lab-papers-0ba64543"):
        page = make_page(make, answer, {"ids": ["k"], "shared_library": shared})
        assert isinstance(page, Page) and (page.next_step == "") is (shared is not None)


@pytest.mark.promise("L12")
def test_a_name_of_two_libraries_is_refused_with_their_ids(settings: Settings) -> None:
    async def scene(desk: Desk) -> None:
        ada = Reader(desk, "ada")
        ids = [str((await ada.ask("create_library", name="Lab"))["id"]) for _ in range(2)]
        for name, arguments in (
            ("list_references", {"shared_library": "lab"}),
            ("list_library_members", {"library": "Lab"}),
        ):
            error = await refused(ada.ask(name, **arguments))
            assert error.code == "invalid_input" and "2 shared libraries" in error.message
            assert error.details["ids"] in (ids, ids[::-1])
            assert all(each in error.next_step for each in ids)
        assert (await ada.ask("list_references", shared_library=ids[1]))["total"] == 0
        # What others have of that name is not said.
        error = await refused(Reader(desk, "eve").ask("list_references", shared_library="Lab"))
        assert error.code == "resource_not_found"

    play(settings, scene)
