"""A baseline without a model: it knows nothing but the list of tools.

It takes the tool whose words fit the job's best among those that need one text and no more, asks
it with the job's words, follows the first ids that come back with a tool that takes such an id,
and answers with the sentence of all it read that fits the job best.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from typing import Any

from benchmarks.deskbench.jobs import Job
from benchmarks.deskbench.normalisation import fold_words
from benchmarks.deskbench.runs import Desk, JobRecord

_TOOLS_ASKED = 2
_IDS_FOLLOWED = 2
_ANSWER_SENTENCES = 2
_COMMON = set(
    fold_words(
        "a an and are as at be by did do does each for from give had has have how i in is it its "
        "me my of on only or please say that the their them they this to was were what when which "
        "who with you your answer form title titles need want desk all one two many much"
    ).split()
)


class ScriptedAssistant:
    """Matches words, follows ids, and never guesses what it did not read."""

    name = "scripted"

    def do(self, job: Job, desk: Desk, record: JobRecord) -> str:
        words = content_words(job.text)
        read: list[str] = []
        for tool, parameter in choose_tools(desk.tools, job.text)[:_TOOLS_ASKED]:
            answer = desk.call(tool["name"], {parameter: " ".join(words)[:400]})
            if answer.is_error:
                continue
            read.append(answer.text)
            for name, arguments in follow_ids(desk.tools, tool["name"], answer.text):
                followed = desk.call(name, arguments)
                if not followed.is_error:
                    read.append(followed.text)
        return "ANSWER: " + best_sentences(read, words)


def content_words(text: str) -> list[str]:
    """The words of a text that are not common ones, each once."""
    return [word for word in dict.fromkeys(fold_words(text).split()) if word not in _COMMON]


def choose_tools(tools: list[dict[str, Any]], text: str) -> list[tuple[dict[str, Any], str]]:
    """Tools that one text is enough for, with its parameter; best fit to the text first."""
    described = [
        (
            tool,
            Counter(fold_words(tool["name"].replace("_", " ") + " " + tool["description"]).split()),
        )
        for tool in tools
    ]
    spread = Counter(word for _, words in described for word in words)
    wanted = [*content_words(text), "search", "find"]
    fitting = []
    for place, (tool, words) in enumerate(described):
        parameter = text_parameter(tool["inputSchema"])
        if parameter is None:
            continue
        score = sum(math.log(1 + len(tools) / spread[word]) for word in wanted if word in words)
        fitting.append((-score / math.sqrt(10 + len(words)), place, tool, parameter))
    return [(tool, parameter) for _, _, tool, parameter in sorted(fitting, key=lambda x: x[:2])]


def text_parameter(schema: dict[str, Any]) -> str | None:
    """The one required parameter of a schema, where it is a text and no id."""
    required = schema.get("required", [])
    if len(required) != 1:
        return None
    named = schema.get("properties", {}).get(required[0], {})
    is_text = named.get("type") == "string" and "enum" not in named
    is_id = required[0] == "id" or required[0].endswith("_id")
    return required[0] if is_text and not is_id else None


def follow_ids(
    tools: list[dict[str, Any]], asked: str, text: str
) -> list[tuple[str, dict[str, Any]]]:
    """Calls of tools that need nothing but an id, or a path, that a text names."""
    steps = []
    for name, value in re.findall(r'"(\w*id|path)":\s*"([^"]{3,200})"', text):
        takers = [
            tool["name"]
            for tool in tools
            if tool["inputSchema"].get("required") == [name]
            and tool["name"].startswith(("get", "read"))
            and tool["name"] != asked
        ]
        steps += [(taker, {name: value}) for taker in takers[-1:]]
    unique = {json.dumps(step): step for step in steps}
    return list(unique.values())[:_IDS_FOLLOWED]


def best_sentences(texts: list[str], words: list[str]) -> str:
    """The sentences that have most of the words, best first."""
    sentences = []
    for text in texts:
        plain = text.replace("\\n", "\n").replace(chr(92) + chr(34), chr(34))
        for part in re.split(r'(?<=[.!?])\s+|\n+|","|"text":|"title":', plain):
            sentence = part.strip(' "{}[],')
            if 10 < len(sentence) < 600:
                sentences.append(sentence)
    wanted = set(words)
    ranked = sorted(
        dict.fromkeys(sentences),
        key=lambda sentence: -len(wanted & set(fold_words(sentence).split())),
    )
    return " ".join(ranked[:_ANSWER_SENTENCES]) or "Nothing was found on the desk."
