// Starts a worker from a module of ours, named as `papers/map_worker.js`.
import { scriptAddress } from "./dom.js";

export function startWorker(name) {
  const address = new URL(`../${name}`, import.meta.url).href;
  return new Worker(scriptAddress(address), { type: "module" });
}
