"""Which services a search asks: those named, those of the settings, or the usual ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from carrel.core.errors import InvalidInputError
from carrel.rooms.literature.asking import NotAsked
from carrel.rooms.literature.ports import LiteratureService, SearchService, SentRequest, ServiceCost

DEFAULT_SERVICES = ("openalex", "crossref", "pubmed", "europepmc", "arxiv")
KEYED_SERVICE = "semantic_scholar"
# Answers only who says how they can be reached.
CONTACTED_SERVICE = "unpaywall"
# Records that one request to a service that charges may ask for.
_RECORDS_A_REQUEST = 100
# What a request costs where no answer has said so yet: OpenAlex by its documentation of 2026.
DOCUMENTED_PRICES: Mapping[str, float] = {"openalex": 0.001}


@dataclass(frozen=True, slots=True)
class SearchPolicy:
    """What settings say of searches; no services named means the usual ones."""

    services: tuple[str, ...] = ()
    has_semantic_scholar_key: bool = False
    has_contact: bool = False
    timeout_seconds: float = 20.0
    max_cost_usd: float | None = None
    is_network_allowed: bool = True


@dataclass(frozen=True, slots=True)
class ServiceChoice:
    """The services to ask, and those that are not, each with its reason."""

    asked: Mapping[str, SearchService]
    not_asked: Sequence[NotAsked]


@dataclass(slots=True)
class PriceBook:
    """What a request costs at each service, by the last answer that said so."""

    _prices: dict[str, float] = field(default_factory=lambda: dict(DOCUMENTED_PRICES))

    def note(self, service: str, cost: ServiceCost, sent: Sequence[SentRequest]) -> None:
        paid = sum(not each.is_from_cache for each in sent)
        if cost.cost_usd is not None and paid:
            self._prices[service] = cost.cost_usd / paid

    def price(self, service: str, records: int) -> float:
        """What a search for so many records costs."""
        return self._prices.get(service, 0.0) * -(-records // _RECORDS_A_REQUEST)


def choose_services(
    named: Sequence[str],
    policy: SearchPolicy,
    known: Mapping[str, LiteratureService],
    prices: PriceBook,
    records: int = _RECORDS_A_REQUEST,
) -> ServiceChoice:
    """The services that a search for so many records asks.

    Raises InvalidInputError for a name that is no service, or one that cannot be searched.
    """
    searchable = {
        name: cast(SearchService, service)
        for name, service in known.items()
        if hasattr(service, "search")
    }
    _check_names(named, "services", searchable)
    _check_names(policy.services, "literature.services", searchable)
    wanted = set(named) or set(policy.services) or _usual_services(policy)
    asked: dict[str, SearchService] = {}
    not_asked: list[NotAsked] = []
    left = policy.max_cost_usd
    for name, service in searchable.items():
        if name not in wanted:
            not_asked.append(NotAsked(name, _why_not(name, named, policy)))
            continue
        price = prices.price(name, records)
        if left is not None and price > left:
            reason = (
                f"A search there costs ${price:g}, more than is left of literature.max_cost_usd "
                f"(${policy.max_cost_usd:g})"
            )
            not_asked.append(NotAsked(name, reason, is_wanted=True))
            continue
        left = None if left is None else left - price
        asked[name] = service
    return ServiceChoice(asked, not_asked)


def _usual_services(policy: SearchPolicy) -> set[str]:
    keyed = {KEYED_SERVICE} if policy.has_semantic_scholar_key else set()
    return {*DEFAULT_SERVICES, *keyed}


def _why_not(name: str, named: Sequence[str], policy: SearchPolicy) -> str:
    if named:
        return "not among the services of this call"
    if name == KEYED_SERVICE and not policy.has_semantic_scholar_key:
        return "it hardly answers without a key: set literature.semantic_scholar_api_key"
    if policy.services:
        return "not in literature.services"
    return "not asked unless named in services"


def _check_names(names: Sequence[str], where: str, searchable: Mapping[str, object]) -> None:
    unknown = sorted(set(names) - set(searchable))
    if unknown:
        raise InvalidInputError(
            f"{where}: {', '.join(unknown)} cannot be searched",
            next_step=f"Name some of {', '.join(searchable)}.",
            details={"unknown": unknown, "services": list(searchable)},
        )
