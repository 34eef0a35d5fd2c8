// The official tasks package on the official TypeScript client: calls are handed tasks, followed, and one is cancelled.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { createTaskSessionFromClient, resultFromTaskOutcome } from "@modelcontextprotocol/ext-tasks/client";

const [url, goal] = process.argv.slice(2);
const clientInfo = { name: "interop", version: "1" };
const protocolVersion = "2026-07-28";
let created = 0;

async function dispatch(request) {
  const named = request.params?.taskId ?? request.params?.name;
  const response = await fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": protocolVersion,
      "mcp-method": request.method,
      ...(named === undefined ? {} : { "mcp-name": named }),
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: `raw-${Math.random()}`, ...request }),
  });
  const answer = await response.json();
  if (answer.result?.resultType === "task") created += 1;
  return answer;
}

const client = new Client(clientInfo, { versionNegotiation: { mode: "auto" } });
await client.connect(new StreamableHTTPClientTransport(new URL(url)));
const session = createTaskSessionFromClient(client, {
  endpointId: "carrel",
  rawDispatch: dispatch,
  v2RequestFraming: { protocolVersion, clientInfo, clientCapabilities: {} },
});

async function called(name, args) {
  const execution = await session.callTool(name, args);
  const { outcome } = await execution.settle();
  return resultFromTaskOutcome(outcome);
}

const started = await called("start_research", { goal, hypothesis_count: 2 });
const research_id = started.structuredContent.research_id;
const made = await called("generate_hypotheses", { research_id, count: 1 });
const ranked = await called("rank_hypotheses", { research_id });
const wrong = await called("review_hypothesis", { hypothesis_id: "hyp_none" });
const dropped = await session.callTool("rank_hypotheses", { research_id });
let cancelled = "not a task";
if (dropped.cancel) cancelled = String((await dropped.cancel()) ?? "acknowledged");
console.log(
  JSON.stringify({
    era: client.getProtocolEra(),
    tasks: created,
    made: made.structuredContent.result.length,
    ranked: ranked.structuredContent.result.length,
    wrong: wrong.structuredContent.error.code,
    cancelled,
  }),
);
await session.close();
await client.close();
