"""What every store of members of shared libraries promises."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TypeVar

import pytest

from carrel.core.errors import ConflictError
from carrel.rooms.references.shared.members import Member
from carrel.stores.sql.library_members import SqlMembers

ResultT = TypeVar("ResultT")
OpenMembers = Callable[[], SqlMembers]
NOW = datetime(2026, 7, 28, 12, 0, tzinfo=UTC)


def used(open_members: OpenMembers, scene: Callable[[SqlMembers], Awaitable[ResultT]]) -> ResultT:
    async def using() -> ResultT:
        members = open_members()
        try:
            return await scene(members)
        finally:
            await members.close()

    return asyncio.run(using())


def with_member(user: str) -> Callable[[Sequence[Member]], Sequence[Member]]:
    return lambda present: [*present, Member(user, "reader", "2026", "ada")]


def without(user: str) -> Callable[[Sequence[Member]], Sequence[Member]]:
    def decide(present: Sequence[Member]) -> Sequence[Member]:
        left = [each for each in present if each.user_id != user]
        if not any(each.role == "owner" for each in left):
            raise ConflictError("no owner")
        return left

    return decide


class LibraryMembersContract:
    """Inherited by every backend, which gives `open_members`."""

    def test_a_refused_change_changes_nothing(self, open_members: OpenMembers) -> None:
        async def scene(members: SqlMembers) -> Sequence[Member]:
            await members.create("lab-1", "Lab", "ada", NOW, 9)
            await members.change_members("lab-1", with_member("bob"))
            with pytest.raises(ConflictError):
                await members.change_members("lab-1", without("ada"))
            return await members.list_members("lab-1")

        assert [each.user_id for each in used(open_members, scene)] == ["ada", "bob"]

    def test_nobody_finds_a_library_of_others(self, open_members: OpenMembers) -> None:
        async def scene(members: SqlMembers) -> None:
            await members.create("lab-1", "Lab", "ada", NOW, 9)
            assert await members.find_membership("lab-1", "eve") is None
            assert await members.find_membership("lab-2", "ada") is None
            assert await members.list_memberships("eve") == []

        used(open_members, scene)

    def test_nobody_owns_more_libraries_than_the_bound(self, open_members: OpenMembers) -> None:
        async def scene(members: SqlMembers) -> list[bool]:
            await members.create("other", "Other", "bob", NOW, 2)
            return [
                await members.create(f"lab-{number}", "Lab", "ada", NOW, 2) for number in range(3)
            ]

        assert used(open_members, scene) == [True, True, False]

    def test_members_roles_and_names_are_kept_by_the_next_process(
        self, open_members: OpenMembers
    ) -> None:
        async def first(members: SqlMembers) -> None:
            await members.create("lab-1", "Lab", "ada", NOW, 9)
            await members.change_members("lab-1", with_member("bob"))
            await members.change_members(
                "lab-1",
                lambda present: [
                    replace(each, role="writer") if each.user_id == "bob" else each
                    for each in present
                ],
            )
            await members.rename("lab-1", "Laboratory")

        used(open_members, first)
        found = used(open_members, lambda members: members.find_membership("lab-1", "bob"))
        assert found is not None
        assert (found.name, found.role, found.member_count) == ("Laboratory", "writer", 2)
        (everything,) = used(open_members, lambda members: members.list_all())
        assert [(each.user_id, each.role) for each in everything.members] == [
            ("ada", "owner"),
            ("bob", "writer"),
        ]

    def test_of_two_owners_who_leave_at_once_one_stays(self, open_members: OpenMembers) -> None:
        async def scene() -> Sequence[Member]:
            stores = [open_members() for _ in range(2)]
            try:
                await stores[0].create("lab-1", "Lab", "ada", NOW, 9)
                await stores[0].change_members(
                    "lab-1", lambda present: [*present, Member("bob", "owner", "2026", "ada")]
                )
                left = await asyncio.gather(
                    stores[0].change_members("lab-1", without("ada")),
                    stores[1].change_members("lab-1", without("bob")),
                    return_exceptions=True,
                )
                assert sorted(isinstance(each, ConflictError) for each in left) == [False, True]
                return await stores[1].list_members("lab-1")
            finally:
                for store in stores:
                    await store.close()

        assert len(asyncio.run(scene())) == 1

    def test_a_removal_that_was_begun_hides_the_library_and_is_remembered(
        self, open_members: OpenMembers
    ) -> None:
        async def scene(members: SqlMembers) -> None:
            await members.create("lab-1", "Lab", "ada", NOW, 9)
            await members.begin_removal("lab-1")
            assert await members.find_membership("lab-1", "ada") is None
            assert await members.list_all() == []
            assert await members.list_removals() == ["lab-1"]
            # Somebody who was about to be added is not: there is nobody to decide on.
            assert await members.change_members("lab-1", lambda present: present) == []
            await members.finish_removal("lab-1")
            assert await members.list_removals() == []

        used(open_members, scene)
