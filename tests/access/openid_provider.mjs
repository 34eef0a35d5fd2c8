// A real OpenID provider on loopback. usage: node openid_provider.mjs PORT REDIRECT_URI FOLDER_WITH_NODE_MODULES
// People: ada (groups staff, carrel-admins), bob (staff), eve (none); any password.
// POST /rotate renews the signing key, POST /groups/NAME sets a person's groups from a JSON list.
import { createRequire } from 'node:module';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { pathToFileURL } from 'node:url';

const [port, redirect, folder] = [Number(process.argv[2]), process.argv[3], process.argv[4]];
const resolve = createRequire(folder + '/x.js').resolve;
const { default: Provider } = await import(pathToFileURL(resolve('oidc-provider')));
const issuer = `http://127.0.0.1:${port}`;
const people = { ada: ['staff', 'carrel-admins'], bob: ['staff'], eve: [] };
const newKey = () => ({
  ...generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' }),
  kid: randomBytes(4).toString('hex'), use: 'sig', alg: 'ES256',
});
const keys = [newKey()];
const make = () => {
  const provider = new Provider(issuer, {
    clients: [{
      client_id: 'carrel', client_secret: 'a-secret-for-tests-only-0123456789', redirect_uris: [redirect],
      grant_types: ['authorization_code', 'refresh_token'], token_endpoint_auth_method: 'client_secret_basic',
      id_token_signed_response_alg: 'ES256', backchannel_logout_uri: new URL('/backchannel', redirect).href,
      backchannel_logout_session_required: true,
    }],
    // Its own dispatcher refuses loopback addresses.
    fetch: (url, { dispatcher, ...rest }) => globalThis.fetch(url, rest),
    jwks: { keys }, cookies: { keys: ['for-tests'] },
    claims: { openid: ['sub'], profile: ['name'], groups: ['groups'] },
    features: { devInteractions: { enabled: true }, rpInitiatedLogout: { enabled: true }, backchannelLogout: { enabled: true } },
    pkce: { required: () => true },
    ttl: { IdToken: 300, AccessToken: 300, Session: 3600, Interaction: 600, Grant: 3600, RefreshToken: 3600 },
    findAccount: (_context, id) => ({ accountId: id, claims: () => ({ sub: id, name: id, groups: people[id] ?? [] }) }),
  });
  provider.on('backchannel.success', () => console.log('backchannel ok'));
  provider.on('backchannel.error', (_context, error) => console.log('backchannel error', error.message));
  return provider;
};
let provider = make();
createServer((request, response) => {
  if (request.method === 'POST' && request.url === '/rotate') {
    keys.unshift(newKey());
    keys.length = 1;
    provider = make();
    response.end(keys[0].kid);
  } else if (request.method === 'POST' && request.url.startsWith('/groups/')) {
    let body = '';
    request.on('data', (piece) => { body += piece; });
    request.on('end', () => { people[request.url.slice(8)] = JSON.parse(body); response.end(); });
  } else {
    provider.callback()(request, response);
  }
}).listen(port, '127.0.0.1', () => console.log(`${issuer} ready`));
