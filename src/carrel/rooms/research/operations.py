"""The operations of the research room."""

from __future__ import annotations

import json
from typing import cast

from carrel.core.answer import Job, Partial, Text
from carrel.core.caller import Call
from carrel.core.decorators import operation
from carrel.core.note_links import NoNotes, NotesAbout, find_notes
from carrel.core.operation import Effect
from carrel.rooms.research.inert_text import inert_values
from carrel.rooms.research.jobs import SCOPES_OF
from carrel.rooms.research.models import (
    DecideGoal,
    DecideHypothesis,
    DeleteResearch,
    EvolveHypothesis,
    ExportResearch,
    GenerateHypotheses,
    GetHypothesis,
    GetResearchStatus,
    GetResults,
    GoalUnderstood,
    HypothesisInFull,
    HypothesisRow,
    HypothesisShown,
    ImportHypotheses,
    ImportReport,
    ListHypotheses,
    ListResearchProjects,
    OneProject,
    ProjectChanged,
    ProjectSummary,
    RankHypotheses,
    RateHypothesis,
    ResearchStatus,
    Results,
    ReviewHypothesis,
    ReviewShown,
    StartedResearch,
    StartResearch,
    SubmitHypothesis,
    SubmittedHypothesis,
    UnderstandGoal,
)
from carrel.rooms.research.quoting import (
    quoted_in_hypotheses,
    quoted_in_results,
    quoted_in_status,
    quoted_project,
)
from carrel.rooms.research.service import ResearchRoom
from carrel.rooms.research.work_notices import (
    NoPaperNotices,
    NoticesOfPapers,
    add_to_hypothesis,
    add_to_review,
)

_PATIENT_SECONDS = 120.0
# What a job answers follows from its kind, which types cannot say: hence the casts below.


class ResearchOperations:
    """The operations of the research room, over its service."""

    def __init__(
        self,
        research: ResearchRoom,
        notes: NotesAbout | None = None,
        notices: NoticesOfPapers | None = None,
    ) -> None:
        self._research = research
        self._notes = notes or NoNotes()
        self._notices = notices or NoPaperNotices()

    @operation(
        title="Start research",
        description=(
            "Start a project on a goal: hypotheses are generated, reviewed, ranked in a "
            "tournament and the best evolved, in the background. Answers at once with "
            "research_id; follow it with get_research_status."
        ),
        scopes=frozenset({"research:write"}),
        effect=Effect.WRITES,
        command="start",
        timeout_seconds=_PATIENT_SECONDS,
        phrases=(
            "start a research project; generate new hypotheses for a goal; begin a co-scientist "
            "run; investigate a question; investigate the causes of …; new research project on …; "
            "find out why …; research … and come up with ideas; think about why …; set up a new "
            "investigation of …; let the co-scientist work on …; look into the question why …; "
            "find an explanation of …"
        ),
    )
    async def start_research(self, question: StartResearch, call: Call) -> StartedResearch:
        return await self._research.start(question, call)

    @operation(
        title="Understand a goal",
        description=(
            "How a goal would be read, without starting: subjects with their papers, what is "
            "asked for, constraints kept or not, and questions back."
        ),
        scopes=frozenset({"research:read"}),
        command="understand",
        is_listed=False,
        timeout_seconds=_PATIENT_SECONDS,
        phrases=(
            "how would you read this goal; check a research goal before starting; dry run of a "
            "goal; is this goal covered by my papers; what would be searched for this goal; "
            "preview how the goal is understood"
        ),
    )
    async def understand_goal(self, question: UnderstandGoal, call: Call) -> GoalUnderstood:
        return await self._research.understand(question)

    @operation(
        title="Get research status",
        description=("How far a project is: progress, counts, the leading hypothesis, time left."),
        scopes=frozenset({"research:read"}),
        quotes=quoted_in_status,
        command="status",
        timeout_seconds=_PATIENT_SECONDS,
        phrases=(
            "how far is the research; progress of a project; is the run finished; is the project "
            "still running; is it still working on the hypotheses; how long will the run take; "
            "when will it be finished; what is the run doing"
        ),
    )
    async def get_research_status(self, question: GetResearchStatus, call: Call) -> ResearchStatus:
        return await self._research.status(question, call)

    @operation(
        title="List research projects",
        description="Your projects, newest first.",
        scopes=frozenset({"research:read"}),
        command="list",
        timeout_seconds=_PATIENT_SECONDS,
        phrases=(
            "list my projects; which research is running; all research projects; show all my "
            "projects; which research projects do I have; which investigations have I started; my "
            "earlier projects; names of my projects; overview of my runs"
        ),
    )
    async def list_research_projects(
        self, question: ListResearchProjects, call: Call
    ) -> list[ProjectSummary]:
        return await self._research.list_projects(question, call)

    @operation(
        title="Generate hypotheses",
        description=(
            "New hypotheses with rationale, protocol and the papers they rest on. Waits; a long "
            "job answers with what is done and a job_id."
        ),
        scopes=SCOPES_OF["generate"],
        effect=Effect.WRITES,
        quotes=quoted_in_hypotheses,
        command="generate",
        timeout_seconds=_PATIENT_SECONDS,
        phrases=(
            "more hypotheses; generate further ideas; propose additional hypotheses; brainstorm "
            "more ideas; five more hypotheses; generate another hypothesis; give me more ideas; "
            "ten more ideas"
        ),
    )
    async def generate_hypotheses(
        self, question: GenerateHypotheses, call: Call
    ) -> list[HypothesisShown] | Partial | Job:
        return cast(
            list[HypothesisShown] | Partial | Job,
            await self._research.generate(question, call),
        )

    @operation(
        title="Evolve a hypothesis",
        description="A new hypothesis made from one; the original stays for comparison.",
        scopes=SCOPES_OF["evolve"],
        effect=Effect.WRITES,
        quotes=quoted_in_hypotheses,
        command="evolve",
        timeout_seconds=_PATIENT_SECONDS,
        phrases=(
            "improve a hypothesis; combine two hypotheses; simplify a hypothesis; refine an idea; "
            "make a hypothesis simpler; merge hypotheses into one; make a hypothesis stronger; "
            "develop a hypothesis further; better version of a hypothesis; make an idea more "
            "concrete; rework an idea"
        ),
    )
    async def evolve_hypothesis(
        self, question: EvolveHypothesis, call: Call
    ) -> HypothesisShown | Job:
        return cast(
            HypothesisShown | Job,
            await self._research.evolve(question, call),
        )

    @operation(
        title="List hypotheses",
        description=("A project's hypotheses by Elo, best first; get_hypothesis has one in full."),
        scopes=frozenset({"hypotheses:read", "research:read"}),
        quotes=quoted_in_hypotheses,
        command="hypotheses",
        timeout_seconds=_PATIENT_SECONDS,
        phrases=(
            "list the hypotheses; show the ranking of ideas; best hypotheses so far; top "
            "hypotheses by Elo rating; what hypotheses are there; all hypotheses of a project; "
            "which ideas came out on top; ideas of the project in order; all ideas so far"
        ),
    )
    async def list_hypotheses(self, question: ListHypotheses, call: Call) -> list[HypothesisRow]:
        return await self._research.list_hypotheses(question, call)

    @operation(
        title="Get a hypothesis",
        description=(
            "One in full: rationale, protocol, the sentences it rests on, every review and "
            "match with its reasons."
        ),
        scopes=frozenset({"hypotheses:read"}),
        quotes=quoted_in_hypotheses,
        command="hypothesis",
        timeout_seconds=_PATIENT_SECONDS,
        phrases=(
            "one hypothesis in full; details of a hypothesis; evidence for a hypothesis; show the "
            "protocol of a hypothesis; show hypothesis in detail; read one hypothesis; which "
            "evidence backs this idea; read an idea in full; how would one test this idea"
        ),
    )
    async def get_hypothesis(self, question: GetHypothesis, call: Call) -> HypothesisInFull:
        found = await self._research.get_hypothesis(question.hypothesis_id, call)
        found = await add_to_hypothesis(found, self._notices)
        notes = await find_notes(self._notes, [f"hypothesis:{found.id}"], call.caller)
        return found.model_copy(update={"notes": notes}) if notes else found

    @operation(
        title="Review a hypothesis",
        description=(
            "Review for plausibility, novelty, testability and safety: scores from 0 to 1 with "
            "their reasons and citations."
        ),
        scopes=SCOPES_OF["review"],
        effect=Effect.WRITES,
        quotes=quoted_in_hypotheses,
        command="review",
        timeout_seconds=_PATIENT_SECONDS,
        phrases=(
            "review a hypothesis; criticise an idea; check a hypothesis against the literature; "
            "verify a hypothesis; peer review of a hypothesis; is a hypothesis novel and "
            "feasible; weaknesses of a hypothesis; what is wrong with this hypothesis; flaws of "
            "an idea; is this idea new; critical look at a hypothesis"
        ),
    )
    async def review_hypothesis(self, question: ReviewHypothesis, call: Call) -> ReviewShown | Job:
        found = cast(ReviewShown | Job, await self._research.review(question, call))
        return (
            await add_to_review(found, self._notices) if isinstance(found, ReviewShown) else found
        )

    @operation(
        title="Rank hypotheses",
        description=(
            "Compare a project's hypotheses pair by pair; answers all with new Elo scores, best "
            "first. Review before ranking."
        ),
        scopes=SCOPES_OF["rank"],
        effect=Effect.WRITES,
        quotes=quoted_in_hypotheses,
        command="rank",
        timeout_seconds=_PATIENT_SECONDS,
        phrases=(
            "rank hypotheses; run a tournament; compare two hypotheses; which idea is better; "
            "which hypothesis is best; pairwise comparison of hypotheses; let hypotheses compete; "
            "put ideas against each other; let two ideas compete"
        ),
    )
    async def rank_hypotheses(
        self, question: RankHypotheses, call: Call
    ) -> list[HypothesisRow] | Partial | Job:
        return cast(
            list[HypothesisRow] | Partial | Job,
            await self._research.rank(question, call),
        )

    @operation(
        title="Get results",
        description=(
            "What a project found, as fields and as Markdown, with its bibliography as CSL-JSON "
            "and BibTeX."
        ),
        scopes=frozenset({"research:read", "hypotheses:generate"}),
        quotes=quoted_in_results,
        command="results",
        next_command="carrel research export RESEARCH_ID writes a report.",
        timeout_seconds=_PATIENT_SECONDS,
        phrases=(
            "results of the research; final report; summary of findings; write NIH specific aims; "
            "outcome of the project; what came out of the research; what did the project find; "
            "what did the co-scientist conclude; conclusions of the run; what was found"
        ),
    )
    async def get_results(self, question: GetResults, call: Call) -> Results:
        return await self._research.results(question, call)

    @operation(
        title="Submit a hypothesis",
        description=(
            "A person's own hypothesis; a running project reviews and ranks it, else next_step "
            "names the calls."
        ),
        scopes=frozenset({"hypotheses:generate"}),
        effect=Effect.WRITES,
        command="submit",
        timeout_seconds=_PATIENT_SECONDS,
        is_listed=False,
        phrases=(
            "add my own hypothesis; submit an idea of mine; enter a hypothesis by hand; put in my "
            "own hypothesis; I have an idea of my own; add an idea of my own to the project; "
            "contribute my hypothesis"
        ),
    )
    async def submit_hypothesis(
        self, question: SubmitHypothesis, call: Call
    ) -> SubmittedHypothesis:
        return await self._research.submit(question, call)

    @operation(
        title="Rate a hypothesis",
        description="A person's own score for a hypothesis, kept as a review.",
        scopes=frozenset({"reviews:write"}),
        effect=Effect.WRITES,
        command="rate",
        timeout_seconds=_PATIENT_SECONDS,
        is_listed=False,
        phrases=(
            "rate a hypothesis; give a hypothesis a score; score an idea from one to ten; give "
            "points out of ten; my own rating of a hypothesis; hypothesis gets … points from me; "
            "give this hypothesis … out of 10; give an idea … out of ten; my mark for an idea"
        ),
    )
    async def rate_hypothesis(self, question: RateHypothesis, call: Call) -> ReviewShown:
        return await self._research.rate(question, call)

    @operation(
        title="Approve a hypothesis",
        description="A person approves; results say so.",
        scopes=frozenset({"reviews:write"}),
        effect=Effect.WRITES,
        command="approve",
        timeout_seconds=_PATIENT_SECONDS,
        is_listed=False,
        phrases=(
            "approve a hypothesis; mark an idea as good; accept a hypothesis; sign off a "
            "hypothesis; I agree with a hypothesis; I like this hypothesis; keep this idea; this "
            "idea is good"
        ),
    )
    async def approve_hypothesis(self, question: DecideHypothesis, call: Call) -> HypothesisRow:
        return await self._research.decide(question, call, "approved")

    @operation(
        title="Reject a hypothesis",
        description="A person rejects; it stays visible and plays no more.",
        scopes=frozenset({"reviews:write"}),
        effect=Effect.WRITES,
        command="reject",
        timeout_seconds=_PATIENT_SECONDS,
        is_listed=False,
        phrases=(
            "reject a hypothesis; discard an idea; mark a hypothesis as bad; rule out a "
            "hypothesis; turn down an idea; a hypothesis is nonsense; this idea is rubbish; drop "
            "an idea; I do not believe this hypothesis"
        ),
    )
    async def reject_hypothesis(self, question: DecideHypothesis, call: Call) -> HypothesisRow:
        return await self._research.decide(question, call, "rejected")

    @operation(
        title="Approve a goal",
        description="A person lets a held project start; who and why is kept. Administrators only.",
        scopes=frozenset({"admin"}),
        effect=Effect.WRITES,
        command="approve-goal",
        next_command="carrel research watch RESEARCH_ID goes on with it and shows it.",
        timeout_seconds=_PATIENT_SECONDS,
        is_listed=False,
        is_for_people=True,
        phrases=(
            "approve a goal; let a held project start; allow a goal that waits for approval; "
            "release a project that is held; sign off a goal"
        ),
    )
    async def approve_goal(self, question: DecideGoal, call: Call) -> ProjectChanged:
        return await self._research.approve_goal(question, call)

    @operation(
        title="Reject a goal",
        description="A person ends a held project; who and why is kept. Administrators only.",
        scopes=frozenset({"admin"}),
        effect=Effect.WRITES,
        command="reject-goal",
        timeout_seconds=_PATIENT_SECONDS,
        is_listed=False,
        is_for_people=True,
        phrases=(
            "reject a goal; turn down a goal that waits for approval; refuse a held project; "
            "do not let a held goal start"
        ),
    )
    async def reject_goal(self, question: DecideGoal, call: Call) -> ProjectChanged:
        return await self._research.reject_goal(question, call)

    @operation(
        title="Pause research",
        description="Stop a project's work after its last finished step.",
        scopes=frozenset({"research:write"}),
        effect=Effect.WRITES,
        command="pause",
        timeout_seconds=_PATIENT_SECONDS,
        is_listed=False,
        phrases=(
            "pause a project; stop the research for now; halt the run for a while; put the "
            "project on hold; interrupt the research; hold the run until later; stop for today; "
            "let the run rest; take a break from the project"
        ),
    )
    async def pause_research(self, question: OneProject, call: Call) -> ProjectChanged:
        return await self._research.pause(question.research_id, call)

    @operation(
        title="Resume research",
        description="Go on with a paused or failed project.",
        scopes=frozenset({"research:write"}),
        effect=Effect.WRITES,
        command="resume",
        timeout_seconds=_PATIENT_SECONDS,
        is_listed=False,
        phrases=(
            "resume a project; continue paused research; go on with the run; proceed with a "
            "paused project; pick up the research again; take the project up again; unpause; let "
            "a paused run go on; continue where the run stopped; start the run again"
        ),
    )
    async def resume_research(self, question: OneProject, call: Call) -> ProjectChanged:
        return await self._research.resume(question.research_id, call)

    @operation(
        title="Cancel research",
        description="End a project's work; what was found stays.",
        scopes=frozenset({"research:write"}),
        effect=Effect.WRITES,
        command="cancel",
        timeout_seconds=_PATIENT_SECONDS,
        is_listed=False,
        phrases=(
            "cancel a project; stop a run for good; abort research; call off a project; stop the "
            "project and keep what was found; stop the investigation altogether; end the project "
            "for ever"
        ),
    )
    async def cancel_research(self, question: OneProject, call: Call) -> ProjectChanged:
        return await self._research.cancel(question.research_id, call)

    @operation(
        title="Delete research",
        description="Delete a project for good. Needs force: true.",
        scopes=frozenset({"research:write"}),
        effect=Effect.DESTROYS,
        command="delete",
        timeout_seconds=_PATIENT_SECONDS,
        is_listed=False,
        phrases=(
            "delete a project; remove a research project and its hypotheses; get rid of a "
            "project; erase a project and everything in it; erase a project; project is no longer "
            "needed"
        ),
    )
    async def delete_research(self, question: DeleteResearch, call: Call) -> ProjectChanged:
        return await self._research.delete(question, call)

    @operation(
        title="Export research",
        description="All of a project: json with every step, or a markdown or html report.",
        scopes=frozenset({"research:read", "hypotheses:read", "reviews:read"}),
        quotes=quoted_project,
        command="export",
        timeout_seconds=_PATIENT_SECONDS,
        is_listed=False,
        phrases=(
            "export a project as a report; download the research as HTML or Markdown; save the "
            "research report to a file; whole project as JSON; project as a Markdown file; "
            "project report as a web page; report of the project for my group; give me the report "
            "as a file"
        ),
    )
    async def export_research(self, question: ExportResearch, call: Call) -> Text:
        match question.format:
            case "json":
                whole = await self._research.export(question.research_id, call)
                return Text(
                    json.dumps(inert_values(whole), ensure_ascii=False, indent=1),
                    "application/json",
                )
            case "markdown":
                asked = GetResults(research_id=question.research_id, format="detailed", top_n=200)
                results = await self._research.results(asked, call)
                return Text(results.markdown, "text/markdown")
            case "html":
                return Text(
                    await self._research.html_report(question.research_id, call), "text/html"
                )

    @operation(
        title="Import hypotheses",
        description="Hypotheses of the earlier system become a project; Elo is kept.",
        scopes=frozenset({"research:write", "hypotheses:generate"}),
        effect=Effect.WRITES,
        timeout_seconds=_PATIENT_SECONDS,
        is_listed=False,
        phrases=(
            "import hypotheses from the earlier system; load hypotheses.json; bring in old "
            "hypotheses; hypotheses from a file; hypotheses of a previous run; ideas from a "
            "former tool; take over hypotheses from another system"
        ),
    )
    async def import_hypotheses(self, question: ImportHypotheses, call: Call) -> ImportReport:
        return await self._research.import_hypotheses(question, call)
