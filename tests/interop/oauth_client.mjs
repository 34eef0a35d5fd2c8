// An OAuth client made of the TypeScript SDK (v1 or v2): prints the address to visit, reads where the browser was sent,
// calls a tool, makes its token look old, calls again, and prints what it saw as JSON.
// node oauth_client.mjs v1|v2 MODULES_FOLDER SERVER_URL TOOL
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { createRequire } from 'node:module';

const [generation, modules, url, tool] = process.argv.slice(2);
const require = createRequire(modules + '/package.json');
const load = async (name) => import(pathToFileURL(require.resolve(name)).href);

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const saved = { tokens: [], visits: 0 };
const provider = {
  redirectUrl: 'http://127.0.0.1:39123/callback',
  clientMetadata: { client_name: `TypeScript SDK ${generation}`, redirect_uris: ['http://127.0.0.1:39123/callback'] },
  clientInformation: () => saved.client,
  saveClientInformation: (client) => { saved.client = client; },
  tokens: () => saved.tokens.at(-1),
  saveTokens: (tokens) => { saved.tokens.push(tokens); },
  codeVerifier: () => saved.verifier,
  saveCodeVerifier: (verifier) => { saved.verifier = verifier; },
  redirectToAuthorization: (address) => { saved.visits += 1; console.log('VISIT ' + address); },
};

let Client, Transport;
if (generation === 'v1') {
  ({ Client } = await load('@modelcontextprotocol/sdk/client/index.js'));
  ({ StreamableHTTPClientTransport: Transport } = await load('@modelcontextprotocol/sdk/client/streamableHttp.js'));
} else {
  ({ Client, StreamableHTTPClientTransport: Transport } = await load('@modelcontextprotocol/client'));
}

const connect = async () => {
  const client = new Client({ name: 'judge', version: '1' });
  const transport = new Transport(new URL(url), { authProvider: provider });
  try {
    await client.connect(transport);
  } catch (error) {
    if (saved.tokens.length) throw error;
    const { value: location } = await lines.next();
    const answer = new URL(location).searchParams;
    if (generation === 'v1') await transport.finishAuth(answer.get('code'));
    else await transport.finishAuth(answer);
    return connect();
  }
  return client;
};

const client = await connect();
const first = await client.callTool({ name: tool, arguments: {} });
saved.tokens.push({ ...saved.tokens.at(-1), access_token: 'worn out' });
const second = await client.callTool({ name: tool, arguments: {} });
await client.close();
console.log('RESULT ' + JSON.stringify({
  first: first.content[0].text,
  second: second.content[0].text,
  visits: saved.visits,
  refreshed: saved.tokens.at(-1).access_token !== 'worn out',
  rotated: saved.tokens[0].refresh_token !== saved.tokens.at(-1).refresh_token,
}));
process.exit(0);
