"""The tasks of assistants in SQL that SQLite and PostgreSQL share."""

from __future__ import annotations

import json
from collections.abc import Generator, Sequence
from datetime import UTC, datetime
from typing import Any

from carrel.core.errors import ConflictError
from carrel.rooms.research.errors import StepTakenError
from carrel.rooms.research.records import Changes, CitedPassage, Event, StepKey, StepKind
from carrel.rooms.research.tasks.records import Holder, ResearchTask, TaskMaterial
from carrel.stores.sql.driver import Driver, Rows, Step
from carrel.stores.sql.research.rows import TOUCH_PROJECT, put_event, save_changes

_COLUMNS = """id, research_id, role, step, material, state, worker, lease, lease_until, failures,
    holders, answer, result, created_at, finished_at"""
_PUT_TASK = """INSERT INTO research_tasks
    (id, research_id, role, step, material, state, created_at)
    VALUES (:id, :research_id, :role, :step, :material, 'waiting', :created_at)
    ON CONFLICT (id) DO NOTHING"""
# Changes nothing and locks the project's row, which every write of a project takes first.
_LOCK_PROJECT = """UPDATE research_projects SET updated_at = updated_at
    WHERE id = :id AND status IN ({}) RETURNING id"""
_WORKED_ON = "'initializing', 'active', 'completed', 'failed'"
_TAKES_ANSWERS = f"{_WORKED_ON}, 'paused'"
_TAKE_OVER = f"""UPDATE research_projects
    SET mind = 'assistant', status = 'active', problem = NULL, updated_at = :at
    WHERE id = :id AND status IN ({_WORKED_ON}) RETURNING id"""
_COMPLETE = """UPDATE research_projects SET status = 'completed', updated_at = :at
    WHERE id = :id AND mind = 'assistant' AND status = 'active' RETURNING id"""
_FINISH = """UPDATE research_tasks SET state = 'done', lease = :lease, worker = :worker,
    answer = :answer, result = :result, finished_at = :at, touched = {now}
    WHERE id = :id AND state IN ('waiting', 'leased') RETURNING id"""


class SqlResearchTasks:
    """The store of tasks over a driver; the contract is the port's."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver

    async def of_project(self, research_id: str) -> list[ResearchTask]:
        return await self._tasks("research_id", research_id)

    async def find(self, task_id: str) -> ResearchTask | None:
        found = await self._tasks("id", task_id)
        return found[0] if found else None

    async def _tasks(self, column: str, value: str) -> list[ResearchTask]:
        clock = self._driver.lease_clock
        sql = f"""SELECT {_COLUMNS}, CASE WHEN {clock.has_expired} THEN 1 ELSE 0 END,
            {clock.now} - touched FROM research_tasks WHERE {column} = :id
            ORDER BY created_at, id"""
        (rows,) = await self._driver.run((sql, {"id": value}))
        return [_read_task(row) for row in rows]

    async def take_over(self, research_id: str, event: Event) -> bool:
        return await self._set_project(_TAKE_OVER, research_id, event)

    async def complete(self, research_id: str, event: Event) -> None:
        await self._set_project(_COMPLETE, research_id, event)

    async def _set_project(self, sql: str, research_id: str, event: Event) -> bool:
        def change() -> Generator[Step, Rows, bool]:
            if not (yield sql, {"id": research_id, "at": event.created_at}):
                return False
            yield put_event(event)
            return True

        return await self._driver.transact(change())

    async def lease(self, task: ResearchTask, worker: str, seconds: float) -> ResearchTask | None:
        clock = self._driver.lease_clock
        take = f"""UPDATE research_tasks SET state = 'leased', worker = :worker, failures = 0,
            lease = lease + 1, holders = :holders, material = :material, touched = {clock.now},
            {clock.grant}
            WHERE id = :id AND (state = 'waiting' OR (state = 'leased' AND {clock.has_expired}))
            RETURNING id"""
        material = task.material.model_dump_json()

        def change() -> Generator[Step, Rows, bool]:
            if not (yield _LOCK_PROJECT.format(_WORKED_ON), {"id": task.research_id}):
                return False
            step = json.dumps([task.step.kind, task.step.round, task.step.number,
                               task.step.hypothesis_id])  # fmt: skip
            row = {"id": task.id, "research_id": task.research_id, "role": task.role}
            yield _PUT_TASK, {**row, "step": step, "material": material,
                              "created_at": task.created_at}  # fmt: skip
            ((lease, holders),) = yield (
                "SELECT lease, holders FROM research_tasks WHERE id = :id",
                {"id": task.id},
            )
            held = json.dumps([*json.loads(holders), {"lease": lease + 1, "worker": worker}])
            values = {"id": task.id, "worker": worker, "seconds": seconds}
            return bool((yield take, {**values, "holders": held, "material": material}))

        return await self.find(task.id) if await self._driver.transact(change()) else None

    async def renew(
        self, task_id: str, lease: int, seconds: float, found: Sequence[CitedPassage] = ()
    ) -> bool:
        clock = self._driver.lease_clock
        values = {"id": task_id, "lease": lease}
        extend = f"""UPDATE research_tasks SET {clock.grant}, touched = {clock.now}
            WHERE id = :id AND lease = :lease AND state = 'leased' RETURNING material"""

        def change() -> Generator[Step, Rows, bool]:
            rows = yield extend, {**values, "seconds": seconds}
            if not rows:
                return False
            material = TaskMaterial.model_validate_json(rows[0][0])
            new = [one for one in found if one.id not in material.citable]
            if new:
                more = material.model_copy(update={"found": (*material.found, *new)})
                sql = "UPDATE research_tasks SET material = :material WHERE id = :id"
                yield sql, {"id": task_id, "material": more.model_dump_json()}
            return True

        return await self._driver.transact(change())

    async def finish(
        self, task: ResearchTask, lease: int, answer: str, result: str, at: str, changes: Changes
    ) -> None:
        values = {"id": task.id, "lease": lease, "worker": task.holder_of(lease) or task.worker}
        touch = TOUCH_PROJECT.format(f":id AND status IN ({_TAKES_ANSWERS}) RETURNING id")
        end = _FINISH.format(now=self._driver.lease_clock.now)

        def change() -> Generator[Step, Rows, None]:
            if not (yield touch, {"id": task.research_id, "at": at}):
                raise StepTakenError("The project was cancelled or deleted meanwhile")
            if not (yield end, {**values, "answer": answer, "result": result, "at": at}):
                raise StepTakenError("The task was done meanwhile")
            yield from save_changes(changes)

        try:
            await self._driver.transact(change())
        except StepTakenError:
            raise
        except ConflictError as error:
            raise StepTakenError("Somebody else has stored the same thing first") from error

    async def fail(self, task_id: str, lease: int, most: int) -> int:
        values = {"id": task_id, "lease": lease}
        count = """UPDATE research_tasks SET failures = failures + 1
            WHERE id = :id AND lease = :lease AND state = 'leased' RETURNING failures, holders"""
        give_back = """UPDATE research_tasks SET state = 'waiting', holders = :holders
            WHERE id = :id"""

        def change() -> Generator[Step, Rows, int]:
            rows = yield count, values
            if not rows:
                return 0
            failures, holders = rows[0]
            if failures >= most:
                told = [
                    {**one, "gave_back": one.get("gave_back", False) or one["lease"] == lease}
                    for one in json.loads(holders)
                ]
                yield give_back, {"id": task_id, "holders": json.dumps(told)}
            return int(failures)

        return await self._driver.transact(change())


def _read_task(row: tuple[Any, ...]) -> ResearchTask:
    task_id, research_id, role, step, material, state, worker, lease, until, failures = row[:10]
    holders, answer, result, created_at, finished_at, is_expired, idle = row[10:]
    kind, in_round, number, hypothesis_id = json.loads(step)
    return ResearchTask(
        id=task_id,
        research_id=research_id,
        role=role,
        step=StepKey(StepKind(kind), in_round, number, hypothesis_id),
        material=TaskMaterial.model_validate_json(material),
        state=state,
        worker=worker or "",
        lease=lease,
        lease_until=datetime.fromtimestamp(until, UTC).isoformat(timespec="seconds"),
        is_expired=bool(is_expired),
        idle_seconds=max(0.0, float(idle)),
        failures=failures,
        holders=tuple(Holder.model_validate(one) for one in json.loads(holders)),
        answer=answer,
        result=result,
        created_at=created_at,
        finished_at=finished_at,
    )
