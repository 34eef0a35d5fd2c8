"""DeskBench's client, harness and relay on real servers."""

from __future__ import annotations

import http.server
import json
import shlex
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks.deskbench.checks import DeskState
from benchmarks.deskbench.desk import write_desk
from benchmarks.deskbench.desk_adapters import read_folder
from benchmarks.deskbench.jobs import Job, choose_jobs
from benchmarks.deskbench.load import carrel_command, run_carrel
from benchmarks.deskbench.mcp_client import McpClient, ServerError, connect
from benchmarks.deskbench.model_assistant import ModelAssistant
from benchmarks.deskbench.report import write_report
from benchmarks.deskbench.runs import CALLS_PER_JOB, append_record, read_records, run_job
from benchmarks.deskbench.scripted_assistant import ScriptedAssistant, choose_tools, follow_ids
from benchmarks.deskbench.servers import OpenDesk, ServerUnderTest, make_server
from benchmarks.deskbench.small_model_server import read_reply, write_grammar, write_prompt

CARREL = shlex.join([*carrel_command(), "mcp"])


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Carrel home with five of the papers, added by the real command, beside the desk's files."""
    place = tmp_path_factory.mktemp("template")
    write_desk(place / "desk")
    run_carrel(place / "home", ["add", str(place / "desk/papers/psychology"), "--only", "papers"])
    return place


@pytest.fixture
def desk(template: Path, tmp_path: Path) -> OpenDesk:
    shutil.copytree(template, tmp_path / "copy")
    return OpenDesk(ServerUnderTest("carrel", CARREL, template), tmp_path / "copy")


def job_named(name: str) -> Job:
    (job,) = choose_jobs(name)
    return job


class FakeModel:
    """An OpenAI-compatible address that answers with what it was given, in order."""

    def __init__(self, messages: list[dict[str, Any]]) -> None:
        self.asked: list[dict[str, Any]] = []
        outer, left = self, list(messages)

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                outer.asked.append(json.loads(body))
                message = left.pop(0) if len(left) > 1 else left[0]
                usage = {"prompt_tokens": 100, "completion_tokens": 7}
                sent = json.dumps({"choices": [{"message": message}], "usage": usage}).encode()
                self.send_response(200)
                self.send_header("content-length", str(len(sent)))
                self.end_headers()
                self.wfile.write(sent)

            def log_message(self, format: str, *args: Any) -> None:
                return None

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@pytest.fixture
def models() -> Iterator[list[FakeModel]]:
    opened: list[FakeModel] = []
    yield opened
    for model in opened:
        model.close()


def tool_call(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    call = {"id": "c1", "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def test_a_model_that_does_the_job_passes_and_the_desk_is_read_afterwards(
    desk: OpenDesk, models: list[FakeModel], tmp_path: Path
) -> None:
    text = "The four broken lux meters were replaced on 2 April."
    saving = tool_call("save_knowledge", {"content": text, "tags": ["meetings"]})
    models.append(FakeModel([saving, {"role": "assistant", "content": "ANSWER: noted"}]))
    job = job_named("note-save")
    job.check[0].pop("total")
    record = run_job(job, desk, ModelAssistant(models[0].url, "fake", ""))
    assert (record.done, record.why) == (True, "")
    assert record.call_count == 1
    assert record.calls[0].tool == "save_knowledge"
    assert (record.tokens_in, record.tokens_out, record.tokens_from) == (200, 14, "the API")
    offered = {tool["function"]["name"] for tool in models[0].asked[0]["tools"]}
    assert {"search_papers", "save_knowledge"} <= offered
    assert job.text in models[0].asked[0]["messages"][1]["content"]
    append_record(record, tmp_path / "log.jsonl")
    assert "| note | 1 | 1 (100 %) | 1.0 |" in write_report([tmp_path / "log.jsonl"])


def test_a_model_that_only_says_so_fails(desk: OpenDesk, models: list[FakeModel]) -> None:
    models.append(FakeModel([{"role": "assistant", "content": "ANSWER: noted"}]))
    record = run_job(job_named("note-save"), desk, ModelAssistant(models[0].url, "fake", ""))
    assert not record.done
    assert record.why.startswith("no notes like")


def test_calls_without_end_are_stopped(desk: OpenDesk, models: list[FakeModel]) -> None:
    models.append(FakeModel([tool_call("search_papers", {"query": "rice"})]))
    record = run_job(job_named("find-author"), desk, ModelAssistant(models[0].url, "fake", ""))
    assert record.call_count == CALLS_PER_JOB
    assert record.why == "more than 25 calls"


def test_a_server_that_ends_is_an_error_and_no_wrong_answer(tmp_path: Path) -> None:
    with pytest.raises(ServerError, match="ended"):
        connect(shlex.join([sys.executable, "-c", "pass"]), {})


def test_the_scripted_assistant_asks_by_words_and_follows_ids(desk: OpenDesk) -> None:
    job = job_named("absent-topic")
    record = run_job(job, desk, ScriptedAssistant())
    assert 1 <= record.call_count <= 8
    assert record.answer.startswith("ANSWER: ")


def test_tools_are_chosen_by_their_words_and_their_one_text() -> None:
    text = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}
    one_id = {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}
    tools = [
        {"name": "get_recipe", "description": "One recipe of a cook.", "inputSchema": one_id},
        {"name": "find_ships", "description": "Finds ships of a harbour.", "inputSchema": text},
        {"name": "find_recipes", "description": "Finds recipes for cooks.", "inputSchema": text},
    ]
    names = [tool["name"] for tool, _ in choose_tools(tools, "Which recipes have eels?")]
    assert names == ["find_recipes", "find_ships"]
    assert follow_ids(tools, "find_recipes", '[{"id": "r-17"}]') == [("get_recipe", {"id": "r-17"})]


def test_a_small_models_line_is_a_call_or_an_answer() -> None:
    query = {"properties": {"query": {"type": "string"}}, "required": ["query"]}
    tools = {"search_papers": {"description": "Finds papers.", "parameters": query}}
    call = read_reply('CALL search_papers "fish oil"', tools)
    function = call["tool_calls"][0]["function"]
    assert (function["name"], json.loads(function["arguments"])) == (
        "search_papers",
        {"query": "fish oil"},
    )
    assert read_reply("ANSWER: 612 m", tools) == {"role": "assistant", "content": "ANSWER: 612 m"}
    assert '"search_papers"' in write_grammar(["search_papers"], may_answer=True)
    assert "root ::= call\n" in write_grammar(["search_papers"], may_answer=False)
    prompt = write_prompt([{"role": "user", "content": "How deep?"}, call], tools)
    assert "search_papers: Finds papers." in prompt
    assert 'CALL search_papers "fish oil"' in prompt
    assert prompt.endswith("<|im_start|>assistant\n")


def test_the_truth_is_not_in_the_folder_of_a_server(tmp_path: Path) -> None:
    server = make_server("filesystem", "server {desk}", tmp_path)
    assert (server.template / "manifest.json").exists()
    assert not (server.template / "desk" / "manifest.json").exists()
    with server.open_desk(job_named("note-budget")) as opened:
        assert len(list((opened.place / "desk" / "notes").iterdir())) == 20


def test_a_folder_is_read_as_notes(tmp_path: Path) -> None:
    write_desk(tmp_path)
    (tmp_path / "notes" / "New.md").write_text("---\ntags: [meetings]\n---\n# New\n2 April\n")
    client: McpClient = None  # type: ignore[assignment]
    state: DeskState = read_folder(client, tmp_path)
    assert len(state.notes) == 21
    (new,) = [note for note in state.notes if note["title"] == "New"]
    assert new["tags"] == ["meetings"]


def test_the_relay_keeps_a_job_between_commands_and_shows_no_verdict(
    template: Path, tmp_path: Path
) -> None:
    state = tmp_path / "agent"
    jobs = "absent-topic,find-author"

    def relay(*words: str) -> str:
        command = [sys.executable, "-m", "benchmarks.deskbench.relay", str(state), *words]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    begin = ["begin", "--jobs", jobs, "--name", "tester", "--template", str(template)]
    assert "Ready" in relay(*begin)
    try:
        assert '"name": "search_papers"' in relay("tools")
        shown = relay("next")
        assert "What do I have by Freja Sørensen?" in shown
        assert "find-author" not in shown
        assert "answer it first" in relay("next")
        assert "not JSON" in relay("call", "search_papers", "{query")
        assert "Humming" in relay("call", "search_papers", '{"query": "humming"}')
        said = relay("answer", "ANSWER: Humming and short-term memory for digits; … for faces")
        assert said.startswith("Noted. 1 jobs are left")
    finally:
        relay("end")
    (record,) = read_records(state / "log.jsonl")
    assert (record["job"], record["done"], record["call_count"]) == ("find-author", False, 1)
    assert record["why"] == "not named: sorensen2020"
    assert record["assistant"] == "tester"
