// Follows a live view. One connection serves all tabs of a browser where it has shared workers.
import { scriptAddress } from "./dom.js";

/** Calls onState with every new state until stop() is called or the thing has ended. */
export function follow(view, id, { onState, onEnd, onTrouble }) {
  const address = `/live/${encodeURIComponent(view)}?id=${encodeURIComponent(id)}`;
  const receive = (kind, data) => {
    if (kind === "state") onState?.(data);
    else if (kind === "end") onEnd?.();
    else onTrouble?.(data?.message ?? "");
  };
  return globalThis.SharedWorker ? followShared(address, receive) : followAlone(address, receive);
}

function followShared(address, receive) {
  const file = new URL("./live_worker.js", import.meta.url).href;
  const worker = new SharedWorker(scriptAddress(file), { type: "module", name: "carrel-live" });
  worker.port.onmessage = ({ data }) => {
    if (data.address === address) receive(data.kind, data.data);
  };
  worker.port.start();
  worker.port.postMessage({ follow: address });
  const stop = () => worker.port.postMessage({ leave: address });
  addEventListener("pagehide", stop);
  addEventListener("pageshow", (event) => {
    if (event.persisted) worker.port.postMessage({ follow: address });
  });
  return stop;
}

function followAlone(address, receive) {
  const source = listen(address, receive);
  return () => source.close();
}

/** An event source that tells states, the end and trouble apart. */
export function listen(address, receive) {
  const source = new EventSource(address);
  source.addEventListener("state", (event) => receive("state", JSON.parse(event.data)));
  source.addEventListener("trouble", (event) => receive("trouble", JSON.parse(event.data)));
  source.addEventListener("refused", () => {
    source.close();
    receive("trouble", { message: "" });
  });
  source.addEventListener("end", () => {
    source.close();
    receive("end", null);
  });
  source.onerror = () => {
    if (source.readyState === EventSource.CLOSED) receive("trouble", { message: "" });
  };
  return source;
}
