"""What a model is asked for under each summary template. Every question can be answered from the
paper alone.
"""

from __future__ import annotations

_RULES = (
    "You summarise one scientific paper for researchers. Use only the text that you are given. "
    "Where the text does not answer "
    "something, write: not stated in the text. Never add results, numbers, names or references "
    "that are not in it. "
    "Answer in Markdown, with exactly the headings below, in English."
)

TEMPLATES: dict[str, str] = {
    "deep_read": (
        f"{_RULES}\n\n"
        "## Question\nWhat the paper asks and why that matters.\n"
        "## Background\nWhat it builds on and what it sets itself apart from.\n"
        "## Method\nWhat was done, step by step, with materials, data and settings.\n"
        "## Results\nThe findings with their numbers, comparisons and uncertainties.\n"
        "## Figures and tables\nWhat each one that matters shows.\n"
        "## Assumptions and limits\nWhat the argument rests on, and what its authors say it "
        "cannot show.\n"
        "## What follows\nOpen questions and next steps that the text names.\n"
        "## In short\nFive sentences for somebody who will not read the paper."
    ),
    "eight_questions": (
        f"{_RULES}\n\n"
        "## 1. What problem is solved?\n## 2. What was known before?\n## 3. What is the new "
        "idea?\n## 4. How was it done?\n"
        "## 5. What data or materials were used?\n## 6. What came out, in numbers?\n"
        "## 7. What are the limits?\n## 8. What comes next?"
    ),
    "three_pass": (
        f"{_RULES}\n\n"
        "## First pass\nKind of paper, context, contribution, and whether its assumptions seem "
        "valid, in a few sentences.\n"
        "## Second pass\nThe argument with its evidence, figure by figure, without proofs and "
        "details of apparatus.\n"
        "## Third pass\nHow one would rebuild the work, which assumptions are silent, and where "
        "it could fail."
    ),
}
