"""Finds the open text of a work: asks where it is, tries the places in order, and reads it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from carrel.core.caller import Call
from carrel.core.clock import Clock
from carrel.core.errors import InsufficientPermissionsError, NotFoundError
from carrel.libraries.identifiers import ArxivId, Doi, Identifier
from carrel.libraries.literature.arxiv import find_locations
from carrel.libraries.literature.csl_items import work_as_csl
from carrel.libraries.literature.merging import merge_records
from carrel.libraries.literature.records import (
    ServiceRecord,
    TextLocation,
    WorkIds,
    WorkRecord,
)
from carrel.libraries.literature.work_names import OwnName, has_name, list_identifiers
from carrel.libraries.text.folding import fold_text
from carrel.libraries.text.words import split_words
from carrel.libraries.works.titles import squash_title, title_likeness
from carrel.rooms.literature.asking import NotAsked
from carrel.rooms.literature.coverage import join_names, raise_unavailable
from carrel.rooms.literature.errors import NetworkForbiddenError
from carrel.rooms.literature.fulltext_models import (
    FindFulltext,
    FullText,
    TextInCorpus,
    TextSource,
    TriedPlace,
    WantedFormat,
)
from carrel.rooms.literature.fulltext_places import Place, list_places
from carrel.rooms.literature.fulltext_ports import (
    FetchedText,
    ShelvedText,
    TextAdditions,
    TextFetcher,
    TextNotHadError,
    TextShelf,
)
from carrel.rooms.literature.lookup import LiteratureLookup, read_name
from carrel.rooms.literature.ports import ServiceCatalogue
from carrel.rooms.literature.work_records import KnownWork, WorkRecords

WRITE_PAPERS = "papers:write"
# Who knows where open texts are; the first two give texts themselves.
TEXT_SERVICES = (
    "europepmc", "arxiv", "biorxiv", "openalex", "unpaywall", "crossref", "semantic_scholar",
)  # fmt: skip
_EVER = "9999"
_MOST_TRIED = 12
# Titles less alike than this are not versions of one title; as merging tells conflicts.
_ALIKE = 0.6
# The first page of a PDF, with its title.
_BEGINNING_CHARACTERS = 4_000
_KEYED = "semantic_scholar"


@dataclass(frozen=True, slots=True)
class TextPolicy:
    """What settings say of looking for texts."""

    timeout_seconds: float = 20.0
    # For all places: with the services before and the corpus after it, within the operation's time.
    total_seconds: float = 200.0
    is_network_allowed: bool = True
    has_semantic_scholar_key: bool = False
    has_contact: bool = True
    arxiv_texts_url: str = "https://arxiv.org"


@dataclass(frozen=True, slots=True)
class _Attempt:
    """What was tried, and the text if one was had."""

    text: FetchedText | None
    places: list[TriedPlace]


class OpenTexts:
    """Open texts of works, read as Markdown and put into the corpus where that is asked for."""

    def __init__(
        self,
        services: ServiceCatalogue,
        lookup: LiteratureLookup,
        fetcher: TextFetcher,
        shelf: TextShelf,
        additions: TextAdditions,
        policy: TextPolicy,
        clock: Clock,
    ) -> None:
        self._records = WorkRecords(services, policy.timeout_seconds)
        self._services = services
        self._lookup = lookup
        self._fetcher = fetcher
        self._shelf = shelf
        self._additions = additions
        self._policy = policy
        self._clock = clock

    async def find(self, question: FindFulltext, call: Call) -> FullText:
        """The text, or what is known of it.

        Raises InsufficientPermissionsError where the text shall go into the corpus and the caller
        may not write there, NetworkForbiddenError, LiteratureUnavailableError where no service
        answered, NotFoundError where all know no such work.
        """
        needed = frozenset({WRITE_PAPERS})
        if question.add_to_corpus and not needed <= call.caller.scopes:
            raise InsufficientPermissionsError(needed, call.caller.scopes)
        if not self._policy.is_network_allowed:
            raise NetworkForbiddenError
        identifier = await self._identify(question.identifier)
        key = f"{type(identifier).__name__}:{identifier} {question.format}"
        shelved = await self._shelf.find(key)
        if shelved is not None:
            places = [TriedPlace.model_validate(each) for each in shelved.places]
            return await self._answer(question, identifier, shelved, places, None, call)
        known = await self._find_records(identifier)
        self._refuse_unknown(identifier, known)
        attempt = await self._try_places(known, question.format, call)
        item = await asyncio.to_thread(_describe_work, known, identifier)
        if attempt.text is None:
            return _explain_absence(identifier, item, known, attempt.places)
        shelved = ShelvedText(
            attempt.text, item, tuple(each.model_dump(mode="json") for each in attempt.places)
        )
        await self._shelf.put(key, shelved)
        return await self._answer(question, identifier, shelved, attempt.places, known, call)

    async def add_text(self, identifier: str, call: Call) -> tuple[str | None, str]:
        """Puts the open text into the corpus: the paper, or None, and a sentence. Raises as `find`.

        While the text is still being added, there is no paper yet.
        """
        question = FindFulltext(identifier=identifier, add_to_corpus=True, max_chars=1)
        found = await self.find(question, call)
        if found.in_corpus is None:
            return None, found.message
        if found.in_corpus.job_id is not None:
            return None, f"The text is being added by the job {found.in_corpus.job_id}"
        said = describe_source(found.source) if found.source is not None else found.message
        return found.in_corpus.paper_id, said

    async def _identify(self, text: str) -> Identifier:
        """The identifier; a service's own name is looked up there first."""
        name = read_name(text)
        if not isinstance(name, OwnName):
            return name
        found = await self._lookup.find(name)
        identifiers = [] if found.work is None else list_identifiers(found.work.work.ids)
        if not identifiers:
            raise NotFoundError("work", str(name), next_step="Send its DOI or arXiv id instead.")
        return identifiers[0]

    async def _find_records(self, identifier: Identifier) -> KnownWork:
        policy = self._policy
        not_asked: list[NotAsked] = []
        names = list(TEXT_SERVICES)
        if not policy.has_semantic_scholar_key:
            names.remove(_KEYED)
            reason = "it hardly answers without a key: set literature.semantic_scholar_api_key"
            not_asked.append(NotAsked(_KEYED, reason))
        if not policy.has_contact:
            names.remove("unpaywall")
            not_asked.append(NotAsked("unpaywall", "it wants an address: set literature.contact"))
        return await self._records.find(identifier, names, not_asked)

    def _refuse_unknown(self, identifier: Identifier, known: KnownWork) -> None:
        if known.records or known.locations or isinstance(identifier, ArxivId):
            return
        titles = {name: service.title for name, service in self._services.all().items()}
        if known.failures:
            message = f"No service that answered knows {identifier}"
            raise_unavailable(message, known.failures, known.coverage, titles)
        raise NotFoundError(
            "work",
            str(identifier),
            next_step="Check the identifier; search_literature finds works by their titles.",
        )

    async def _try_places(self, known: KnownWork, wanted: WantedFormat, call: Call) -> _Attempt:
        places = list_places(self._locations(known), wanted)
        tried: list[TriedPlace] = []
        text: FetchedText | None = None
        deadline = self._clock.monotonic() + self._policy.total_seconds
        for number, place in enumerate(places):
            if text is not None:
                tried.append(_tried(place, "not_tried", ""))
                continue
            left = deadline - self._clock.monotonic()
            if number >= _MOST_TRIED or left <= 0:
                tried.append(_tried(place, "not_tried", "too many places or too long"))
                continue
            await call.report_progress(number, len(places), f"trying {place.location.url}")
            try:
                async with asyncio.timeout(left):
                    text = _check_work(await self._fetch(place), known)
                tried.append(_tried(place, "had", ""))
            except TimeoutError:
                tried.append(_tried(place, "failed", "No text came within the time there was"))
            except TextNotHadError as error:
                tried.append(_tried(place, error.outcome, error.reason))
        return _Attempt(text, tried)

    async def _fetch(self, place: Place) -> FetchedText:
        location = place.location
        if location.format == "landing_page":
            link = await self._fetcher.find_link(location.url)
            location = replace(location, url=link, format="pdf")
        return await self._fetcher.fetch(location)

    def _locations(self, known: KnownWork) -> list[TextLocation]:
        """What services named, and arXiv's texts whatever its own service said."""
        found = [location for record in known.records for location in record.work.locations]
        found += known.locations
        for each in known.identifiers():
            if isinstance(each, ArxivId):
                # Older papers have HTML as well by now; where there is none, that is soon said.
                found += find_locations(each, _EVER, self._policy.arxiv_texts_url)
        return found

    async def _answer(
        self,
        question: FindFulltext,
        identifier: Identifier,
        shelved: ShelvedText,
        places: list[TriedPlace],
        known: KnownWork | None,
        call: Call,
    ) -> FullText:
        text = shelved.text
        added = None
        if question.add_to_corpus:
            kept = await self._additions.add(text, shelved.item, call)
            added = TextInCorpus(
                paper_id=kept.paper_id,
                is_new=kept.is_new,
                notes=list(kept.notes),
                job_id=kept.job_id,
                next_step="get_job with this job_id tells when it is added." if kept.job_id else "",
            )
        total = len(text.markdown)
        end = min(total, question.offset + question.max_chars)
        return FullText(
            identifier=str(identifier),
            title=str(shelved.item.get("title") or text.title),
            message=_describe_text(text, question, total, known is None),
            outcome="found",
            text_markdown=text.markdown[question.offset : end],
            total_chars=total,
            next_offset=end if end < total else None,
            source=TextSource(
                url=text.url,
                format=text.format,
                version=text.version,
                licence=text.licence,
                sha256=text.sha256,
                size_bytes=text.size_bytes,
                retrieved_at=text.retrieved_at,
                service=text.service,
            ),
            in_corpus=added,
            remarks=list(text.remarks),
            places=places,
            coverage=[] if known is None else list(known.coverage),
        )


def _check_work(text: FetchedText, known: KnownWork) -> FetchedText:
    """The text, unless its own DOI and title are another work's; another title alone is told.

    Titles of PDFs are often read wrongly; then the text names the title or the people elsewhere.
    """
    titles = [record.work.title for record in known.records if record.work.title]
    if not titles or not text.title:
        return text
    own = squash_title(text.title)
    likeness = max(title_likeness(own, squash_title(title)) for title in titles)
    if likeness >= _ALIKE:
        return text
    dois = {each.value for each in known.identifiers() if isinstance(each, Doi)}
    if text.doi is not None and text.doi not in dois:
        raise TextNotHadError(
            "unreadable", f"It is the text of another work: {text.title[:200]} ({text.doi})"
        )
    if text.format == "pdf" and not _may_be_of(text.markdown, known):
        raise TextNotHadError("unreadable", f"It is the text of another work: {text.title[:200]}")
    remark = f"The title that was read from the file is {text.title[:200]!r}"
    return replace(text, remarks=(*text.remarks, remark))


def _may_be_of(markdown: str, known: KnownWork) -> bool:
    """Whether a text names one of the people, or its beginning most words of a title."""
    works = [record.work for record in known.records]
    families = {fold_text(each.family) for work in works for each in work.authors if each.family}
    words = {fold_text(word) for word in split_words(markdown)}
    if not families or any(words.issuperset(split_words(family)) for family in families):
        return True
    beginning = {fold_text(word) for word in split_words(markdown[:_BEGINNING_CHARACTERS])}
    titles = [{fold_text(word) for word in split_words(work.title)} for work in works]
    return any(title and len(title & beginning) >= _ALIKE * len(title) for title in titles)


def _tried(place: Place, outcome: Any, reason: str) -> TriedPlace:
    location = place.location
    return TriedPlace(
        url=location.url,
        format=location.format,
        version=location.version,
        licence=location.licence,
        named_by=list(place.named_by),
        outcome=outcome,
        reason=reason,
    )


def _describe_work(known: KnownWork, identifier: Identifier) -> dict[str, Any]:
    """The work as a CSL item: of the version that was asked for."""
    own = WorkIds()
    chosen = _own_work(known.records, identifier)
    if chosen is None:
        if isinstance(identifier, ArxivId):
            own = WorkIds(doi=identifier.doi, arxiv=identifier.value)
        return dict(work_as_csl(WorkRecord(ids=own)))
    return dict(work_as_csl(chosen))


def _own_work(records: Sequence[ServiceRecord], identifier: Identifier) -> WorkRecord | None:
    merged = merge_records(records)
    exact = (each.work for each in merged if has_name(each.work.ids, identifier))
    return next(exact, merged[0].work if merged else None)


def describe_source(source: TextSource) -> str:
    """What kind of text it is: `published version, jats, cc-by`."""
    version = f"{source.version} version" if source.version else "version not named"
    return f"{version}, {source.format}, {source.licence or 'licence not stated'}"


def _describe_text(text: FetchedText, question: FindFulltext, total: int, is_kept: bool) -> str:
    version = f"the {text.version} version" if text.version else "a version that nobody names"
    licence = f"under {text.licence}" if text.licence else "its licence is not stated"
    said = f"Text of {version} ({text.format}, {licence}), {total:,} characters"
    if is_kept:
        said += f"; fetched {text.retrieved_at[:10]}, nothing was asked again"
    if question.offset >= total:
        return f"{said}. Offset {question.offset:,} is past the end."
    end = question.offset + question.max_chars
    return f"{said}. Read on with offset {end}." if end < total else f"{said}."


def _explain_absence(
    identifier: Identifier, item: dict[str, Any], known: KnownWork, places: list[TriedPlace]
) -> FullText:
    """Why there is no text: nobody knows one, no place gave it, or not everybody answered."""
    failed = [each.service for each in known.failures]
    open_places = [each for each in places if each.outcome not in {"absent", "no_link"}]
    unanswered = [each for each in places if each.outcome in {"failed", "not_tried"}]
    outcome: str
    if failed:
        outcome = "not_known"
        message = f"No text was had, and {join_names(failed)} did not answer: there may be one."
    elif unanswered:
        outcome = "not_known"
        message = f"No text was had; {len(unanswered)} of {len(places)} places did not answer."
    elif open_places:
        outcome = "not_had"
        message = f"Open places are known, and none of {len(places)} gave a text that can be read."
    else:
        outcome = "no_open_text"
        message = "No open text is known; every service that was asked answered."
    return FullText(
        identifier=str(identifier),
        title=str(item.get("title") or ""),
        message=message,
        outcome=cast(Any, outcome),
        places=places,
        coverage=list(known.coverage),
    )
