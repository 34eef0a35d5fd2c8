// One visit by a TypeScript SDK client: list, call, read. Prints what it saw as one line of JSON.
// usage: node ts_client.mjs v1|v2 legacy|modern URL            over HTTP
//        node ts_client.mjs v1|v2 legacy|modern COMMAND ARG…   over stdio
const [sdk, era, target, ...rest] = process.argv.slice(2);
const isHttp = target.startsWith('http://');

async function parts() {
  if (sdk === 'v1') {
    const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
    const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js');
    const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js');
    return { Client, StreamableHTTPClientTransport, StdioClientTransport };
  }
  const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
  const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
  return { Client, StreamableHTTPClientTransport, StdioClientTransport };
}

const { Client, StreamableHTTPClientTransport, StdioClientTransport } = await parts();
const mode = era === 'modern' ? { pin: '2026-07-28' } : 'legacy';
const client = new Client({ name: 'carrel-interop', version: '1.0.0' }, sdk === 'v2' ? { versionNegotiation: { mode } } : {});
const transport = isHttp
  ? new StreamableHTTPClientTransport(new URL(target))
  : new StdioClientTransport({ command: target, args: rest, env: process.env, stderr: 'ignore' });
await client.connect(transport);

const { tools } = await client.listTools();
const { resourceTemplates } = await client.listResourceTemplates();
const found = await client.callTool({ name: 'search_papers', arguments: { query: 'memory', limit: 1 } });
const hit = found.structuredContent.result[0];
const { contents } = await client.readResource({ uri: `paper://${hit.paper_id}/metadata` });
const missing = await client.callTool({ name: 'get_paper_metadata', arguments: { paper_id: 'nobody-wrote-this' } });
let unknown = null;
try {
  await client.callTool({ name: 'no_such_tool', arguments: {} });
} catch (error) {
  unknown = error.code;
}
console.log(JSON.stringify({
  revision: client.getNegotiatedProtocolVersion?.() ?? transport.protocolVersion ?? transport._protocolVersion ?? null,
  tools: tools.map((tool) => tool.name),
  templates: resourceTemplates.map((template) => template.uriTemplate),
  title: hit.title,
  readTitle: JSON.parse(contents[0].text).title,
  missing: { isError: missing.isError, code: missing.structuredContent?.error?.code },
  unknown,
}));
await client.close();
