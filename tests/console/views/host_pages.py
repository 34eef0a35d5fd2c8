"""The two origins that a host of MCP Apps needs: its own page, and the sandbox around a view."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

OWN_HOST = Path(__file__).parent / "own_host.js"
# The policy that SEP-1865 gives a view without declared domains.
POLICY = (
    "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; media-src 'self' data:; connect-src 'none'; frame-src 'self'; "
    "object-src 'none'"
)
_HOST_PAGE = (
    b"<!doctype html><title>host</title><style>body{margin:0}iframe{border:0;width:100%;"
    b"display:block}</style><script type=module src=/host.js></script>"
)
_SANDBOX_PAGE = b"""<!doctype html><meta charset="utf-8"><title>sandbox</title>
<style>html,body{margin:0;height:100%}iframe{width:100%;height:100%;border:0;display:block}</style>
<body><script>
const host = new URL(document.referrer).origin, view = document.createElement("iframe");
view.title = "view"; view.allow = "clipboard-write";
view.sandbox = "allow-scripts allow-same-origin allow-forms";
document.body.append(view);
addEventListener("message", ({ source, origin, data }) => {
  if (source === view.contentWindow) return parent.postMessage(data, host);
  if (source !== parent || origin !== host) return;
  if (data?.method !== "ui/notifications/sandbox-resource-ready")
    return view.contentWindow.postMessage(data, "*");
  const page = view.contentDocument;
  page.open(); page.write(data.params.html); page.close();
});
const ready = "ui/notifications/sandbox-proxy-ready";
parent.postMessage({ jsonrpc: "2.0", method: ready, params: {} }, host);
</script>"""


@dataclass(frozen=True, slots=True)
class HostPages:
    """Addresses of a host page and of the sandbox, on origins of their own."""

    origin: str
    sandbox: str

    def open_view(self, page: Any, server: str, tool: str, args: object, **more: Any) -> Any:
        """Draws the view of a tool's answer in a page; returns the frame that it is in."""
        page.goto(f"{self.origin}/")
        page.wait_for_function("typeof openView === 'function'")
        given = {"server": server, "sandbox": self.sandbox, "tool": tool, "args": args, **more}
        page.evaluate("given => openView(given)", given)
        return page.frame_locator("iframe").frame_locator("iframe")


@contextmanager
def serve_host(script: Path = OWN_HOST, port: int = 0) -> Iterator[HostPages]:
    """Serves the host page with this script at a port, and the sandbox at another."""
    answers = {
        "/": ("text/html", _HOST_PAGE, ""),
        "/host.js": ("text/javascript", script.read_bytes(), ""),
        "/sandbox.html": ("text/html", _SANDBOX_PAGE, POLICY),
    }

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            kind, body, policy = answers.get(self.path.partition("?")[0], ("text/plain", b"", ""))
            self.send_response(200 if body else 204)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(body)))
            if policy:
                self.send_header("content-security-policy", policy)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None: ...

    servers = [ThreadingHTTPServer(("127.0.0.1", each), Handler) for each in (port, 0)]
    for server in servers:
        threading.Thread(target=server.serve_forever, daemon=True).start()
    host, sandbox = (f"http://127.0.0.1:{server.server_address[1]}" for server in servers)
    try:
        yield HostPages(host, f"{sandbox}/sandbox.html")
    finally:
        for server in servers:
            server.shutdown()
            server.server_close()
