"""Options of clauses, read and bounded: the same words mean the same in every clause."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from carrel.libraries.query.elasticsearch.clauses import Fuzziness, Scalar
from carrel.libraries.query.errors import UnsupportedClauseError, invalid_clause

MAX_VALUES = 1024
MAX_TEXT_CHARACTERS = 2000
MAX_EXPANSIONS = 1024

Body = Mapping[str, Any]


def require_object(
    node: object, where: str, known: Collection[str] | None = None
) -> dict[str, Any]:
    """The options of a clause; QueryError where it is no object or has an unknown option."""
    if not isinstance(node, Mapping):
        raise invalid_clause(where, f"[{where}] must be an object")
    for option in node:
        if known is not None and option not in known:
            raise UnsupportedClauseError(str(option), where, known)
    return dict(node)


def single_entry(node: object, where: str) -> tuple[str, object]:
    if not isinstance(node, Mapping) or len(node) != 1:
        raise invalid_clause(where, f"a clause in {where} must be an object with one name")
    ((name, inside),) = node.items()
    return str(name), inside


def field_options(
    inside: object, where: str, main: str, known: Collection[str]
) -> tuple[str, dict[str, Any]]:
    """`{"field": "text"}` and `{"field": {"query": "text", …}}` mean the same."""
    field, options = single_entry(inside, where)
    if isinstance(options, Mapping):
        return field, require_object(options, where, known)
    return field, {main: options}


def read_scalar(value: object, where: str) -> Scalar:
    if not isinstance(value, str | int | float | bool):
        raise invalid_clause(where, f"[{where}] needs a text or a number")
    if isinstance(value, str) and len(value) > MAX_TEXT_CHARACTERS:
        raise invalid_clause(where, f"[{where}] takes at most {MAX_TEXT_CHARACTERS} characters")
    return value


def read_values(values: object, where: str) -> list[Any]:
    if not isinstance(values, list) or len(values) > MAX_VALUES:
        raise invalid_clause(where, f"[{where}] needs a list of at most {MAX_VALUES} values")
    return values


def read_number(value: object, where: str) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= 1e6:
        raise invalid_clause(where, f"[{where}] must be a number from 0 up")
    return float(value)


def read_integer(value: object, where: str, most: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= most:
        raise invalid_clause(where, f"[{where}] must be a number from 0 to {most}")
    return value


def read_truth(options: Body, name: str, default: bool = False) -> bool:
    value = options.get(name, default)
    if isinstance(value, str) and value in {"true", "false"}:
        return value == "true"
    if not isinstance(value, bool):
        raise invalid_clause(name, f"[{name}] is true or false")
    return value


def read_boost(options: Body) -> float:
    return read_number(options.get("boost", 1.0), "boost")


def read_needs_all(options: Body, where: str, name: str = "operator") -> bool:
    operator = str(options.get(name, "or")).lower()
    if operator not in {"and", "or"}:
        raise invalid_clause(name, f"[{name}] of {where} is and, or or")
    return operator == "and"


def read_minimum_should_match(options: Body, where: str) -> str | int | None:
    value = options.get("minimum_should_match")
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    if isinstance(value, str) and value.strip().removesuffix("%").lstrip("-").isdecimal():
        return value.strip()
    raise UnsupportedClauseError("minimum_should_match", where, ("a number", "a percentage"))


def read_weighted_fields(fields: object, where: str) -> tuple[tuple[str, float], ...]:
    """Names with weights: `title^2`."""
    given = [fields] if isinstance(fields, str) else fields
    if not isinstance(given, list) or not given or not all(isinstance(f, str) for f in given):
        raise invalid_clause("fields", f"[fields] of {where} must be a list of names")
    if len(given) > MAX_VALUES:
        raise invalid_clause("fields", f"[fields] takes at most {MAX_VALUES} names")
    return tuple(_weighted_field(field) for field in given)


def _weighted_field(field: str) -> tuple[str, float]:
    name, has_weight, weight = field.partition("^")
    if not has_weight:
        return name, 1.0
    try:
        return name, read_number(float(weight), "fields")
    except ValueError:
        raise invalid_clause(
            "fields", f"[fields] has a weight that is no number: {field}"
        ) from None


def read_fuzziness(options: Body, where: str) -> Fuzziness | None:
    """`fuzziness` and the options beside it; None where words are taken as they are."""
    if "fuzziness" not in options:
        return None
    given = str(options["fuzziness"]).strip().upper()
    most, one_from, two_from = None, 3, 6
    if given in {"0", "1", "2", "0.0", "1.0", "2.0"}:
        most = int(float(given))
    elif given.startswith("AUTO:"):
        low, _, high = given.removeprefix("AUTO:").partition(",")
        if not (low.isdecimal() and high.isdecimal() and int(low) <= int(high) <= 255):
            raise invalid_clause("fuzziness", "[fuzziness] is 0, 1, 2, AUTO or AUTO:low,high")
        one_from, two_from = int(low), int(high)
    elif given != "AUTO":
        raise invalid_clause("fuzziness", "[fuzziness] is 0, 1, 2, AUTO or AUTO:low,high")
    return Fuzziness(
        most,
        one_from,
        two_from,
        read_integer(options.get("prefix_length", 0), "prefix_length", 255),
        read_expansions(options),
        read_truth(
            options,
            "transpositions" if "transpositions" in options else "fuzzy_transpositions",
            default=True,
        ),
    )


def read_expansions(options: Body) -> int:
    found = read_integer(options.get("max_expansions", 50), "max_expansions", MAX_EXPANSIONS)
    if not found:
        raise invalid_clause("max_expansions", "[max_expansions] must be a number from 1 up")
    return found
