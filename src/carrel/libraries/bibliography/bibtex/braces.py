"""Which brace closes which, for a whole text at once: looking for each partner anew would read the
rest again every time.
"""

import re
from array import array
from bisect import bisect_left

from carrel.libraries.text.budget import current_budget

_BRACE = re.compile(r"[{}]")


class BracePairs:
    """The closing brace of every opening one, found in one pass."""

    def __init__(self, text: str) -> None:
        self._openings = array("q")
        self._closings = array("q")
        budget = current_budget()
        waiting: list[int] = []
        for found in _BRACE.finditer(text):
            budget.step()
            if found.group() == "{":
                waiting.append(len(self._openings))
                self._openings.append(found.start())
                self._closings.append(-1)
            elif waiting:
                self._closings[waiting.pop()] = found.start()

    def closing(self, opening: int) -> int:
        """Where the group that opens here closes; -1 when it never does."""
        place = bisect_left(self._openings, opening)
        if place < len(self._openings) and self._openings[place] == opening:
            return self._closings[place]
        return -1
