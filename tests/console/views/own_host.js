// A small host of MCP Apps for the tests: no library, the same functions as official_host.mjs.
const log = (window.log = []);
let frame = null;
let last = 0;
const waiting = new Map();

async function rpc({ server, era }, method, params) {
  const modern = "2026-07-28";
  const ui = { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] } };
  const meta = {
    "io.modelcontextprotocol/protocolVersion": modern,
    "io.modelcontextprotocol/clientCapabilities": { extensions: ui },
  };
  const name = params.name ?? params.uri;
  const headers = {
    "content-type": "application/json",
    "mcp-protocol-version": era === "modern" ? modern : "2025-11-25",
    ...(era === "modern" ? { "mcp-method": method, ...(name ? { "mcp-name": name } : {}) } : {}),
  };
  const body = {
    jsonrpc: "2.0",
    id: ++last,
    method,
    params: era === "modern" ? { ...params, _meta: meta } : params,
  };
  const answer = await (
    await fetch(server, { method: "POST", headers, body: JSON.stringify(body) })
  ).json();
  if (answer.error) throw answer.error;
  return answer.result;
}

const send = (message) => frame.contentWindow.postMessage({ jsonrpc: "2.0", ...message }, "*");
const tell = (method, params) => send({ method, params });

window.openView = async (given) => {
  const { tool, args, sandbox, context = {}, capabilities, deliver = {} } = given;
  const found = (await rpc(given, "tools/list", {})).tools.find((each) => each.name === tool);
  const uri = found._meta.ui.resourceUri;
  const content = (await rpc(given, "resources/read", { uri })).contents[0];
  log.push([
    "resource",
    { uri, mimeType: content.mimeType, meta: content._meta, bytes: content.text.length },
  ]);
  const hostContext = {
    theme: "light",
    displayMode: "inline",
    toolInfo: { tool: found },
    ...context,
  };
  const hostCapabilities = capabilities ?? {
    openLinks: {},
    serverTools: {},
    message: { text: {} },
    updateModelContext: { text: {} },
  };
  const answers = {
    "ui/initialize": () => ({
      protocolVersion: "2026-01-26",
      hostInfo: { name: "own-host", version: "1" },
      hostCapabilities,
      hostContext,
    }),
    "tools/call": (params) => rpc(given, "tools/call", params),
    "ui/open-link": () => ({}),
    "ui/message": () => ({}),
    "ui/update-model-context": () => ({}),
    "ui/request-display-mode": ({ mode }) => ({ mode }),
  };
  let isReady = () => {};
  const ready = new Promise((resolve) => (isReady = resolve));
  addEventListener("message", async ({ source, data }) => {
    if (source !== frame.contentWindow || data?.jsonrpc !== "2.0") return;
    if (data.method === undefined) return waiting.get(data.id)?.(data.result ?? data.error);
    if (data.method === "ui/notifications/sandbox-proxy-ready")
      return tell("ui/notifications/sandbox-resource-ready", { html: given.html ?? content.text });
    log.push([data.method, data.params]);
    if (data.method === "ui/notifications/initialized") isReady();
    if (data.method === "ui/notifications/size-changed" && data.params.height)
      frame.style.height = `${data.params.height}px`;
    if (data.id === undefined) return;
    try {
      send({ id: data.id, result: await answers[data.method](data.params) });
    } catch (error) {
      send({
        id: data.id,
        error: { code: error.code ?? -32603, message: error.message, data: error.data },
      });
    }
  });
  frame = document.createElement("iframe");
  frame.title = tool;
  frame.sandbox = "allow-scripts allow-same-origin allow-forms";
  frame.allow = "clipboard-write";
  frame.src = sandbox;
  document.body.append(frame);
  await ready;
  if (deliver.input !== false) tell("ui/notifications/tool-input", { arguments: args });
  if (deliver.result === "none") return;
  sendResult(
    deliver.given ?? (await rpc(given, "tools/call", { name: tool, arguments: args })),
    deliver.result,
  );
};
window.sendResult = (result, kind) => {
  if (kind === "text") delete result.structuredContent;
  tell("ui/notifications/tool-result", result);
};
window.tellInput = (kind, given) => tell(`ui/notifications/${kind}`, { arguments: given });
window.changeContext = (context) => tell("ui/notifications/host-context-changed", context);
window.endView = () =>
  new Promise((resolve) => {
    waiting.set("end", resolve);
    send({ id: "end", method: "ui/resource-teardown", params: {} });
  });
