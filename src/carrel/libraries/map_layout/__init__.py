"""Maps of texts: papers in the plane, near each other where they are about the same."""

from carrel.libraries.map_layout.latent_space import LatentSpace, Vector
from carrel.libraries.map_layout.model import (
    MOST_LANDMARKS,
    MapModel,
    choose_landmarks,
    fit_map,
    shuffle_ids,
)
from carrel.libraries.map_layout.regions import Region, Regions
from carrel.libraries.map_layout.term_vectors import MapText
from carrel.libraries.map_layout.tiles import Tile, TilePoint, cut_tiles

__all__ = [
    "MOST_LANDMARKS",
    "LatentSpace",
    "MapModel",
    "MapText",
    "Region",
    "Regions",
    "Tile",
    "TilePoint",
    "Vector",
    "choose_landmarks",
    "cut_tiles",
    "fit_map",
    "shuffle_ids",
]
