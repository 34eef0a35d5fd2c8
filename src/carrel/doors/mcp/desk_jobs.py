"""The texts of the prompts for whole jobs: their arguments, and steps that name real tools.

A step is shown where every tool it calls is offered to the caller. Calls stand in backticks as
`tool(parameter=<what to put there>)`; a test makes each of them on a sample desk.
"""

from __future__ import annotations

from dataclasses import dataclass

from carrel.core.answer import PromptArgument

COMMON_STYLES = (
    "apa",
    "vancouver",
    "ieee",
    "nature",
    "chicago-author-date",
    "modern-language-association",
    "american-medical-association",
    "harvard-cite-them-right",
)


@dataclass(frozen=True, slots=True)
class Step:
    """One step: its heading, and what to call, check and keep."""

    title: str
    text: str


@dataclass(frozen=True, slots=True)
class DeskJob:
    """One prompt. `{name}` in `task` stands for an argument, `defaults` for those not given."""

    name: str
    title: str
    description: str
    rooms: frozenset[str]
    scopes: frozenset[str]
    arguments: tuple[PromptArgument, ...]
    task: str
    steps: tuple[Step, ...]
    answer: str
    defaults: tuple[tuple[str, str], ...] = ()
    # Arguments that hold whole texts: quoted after the steps, never read as part of them.
    quoted: frozenset[str] = frozenset()


_STYLE = PromptArgument(
    "style", "Citation style (CSL name), such as apa, vancouver or ieee; apa if empty", False
)
_LOOK_AT_NOTES = Step(
    "See what is known",
    "`search_knowledge(query=<the subject in plain words>)` for what was noted before. Do not "
    "repeat it as new; name the note's id where you build on it.",
)

LITERATURE_REVIEW = DeskJob(
    name="literature-review",
    title="Literature review",
    description="Answer a question from the papers on the desk, with quotations, pages and a "
    "bibliography.",
    rooms=frozenset({"papers"}),
    scopes=frozenset({"papers:read"}),
    arguments=(
        PromptArgument("question", "What the review should answer, as one question"),
        PromptArgument("years", "Publication years, such as 2015..2024; all if empty", False),
        PromptArgument("max_papers", "How many papers to read at most; 10 if empty", False),
        _STYLE,
    ),
    defaults=(("years", "all years"), ("max_papers", "10"), ("style", "apa")),
    task="Review what the papers on this desk say about: {question}\n"
    "Years: {years}. At most {max_papers} papers. Citation style: {style}.",
    steps=(
        _LOOK_AT_NOTES,
        Step(
            "Find the papers",
            "Split the question into two to four sub-questions. For each call "
            "`search_papers(query=<plain words>, limit=10)`; words such as year:2015..2024 in the "
            "query limit the years. If nothing is found, read the explanation beside the answer, "
            "try other words once, then say that the corpus has nothing on it.",
        ),
        Step(
            "Collect evidence",
            "For each sub-question call `find_passages(query=<the sub-question>, "
            "within=<paper_ids found>, limit=8)`. Keep the passage id, section and page of "
            "everything you will use; page null means that the page is not known.",
        ),
        Step(
            "Read around it",
            "Where a passage alone may mislead, call `read_passage(passage_id=<its id>, before=1, "
            "after=1)`. For methods or limits of a paper call `get_paper_source(paper_id=<id>, "
            "outline=true)`, then with section=<a heading>.",
        ),
        Step(
            "Follow citations",
            "For the two or three papers that matter most call `get_citations(paper_id=<id>, "
            "in_corpus=true)` to find others on the desk that you missed.",
        ),
        Step(
            "Check quotations",
            "Before you quote, call `locate_quote(text=<the quotation>)`; quote only what is "
            "exact, and give its page.",
        ),
        Step(
            "Keep the references",
            "`add_references(input=<paper_ids used>)` puts them into the library; say what was "
            "skipped or failed.",
        ),
        Step(
            "Cite",
            "`cite_references(ids=<paper_ids or passage ids>, style=<style>)` for the bibliography "
            "and, with kind=in_text, for citations with pages. Copy them as they are.",
        ),
        Step(
            "Leave a note",
            "If the person agrees, `save_knowledge(title=<the question>, content=<the findings "
            'with passage ids>, tags=["review"])`.',
        ),
    ),
    answer="Write: the answer in three sentences; findings by sub-question, each with passage id "
    "and page; where papers disagree, both sides; what the corpus does not say; the bibliography. "
    "Mark what is your inference. Cite nothing that no tool returned.",
)

DRAFT_BIBLIOGRAPHY = DeskJob(
    name="draft-bibliography",
    title="Bibliography of a draft",
    description="Find the works that a draft cites or should cite, check its quotations, and make "
    "its bibliography.",
    rooms=frozenset({"references"}),
    scopes=frozenset({"references:read"}),
    arguments=(
        PromptArgument("draft", "The draft, or a part of it, as text (up to 20,000 characters)"),
        _STYLE,
    ),
    defaults=(("style", "apa"),),
    quoted=frozenset({"draft"}),
    task="Make the bibliography of the draft at the end of this message, in the style {style}.",
    steps=(
        Step(
            "List what is cited",
            "Go through the draft: every citation such as (Smith, 2020), [3], a DOI or a title, "
            "and every claim that needs a source and has none.",
        ),
        Step(
            "Find the references",
            "For each call `search_references(query=<author and year, or title words>)`. Take one "
            "only if author, year and subject fit; if several fit, ask the person which.",
        ),
        Step(
            "Look in the papers",
            "For what the library lacks call `search_papers(query=<title or author:name "
            "year:2020>)`; for claims without a source `find_passages(query=<the claim>, limit=3)` "
            "and offer the passage with its page, as a suggestion.",
        ),
        Step(
            "Check quotations",
            "For every quotation in the draft call `locate_quote(text=<the quotation>)`. Report "
            "wrong words and wrong pages.",
        ),
        Step(
            "Add what is missing",
            "`add_references(input=<paper_ids, DOIs or BibTeX>)`. Look at skipped and failed in "
            "its answer, and say which works could not be found. Never write an entry from memory.",
        ),
        Step(
            "Format",
            "`cite_references(ids=<reference ids>, style=<style>)` for the bibliography, and with "
            'kind=in_text for each citation; a page is added to the id: "<id>, p. 5".',
        ),
        Step(
            "Hand over",
            "If the person works in LaTeX or Word, `export_references(format=<bibtex or ris>)`.",
        ),
    ),
    answer="Answer with: the bibliography, word for word as cite_references gave it; a table of "
    "each citation in the draft and the reference id it stands for; what is doubtful; what was not "
    "found.",
)

JOURNAL_CLUB = DeskJob(
    name="journal-club",
    title="Journal club",
    description="Prepare the discussion of one paper: what it claims, how well it is supported, "
    "and what to ask.",
    rooms=frozenset({"papers"}),
    scopes=frozenset({"papers:read"}),
    arguments=(
        PromptArgument("paper_id", "The paper: its paper_id, DOI or arXiv id"),
        PromptArgument("audience", "Who will discuss it; a mixed group if empty", False),
    ),
    defaults=(("audience", "a mixed group of researchers"),),
    task="Prepare a journal club on the paper {paper_id} for {audience}.",
    steps=(
        Step(
            "Identify the paper",
            "`get_paper_metadata(paper_id=<paper_id>)`. If it is not found, `search_papers("
            "query=<its title or author>)` and ask which one is meant. Say if it is marked as "
            "retracted, or if fields are inferred.",
        ),
        Step(
            "Read it",
            "`get_paper_source(paper_id=<paper_id>, outline=true)`, then section by section with "
            "section=<a heading>: aim, methods, results, limits. If there is no full text, say so "
            "and go on with the abstract alone.",
        ),
        Step(
            "Take the key passages",
            "`find_passages(query=<main claim, sample, limits>, within=[<paper_id>], limit=5)` for "
            "three to five sentences to show, each with passage id and page. Check each with "
            "`locate_quote(text=<the sentence>, within=[<paper_id>])`.",
        ),
        Step(
            "Place it",
            "`get_citations(paper_id=<paper_id>)`: what it builds on, who on the desk cites it. "
            "`find_passages(query=<its main claim>, limit=8)` shows papers that support or "
            "contradict it.",
        ),
        _LOOK_AT_NOTES,
        Step("Cite it", "`cite_references(ids=[<paper_id>], style=apa)` for the head of the page."),
        Step(
            "Leave a note",
            "If the person agrees, `save_knowledge(title=<Journal club and the title>, "
            'content=<the page>, tags=["journal-club"])`.',
        ),
    ),
    answer="Write one page: citation; the claim in one sentence; how it was tested; the main "
    "results with numbers and pages; strengths; weaknesses; what others on the desk say; five "
    "questions for discussion. Separate what the paper says (with page) from your own judgement.",
)

WEEKLY_DIGEST = DeskJob(
    name="weekly-digest",
    title="Weekly digest",
    description="What is new on the desk about your subjects: papers, notes and running research.",
    rooms=frozenset({"papers"}),
    scopes=frozenset({"papers:read"}),
    arguments=(
        PromptArgument("topics", "Subjects, separated by commas, such as: sleep, memory"),
        PromptArgument(
            "since", "Day of the last digest, such as 2026-11-09; a week ago if empty", False
        ),
    ),
    defaults=(("since", "a week ago"),),
    task="Write the digest of this desk since {since} on: {topics}",
    steps=(
        Step(
            "Read the last digest",
            '`search_knowledge(query="#digest", order=newest, limit=1)`. The paper_ids in it were '
            "reported already: leave them out.",
        ),
        Step(
            "Look for papers",
            "For each subject `search_papers(query=<the subject and year:THIS-YEAR..>, limit=10)`. "
            "The corpus does not say when a paper was added: new is what the last digest does not "
            "name.",
        ),
        Step(
            "Take one sentence from each",
            "`find_passages(query=<the subject and what was found>, within=[<paper_id>], limit=1)` "
            "for at most seven papers; keep passage id and page.",
        ),
        Step(
            "Look at notes",
            "`search_knowledge(query=<the subject>, order=newest, limit=5)`: notes since then.",
        ),
        Step(
            "Look at research",
            "`list_research_projects(limit=5)`; for those that run "
            "`get_research_status(research_id=<id>)`.",
        ),
        Step(
            "Keep the digest",
            "`save_knowledge(title=<Digest and today's date>, content=<the digest with all "
            'paper_ids>, tags=["digest"])`, so that the next one begins where this one ends.',
        ),
    ),
    answer="Write at most one page: per subject the new papers (title, year, one sentence with "
    "passage id and page, why it matters), then notes, then research. A subject with nothing new "
    "gets one line that says so.",
)

RESEARCH_RUN = DeskJob(
    name="research-run",
    title="Research run",
    description="From a goal to ranked hypotheses with the passages they rest on, checked by you "
    "and decided by a person.",
    rooms=frozenset({"research"}),
    scopes=frozenset({"research:read"}),
    arguments=(
        PromptArgument("goal", "What to find, in one sentence of at least 10 characters"),
        PromptArgument("hypothesis_count", "How many hypotheses, 1 to 100; 10 if empty", False),
    ),
    defaults=(("hypothesis_count", "10"),),
    task="Run research on: {goal}\nHypotheses wanted: {hypothesis_count}.",
    steps=(
        Step(
            "Look before you start",
            "`search_papers(query=<the subjects of the goal>, limit=5)`: with few or no papers on "
            "it the run cannot succeed; say so and stop. `list_research_projects(limit=10)` shows "
            "whether the same goal was run before.",
        ),
        Step(
            "Start",
            "`start_research(goal=<the goal>, hypothesis_count=<number>)`. A goal that is refused "
            "or not understood is told with the reason: mend it with the person.",
        ),
        Step(
            "Do the thinking",
            "`next_research_task(research_id=<research_id>)`, then `submit_research_task("
            "task_id=<task_id>, answer=<as answer_shape says>)` with every task that comes in "
            "next, until done. Without this there is only a draft, made by counting in the "
            "papers: `get_research_status(research_id=<research_id>)` follows it.",
        ),
        Step(
            "Read the best",
            "`list_hypotheses(research_id=<research_id>, limit=5)`, then "
            "`get_hypothesis(hypothesis_id=<id>)` for the first three: rationale, evidence, "
            "reviews, matches.",
        ),
        Step(
            "Try to refute",
            "`review_hypothesis(hypothesis_id=<id>, review_type=deep_verification)` for those "
            "three. Evidence that speaks_against counts as much as that which supports.",
        ),
        Step(
            "Check the evidence",
            "`find_passages(query=<the claimed link>, limit=5)`: does a paper say it already, or "
            "the opposite? Give passage id and page.",
        ),
        Step(
            "Report",
            "`get_results(research_id=<research_id>, format=summary, top_n=5)`.",
        ),
        Step(
            "Let the person decide",
            "Ask the person for a verdict on each. Only when they have given it: "
            "`approve_hypothesis(hypothesis_id=<id>, reason=<their reason>)` or "
            "`reject_hypothesis(hypothesis_id=<id>, reason=<their reason>)`.",
        ),
        Step(
            "Keep it",
            "`save_hypothesis_note(hypothesis_id=<id>)` for those that were approved.",
        ),
    ),
    answer="Report: the goal as it was understood; the three best with bridge, strongest sentence "
    "for and against (paper_id), how to test each, how sure the ranking is; what was not found. A "
    "hypothesis is a candidate, never a finding: say so.",
)

DESK_JOBS = (LITERATURE_REVIEW, DRAFT_BIBLIOGRAPHY, JOURNAL_CLUB, WEEKLY_DIGEST, RESEARCH_RUN)
