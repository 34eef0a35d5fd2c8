// The official bridge and client of MCP Apps as a host page; bundled by esbuild for `make judge-views`.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import {
  AppBridge,
  PostMessageTransport,
  buildAllowAttribute,
  getToolUiResourceUri,
} from "@modelcontextprotocol/ext-apps/app-bridge";

const log = (window.log = []);
let bridge = null;

window.openView = async ({
  server,
  sandbox,
  era,
  tool,
  args,
  context = {},
  capabilities,
  deliver = {},
}) => {
  const ui = { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] } };
  const client = new Client(
    { name: "official-host", version: "1" },
    {
      capabilities: { extensions: ui },
      versionNegotiation: { mode: era === "modern" ? { pin: "2026-07-28" } : "legacy" },
    },
  );
  await client.connect(new StreamableHTTPClientTransport(new URL(server)));
  log.push(["capabilities", client.getServerCapabilities()]);
  const { tools } = await client.listTools();
  const found = tools.find((each) => each.name === tool);
  const uri = getToolUiResourceUri(found);
  const content = (await client.readResource({ uri })).contents[0];
  log.push([
    "resource",
    { uri, mimeType: content.mimeType, meta: content._meta, bytes: content.text.length },
  ]);
  const { csp, permissions } = content._meta?.ui ?? {};
  const frame = document.createElement("iframe");
  frame.title = tool;
  frame.sandbox = "allow-scripts allow-same-origin allow-forms";
  frame.allow = buildAllowAttribute(permissions);
  document.body.append(frame);
  const hostCapabilities = capabilities ?? {
    openLinks: {},
    serverTools: {},
    message: { text: {} },
    updateModelContext: { text: {} },
  };
  bridge = new AppBridge(client, { name: "official-host", version: "1" }, hostCapabilities, {
    hostContext: { theme: "light", displayMode: "inline", toolInfo: { tool: found }, ...context },
  });
  bridge.onsizechange = (params) => {
    log.push(["ui/notifications/size-changed", params]);
    if (params.height) frame.style.height = `${params.height}px`;
  };
  const take =
    (method, answer = () => ({})) =>
    async (params) => {
      log.push([method, params]);
      return answer(params);
    };
  bridge.onopenlink = take("ui/open-link");
  bridge.onmessage = take("ui/message");
  bridge.onupdatemodelcontext = take("ui/update-model-context");
  bridge.onrequestdisplaymode = take("ui/request-display-mode", ({ mode }) => ({ mode }));
  const ready = new Promise((resolve) => (bridge.oninitialized = resolve));
  const loaded = new Promise((resolve) => (bridge.onsandboxready = resolve));
  frame.src = `${sandbox}?csp=${encodeURIComponent(JSON.stringify(csp ?? {}))}`;
  await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow));
  await loaded;
  await bridge.sendSandboxResourceReady({ html: content.text, csp, permissions });
  await ready;
  log.push(["app", bridge.getAppVersion()]);
  if (deliver.input !== false) await bridge.sendToolInput({ arguments: args });
  if (deliver.result === "none") return;
  await sendResult(
    deliver.given ?? (await client.callTool({ name: tool, arguments: args })),
    deliver.result,
  );
};
window.sendResult = async (result, kind) => {
  if (kind === "text") delete result.structuredContent;
  await bridge.sendToolResult(result);
};
window.changeContext = (context) => bridge.setHostContext(context);
window.endView = () => bridge.teardownResource({});
