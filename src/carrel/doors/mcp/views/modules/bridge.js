// The view's side of MCP Apps: JSON-RPC 2.0 with the host, by postMessage.
const APPS_PROTOCOL = "2026-01-26";
// A host may ask the person first, who takes time.
const LONGEST_WAIT_MS = 300_000;

export class HostRefusal extends Error {
  constructor({ message, data }) {
    super(message || "");
    this.facts = data?.error ?? {};
  }
}

export class HostBridge {
  #waiting = new Map();
  #last = 0;
  #handlers = new Map();
  isOver = false;
  capabilities = {};
  context = {};

  constructor() {
    addEventListener("message", (event) => {
      // Only the frame around us is the host; pages and frames beside us are nobody.
      if (event.source === parent && event.data?.jsonrpc === "2.0") this.#take(event.data);
    });
  }

  on(method, handler) {
    this.#handlers.set(method, handler);
  }

  ask(method, params = {}) {
    return new Promise((resolve, reject) => {
      const id = ++this.#last;
      const limit = setTimeout(() => {
        this.#waiting.delete(id);
        reject(new HostRefusal({}));
      }, LONGEST_WAIT_MS);
      this.#waiting.set(id, { resolve, reject, limit });
      this.#send({ id, method, params });
    });
  }

  tell(method, params = {}) {
    if (!this.isOver) this.#send({ method, params });
  }

  async open(appInfo, displayModes) {
    const answer = await this.ask("ui/initialize", {
      protocolVersion: APPS_PROTOCOL,
      appInfo,
      appCapabilities: { availableDisplayModes: displayModes },
    });
    this.capabilities = answer?.hostCapabilities ?? {};
    this.context = answer?.hostContext ?? {};
    this.tell("ui/notifications/initialized");
  }

  #send(message) {
    parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
  }

  async #take(message) {
    if (typeof message.method !== "string") return this.#settle(message);
    const handler = this.#handlers.get(message.method);
    const isRequest = message.id !== undefined && message.id !== null;
    if (!handler && message.method !== "ping") {
      if (isRequest)
        this.#send({ id: message.id, error: { code: -32601, message: "Method not found" } });
      return;
    }
    const result = (await handler?.(message.params ?? {})) ?? {};
    if (isRequest) this.#send({ id: message.id, result });
  }

  #settle({ id, result, error }) {
    const one = this.#waiting.get(id);
    if (!one) return;
    this.#waiting.delete(id);
    clearTimeout(one.limit);
    if (error) one.reject(new HostRefusal(error));
    else one.resolve(result);
  }
}
