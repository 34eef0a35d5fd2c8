"""What every page has to hold: axe finds nothing, nothing runs over the edge, keys reach all."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import Any

import pytest

# The file of npm's axe-core; `make judge-console` installs it.
AXE_VARIABLE = "CARREL_TEST_AXE"
_TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
_RUN_AXE = """([context, tags]) => axe.run(
  context === 'body' ? document : context, {runOnly: tags}
).then((result) => result.violations.map((each) =>
  [each.id, each.impact, each.nodes.slice(0, 4).map((node) => node.html.slice(0, 200))]))"""
_OVERFLOW = """() => {
  const width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth <= width + 1) return [];
  return [...document.querySelectorAll('body *')]
    .filter((node) => node.getBoundingClientRect().right > width + 1)
    .slice(0, 8).map((node) => node.tagName + '.' + node.className);
}"""


@cache
def axe_source() -> str | None:
    """The text of axe-core, if it was installed for the tests."""
    path = os.environ.get(AXE_VARIABLE, "")
    return Path(path).read_text("utf-8") if path and Path(path).is_file() else None


def assert_accessible(page: Any) -> None:
    """No violation of WCAG 2.2 A and AA; skips, visibly, where axe-core is not there."""
    if axe_source() is None:
        pytest.skip(f"{AXE_VARIABLE} names no axe-core")
    found = find_violations(page)
    assert not found, found


def find_violations(page: Any) -> list[Any]:
    """What axe-core finds on a page whose policy is bypassed, with everything unfolded.

    The person's menu lies over the page on a phone, so it is judged by itself.
    """
    page.evaluate(axe_source())
    page.evaluate(
        "() => document.querySelectorAll('details:not(.person)')"
        ".forEach((each) => { each.open = true; })"
    )
    found = page.evaluate(_RUN_AXE, ["body", _TAGS])
    page.evaluate("() => document.querySelector('details.person')?.setAttribute('open', '')")
    has_menu = page.query_selector("details.person") is not None
    found += page.evaluate(_RUN_AXE, ["details.person", _TAGS]) if has_menu else []
    page.evaluate("() => document.querySelector('details.person')?.removeAttribute('open')")
    return list(found)


def find_overflow(page: Any) -> list[str]:
    """What reaches over the right edge."""
    return list(page.evaluate(_OVERFLOW))


def assert_fits(page: Any, widths: tuple[int, ...] = (390, 320)) -> None:
    """No sideways scrolling at these widths; 320 is 1280 at 400 % (WCAG 1.4.10)."""
    before = page.viewport_size
    for width in widths:
        page.set_viewport_size({"width": width, "height": 800})
        assert find_overflow(page) == [], width
    page.set_viewport_size(before)


def tab_through(page: Any, most: int = 200) -> list[str]:
    """What the Tab key reaches, in order; every stop is visible and shows its focus."""
    page.evaluate("() => document.activeElement?.blur()")
    stops: list[str] = []
    for _ in range(most):
        page.keyboard.press("Tab")
        stop = page.evaluate(
            "() => { const at = document.activeElement; if (!at || at === document.body) return '';"
            " const box = at.getBoundingClientRect(); const style = getComputedStyle(at);"
            " return [at.tagName,"
            " (at.getAttribute('aria-label') || at.textContent || at.name || '')"
            ".trim().slice(0, 60), box.width > 0 && box.height > 0,"
            " style.outlineStyle !== 'none' || style.boxShadow !== 'none'].join('|'); }"
        )
        if not stop:
            break
        assert "|false" not in stop, stop
        stops.append(stop.rsplit("|", 2)[0])
    return stops
