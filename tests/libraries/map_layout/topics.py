"""Texts about four topics, made up from words of each with some that all share."""

from __future__ import annotations

import random

from carrel.libraries.map_layout import MapText

TOPICS = {
    "neurons": "cortex neuron synapse memory dendrite spike hippocampus plasticity axon firing",
    "malaria": "malaria parasite mosquito plasmodium fever erythrocyte artemisinin larva gut",
    "glaciers": "glacier ice meltwater moraine snow albedo firn calving crevasse sediment",
    "prices": "price market auction bidder equilibrium demand tariff retailer inflation wage",
}
_SHARED = ("observed", "measured", "time", "large", "small", "several", "years", "evidence")


def make_texts(per_topic: int, seed: int = 4) -> list[MapText]:
    """`per_topic` texts of each topic, whose name stands before the number of their id."""
    chance = random.Random(seed)
    texts = []
    for topic, vocabulary in TOPICS.items():
        words = vocabulary.split()
        for number in range(per_topic):
            own, shared = chance.sample(words, 6), chance.sample(_SHARED, 4)
            abstract = " ".join(chance.sample([*own, *own, *shared, *shared], 20))
            title = f"{own[0]} {own[1]} {shared[0]}"
            year = 1990 + number % 30
            texts.append(MapText(f"{topic}-{number}", title, abstract, (topic,), year))
    return texts


def topic_of(paper_id: str) -> str:
    return paper_id.partition("-")[0]
