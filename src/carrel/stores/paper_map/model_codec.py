"""The model of a map as bytes: terms as JSON, numbers as little-endian single floats."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterable, Mapping

import orjson

from carrel.libraries.map_layout import LatentSpace, MapModel, Region, Regions, Vector


def encode_model(model: MapModel) -> dict[str, bytes]:
    """The parts of a model by name."""
    terms = list(model.space.shares)
    facts = {
        "seed": model.seed,
        "unit": model.unit,
        "directions": len(model.vectors[0]),
        "landmarks": model.landmark_ids,
        "terms": terms,
        "rarity": [model.rarity[term] for term in terms],
        "coarse": [_region_facts(region) for region in model.regions.coarse],
        "fine": [_region_facts(region) for region in model.regions.fine],
    }
    return {
        "facts": orjson.dumps(facts),
        "shares": _pack(value for share in model.space.shares.values() for value in share),
        "vectors": _pack(value for vector in model.vectors for value in vector),
        "places": _pack(value for at in model.places for value in (at.real, at.imag)),
        "cells": model.regions.cells,
    }


def decode_model(parts: Mapping[str, bytes]) -> MapModel:
    """The model of these parts; raises KeyError, ValueError or TypeError for anything else."""
    facts = orjson.loads(parts["facts"])
    width = int(facts["directions"])
    terms: list[str] = facts["terms"]
    shares, vectors = _unpack(parts["shares"], width), _unpack(parts["vectors"], width)
    places = [complex(x, y) for x, y in _unpack(parts["places"], 2)]
    landmarks: list[str] = facts["landmarks"]
    if not len(landmarks) == len(vectors) == len(places) or len(shares) != len(terms):
        raise ValueError("the parts of the map do not fit together")
    return MapModel(
        int(facts["seed"]),
        dict(zip(terms, facts["rarity"], strict=True)),
        LatentSpace(dict(zip(terms, shares, strict=True))),
        landmarks,
        vectors,
        places,
        float(facts["unit"]),
        Regions(
            parts["cells"],
            tuple(_read_region(each) for each in facts["coarse"]),
            tuple(_read_region(each) for each in facts["fine"]),
        ),
    )


def _region_facts(region: Region) -> list[object]:
    return [region.number, region.x, region.y, list(region.terms), region.colour]


def _read_region(facts: list[object]) -> Region:
    number, x, y, terms, colour = facts
    if not isinstance(terms, list):
        raise ValueError("a region has no terms")
    return Region(int(str(number)), float(str(x)), float(str(y)), tuple(terms), int(str(colour)))


def _pack(values: Iterable[float]) -> bytes:
    packed = array("f", values)
    if sys.byteorder == "big":
        packed.byteswap()
    return packed.tobytes()


def _unpack(body: bytes, width: int) -> list[Vector]:
    values = array("f")
    values.frombytes(body)
    if sys.byteorder == "big":
        values.byteswap()
    return [tuple(values[at : at + width]) for at in range(0, len(values), width)]
