"""A first view: how many bytes a browser without a cache takes, and what it costs the server.

`python -m benchmarks.console.first_view` serves a desk of its own and prints, for every page, the
bytes of the page with its style sheets, modules and icons as they travel, and the median time of
the server beside that of `/health` in the same run.
"""

from __future__ import annotations

import re
import statistics
import tempfile
import time
from pathlib import Path

import httpx2

from tests.console.served_desk import ServedDesk, desk_settings, fill_home, fill_rooms, serve_desk
from tests.console.tour import list_addresses

_ASSET = re.compile(r'"(/assets/[^"#]+)')
_IMPORT = re.compile(r'from "(\.{1,2}/[^"]+)"')
_ROUNDS = 15


def _weigh(client: httpx2.Client, url: str, html: str) -> int:
    """The bytes of all that the page names, and of what its modules import."""
    found = set(_ASSET.findall(html))
    # Named for when a file is dropped, not loaded with the page.
    found -= {each for each in found if each.endswith("/home/tray.js")}
    waiting, seen, total = list(found), set(found), 0
    while waiting:
        address = waiting.pop()
        with client.stream("GET", url + address, headers={"accept-encoding": "gzip"}) as answer:
            raw = b"".join(answer.iter_raw())
        total += len(raw)
        if address.endswith(".js"):
            text = client.get(url + address).text
            for name in _IMPORT.findall(text):
                target = httpx2.URL(url + address).join(name).path
                if target not in seen:
                    seen.add(target)
                    waiting.append(target)
    return total


def _time(client: httpx2.Client, address: str) -> float:
    spent = []
    for _ in range(_ROUNDS):
        began = time.perf_counter()
        client.get(address, headers={"accept": "text/html"})
        spent.append((time.perf_counter() - began) * 1000)
    return statistics.median(spent)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        fill_home(Path(folder) / "home", Path(folder) / "files")
        settings = desk_settings(Path(folder) / "home")
        with serve_desk(settings) as url, httpx2.Client(timeout=60) as client:
            desk = ServedDesk(url, settings)
            fill_rooms(desk)
            bare = _time(client, f"{url}/health")
            print(f"{'page':44} {'kB':>6} {'ms':>7} {'x /health':>9}")
            for _, path in list_addresses(desk.ids):
                headers = {"accept": "text/html", "accept-encoding": "gzip"}
                with client.stream("GET", url + path, headers=headers) as answer:
                    page_bytes = len(b"".join(answer.iter_raw()))
                html = client.get(url + path, headers=headers).text
                size = page_bytes + _weigh(client, url, html)
                spent = _time(client, url + path)
                print(f"{path[:44]:44} {size / 1000:6.1f} {spent:7.1f} {spent / bare:9.1f}")


if __name__ == "__main__":
    main()
