"""Tasks that people ask for and no operation does, with what comes nearest."""

from __future__ import annotations

import re

_TASKS = (
    (
        r"\b(?:mark\w*|flag\w*|set|tick)\b.*\b(?:as|to) (?:un)?read\b|\bread(?:ing)? status\b"
        r"|\bhave i (?:already )?read\b|\breading (?:list|queue)\b|\bto-?read\b",
        "No operation keeps whether a paper was read. A tag does: edit_paper with action=edit and "
        "tags (all of them, for they replace the old ones), and search_papers finds tag:read.",
    ),
    (
        r"\be-?mails?\b|\bslack\b|\bsend (?:it|this|them|these)\b.*\bto\b",
        "No operation sends messages. export_papers, export_references and export_research give "
        "files to send.",
    ),
    (
        r"\bremind(?:er|ers|s)?\b|\bcalendar\b",
        "No operation reminds. save_knowledge keeps a note to come back to; save_alert follows new "
        "literature on a topic.",
    ),
    (
        r"\btranslat(?:e|es|ing)\b",
        "No operation translates. get_paper_metadata names under `available_translations` the "
        "languages that get_paper_summary has; get_paper_source gives the text to translate.",
    ),
    (
        r"\b(?:histogram|bar chart|pie chart|line chart|scatter plot|word ?cloud)s?\b",
        "No operation draws charts of numbers. get_corpus_statistics and list_top_facets give the "
        "numbers; draw_citations draws citations alone.",
    ),
    (
        r"\bimpact factors?\b|\bh-?index\b|\baltmetrics?\b|\bjournal rank(?:ing)?s?\b|\bquartile\b",
        "No operation knows measures of journals or authors. get_work tells how often services "
        "count a work as cited; get_citations and rank_papers count inside this corpus.",
    ),
    (
        r"\b(?:google scholar|web of science|scopus|researchgate|embase)\b"
        r"|\b(?:search|query|look(?:ing)?|find)\b.*\bgoogle\b",
        "No operation searches these databases. search_literature asks OpenAlex, Crossref, PubMed, "
        "Europe PMC, arXiv and others; add_references and add_paper fetch a work by its DOI, PMID "
        "or arXiv id.",
    ),
    (
        r"\b(?:from|at|of) the publisher'?s? (?:site|website|page|server)\b|\bpaywall\w*\b"
        r"|\bsci-?hub\b",
        "No operation downloads what is not open. find_fulltext fetches open texts; add_paper "
        "takes a file, an upload or an arXiv id.",
    ),
    (
        r"\b(?:user|guest) accounts?\b|\bpasswords?\b|\b(?:access|api) (?:token|key)s?\b"
        r"|\b(?:add|create|invite|new) (?:a |an |the )?(?:new )?users?\b",
        "No operation manages users. Whoever runs the desk does, with the commands carrel users "
        "and carrel tokens.",
    ),
    (
        r"\bback(?:ing)? ?-?up(?:s)?\b",
        "No operation makes backups. Whoever runs the desk does, with the command carrel backup.",
    ),
)
_PATTERNS = tuple((re.compile(pattern), advice) for pattern, advice in _TASKS)


def advise_unoffered(sentence: str) -> str | None:
    """What to say of a task that no operation does; None where one may."""
    plain = " ".join(sentence.lower().replace("’", "'").split())
    return next((advice for pattern, advice in _PATTERNS if pattern.search(plain)), None)
