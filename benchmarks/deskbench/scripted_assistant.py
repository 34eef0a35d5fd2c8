"""A baseline without a model: it knows nothing but the list of tools.

It asks the tools whose words fit the job's best among those that one text is enough for, or lists
the files of a server that has only files, follows the first ids or paths that come back, and
answers with titles, values or the sentence that fit the job's words best. It never writes.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from benchmarks.deskbench.jobs import Job
from benchmarks.deskbench.normalisation import find_numbers, fold_words, has_words
from benchmarks.deskbench.runs import Desk, JobRecord

_TOOLS_ASKED = 3
_FOLLOWED = 3
_COMMON = set(
    fold_words(
        "a an and are as at be by did do does each for from give had has have how i in is it its "
        "me my of on only or please say that the their them they this to was were what when which "
        "who with you your answer form title titles need want desk all one two many much papers "
        "paper word exactly sentence quote"
    ).split()
)
# Parameters that take a name of a thing, never a question.
_ADDRESSES = {"id", "path", "url", "uri", "name"}


@dataclass(frozen=True)
class FoundText:
    """A piece of text that a tool gave, with the title and page that stood beside it."""

    text: str
    title: str = ""
    page: int | None = None

    def fit(self, words: set[str]) -> float:
        """How many of the words it has, less for long texts."""
        own = fold_words(f"{self.title} {self.text}").split()
        return len(words & set(own)) / (1 + len(own) / 200)


class ScriptedAssistant:
    """Matches words, follows ids and paths, and says nothing that it did not read."""

    name = "scripted"

    def do(self, job: Job, desk: Desk, record: JobRecord) -> str:
        asked = job.text.partition("Answer in the form:")[0]
        words = content_words(asked)
        read: list[str] = []
        for tool, parameter in choose_tools(desk.tools, asked)[:_TOOLS_ASKED]:
            answer = desk.call(tool["name"], {parameter: " ".join(words)[:300]})
            if not answer.is_error:
                read.append(answer.text)
                steps = follow_ids(desk.tools, tool["name"], answer.text)
                read += [text for step in steps if (text := ask(desk, *step))]
        if not read:
            read = read_files(desk, words)
        found = [piece for text in read for piece in split_text(text)]
        return "ANSWER: " + compose_answer(job.text, found, set(words))


def ask(desk: Desk, tool: str, arguments: dict[str, Any]) -> str:
    """What the tool said, or nothing where it refused."""
    answer = desk.call(tool, arguments)
    return "" if answer.is_error else answer.text


def content_words(text: str) -> list[str]:
    """The words of a text that are not common ones, each once."""
    return [word for word in dict.fromkeys(fold_words(text).split()) if word not in _COMMON]


def choose_tools(tools: list[dict[str, Any]], text: str) -> list[tuple[dict[str, Any], str]]:
    """Tools that one text is enough for, with its parameter; best fit to the text first."""
    described = []
    for tool in tools:
        words = fold_words(f"{tool['name'].replace('_', ' ')} {tool['description']}").split()
        described.append((tool, Counter(words)))
    spread = Counter(word for _, words in described for word in words)
    wanted = [*content_words(text), "search", "find", "passages"]
    fitting = []
    for place, (tool, counted) in enumerate(described):
        parameter = text_parameter(tool)
        if parameter is not None:
            score = sum(math.log(1 + len(tools) / spread[w]) for w in wanted if w in counted)
            fitting.append((-score / math.sqrt(10 + len(counted)), place, tool, parameter))
    fitting.sort(key=lambda row: row[:2])
    return [(tool, parameter) for _, _, tool, parameter in fitting]


def text_parameter(tool: dict[str, Any]) -> str | None:
    """The one required parameter of a reading tool, where it is a text and no address."""
    required = tool["inputSchema"].get("required", [])
    if len(required) != 1 or tool["name"].startswith(("save", "add", "start", "delete", "write")):
        return None
    named = tool["inputSchema"].get("properties", {}).get(required[0], {})
    is_text = named.get("type") == "string" and "enum" not in named
    is_address = required[0] in _ADDRESSES or required[0].endswith("_id")
    return required[0] if is_text and not is_address else None


def follow_ids(
    tools: list[dict[str, Any]], asked: str, text: str
) -> list[tuple[str, dict[str, Any]]]:
    """Calls of reading tools that need nothing but an id which a text names."""
    steps = {}
    for name, value in re.findall(r'"(\w*id)":\s*"([^"]{3,200})"', text):
        takers = [
            tool["name"]
            for tool in tools
            if tool["inputSchema"].get("required") == [name]
            and tool["name"].startswith(("get", "read"))
            and tool["name"] != asked
        ]
        for taker in sorted(takers, key=lambda taker: -_reads_text(tools, taker))[:1]:
            steps[taker, value] = (taker, {name: value})
    return list(steps.values())[:_FOLLOWED]


def _reads_text(tools: list[dict[str, Any]], name: str) -> int:
    """How much a tool's description speaks of text that can be read."""
    (tool,) = [tool for tool in tools if tool["name"] == name]
    words = fold_words(f"{name.replace('_', ' ')} {tool['description']}").split()
    return len({"text", "whole", "full", "content", "read", "source"} & set(words))


def read_files(desk: Desk, words: list[str]) -> list[str]:
    """Of a server that has only files: those whose names have most of the words."""
    needs = {tool["name"]: tool["inputSchema"].get("required") or [] for tool in desk.tools}
    finders = [name for name, needed in needs.items() if needed == ["path", "pattern"]]
    readers = [name for name, needed in needs.items() if needed == ["path"] and "read" in name]
    roots = [name for name, needed in needs.items() if not needed and name.startswith("list")]
    if not (finders and readers and roots):
        return []
    places = re.findall(r"^\s*(/\S+)", ask(desk, roots[0], {}), re.MULTILINE)
    texts = []
    for place in places[:1]:
        listed = ask(desk, finders[0], {"path": place, "pattern": "**/*.*"}).splitlines()
        paths = [path.strip() for path in listed if path.strip().startswith("/")]
        paths.sort(key=lambda path: -len(set(words) & set(fold_words(path).split())))
        readable = [path for path in paths if not path.endswith(".pdf")][: 2 * _FOLLOWED]
        reader = next((name for name in readers if "text" in name), readers[0])
        texts += [ask(desk, reader, {"path": path}) for path in readable]
    return [text for text in texts if text]


def split_text(text: str) -> Iterator[FoundText]:
    """The records of JSON, or the paragraphs of other text."""
    try:
        parsed = json.JSONDecoder().raw_decode(text.lstrip())[0]
    except ValueError:
        title = re.search(r"^# (.+)$", text, re.MULTILINE)
        for paragraph in text.split("\n\n"):
            yield FoundText(paragraph, title[1] if title else "")
        return
    yield from _walk(parsed)


def _walk(value: Any) -> Iterator[FoundText]:
    if isinstance(value, dict):
        texts = [part for part in value.values() if isinstance(part, str) and " " in part]
        page = value.get("page")
        title = value.get("title") or value.get("paper_title") or ""
        if texts:
            number = page if isinstance(page, int) else None
            text = "\n".join(texts).replace("**", "")
            yield FoundText(text, str(title), number)
        for part in value.values():
            yield from _walk(part)
    elif isinstance(value, list):
        for part in value:
            yield from _walk(part)


def compose_answer(asked: str, found: list[FoundText], words: set[str]) -> str:
    """Titles, values or the best sentence, whichever the job's words ask for."""
    ranked = sorted(found, key=lambda piece: -piece.fit(words))
    if not ranked or ranked[0].fit(words) == 0:
        return "No: nothing was found on the desk."
    labels = re.findall(r"([\w-]+) = …", asked)
    if labels:
        return ", ".join(f"{label} = {_value_near(label, ranked, words)}" for label in labels)
    if re.search(r"\btitles?\b|\bwhich (?:of my )?papers\b", asked, re.IGNORECASE):
        best = ranked[0].fit(words)
        titles = [piece.title for piece in ranked if piece.title and piece.fit(words) > best / 2]
        return "; ".join(list(dict.fromkeys(titles))[:5])
    sentence, piece = _rank_sentences(ranked, words)[0]
    page = f" (page {piece.page})" if piece.page is not None and "page" in asked else ""
    return sentence[:600] + page


def _rank_sentences(found: list[FoundText], words: set[str]) -> list[tuple[str, FoundText]]:
    """Sentences with most of the words first, with what they were found in."""
    sentences = [
        (sentence.strip(), piece)
        for piece in found
        for sentence in re.split(r"(?<=[.!?])\s+|\n+", piece.text)
        if sentence.strip()
    ]
    return sorted(sentences, key=lambda row: -len(words & set(fold_words(row[0]).split())))


def _value_near(label: str, found: list[FoundText], words: set[str]) -> str:
    """A number of the sentence that fits best among those of texts that have the label."""
    named = [
        piece for piece in found if has_words(fold_words(f"{piece.title} {piece.text}"), label)
    ]
    for sentence, _ in _rank_sentences(named, words | {fold_words(label)}):
        numbers = find_numbers(sentence)
        if numbers:
            return numbers[0]
    return "unknown"
