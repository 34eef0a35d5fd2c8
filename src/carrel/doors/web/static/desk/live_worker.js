// Shared by all tabs: one event source for each address, however many tabs look at it.
const followed = new Map();

self.onconnect = ({ ports: [port] }) => {
  port.onmessage = ({ data }) => {
    if (data.follow) join(data.follow, port);
    if (data.leave) leave(data.leave, port);
  };
};

function join(address, port) {
  let entry = followed.get(address);
  if (!entry) {
    entry = { ports: new Set(), last: null, source: new EventSource(address) };
    followed.set(address, entry);
    listen(address, entry);
  }
  entry.ports.add(port);
  if (entry.last) port.postMessage({ address, ...entry.last });
}

function leave(address, port) {
  const entry = followed.get(address);
  if (!entry) return;
  entry.ports.delete(port);
  if (entry.ports.size === 0) close(address, entry);
}

function close(address, entry) {
  entry.source.close();
  followed.delete(address);
}

function listen(address, entry) {
  const tell = (kind, data) => {
    for (const port of entry.ports) port.postMessage({ address, kind, data });
  };
  entry.source.addEventListener("state", (event) => {
    entry.last = { kind: "state", data: JSON.parse(event.data) };
    tell("state", entry.last.data);
  });
  entry.source.addEventListener("trouble", (event) => tell("trouble", JSON.parse(event.data)));
  entry.source.addEventListener("refused", () => {
    tell("trouble", { message: "" });
    close(address, entry);
  });
  entry.source.addEventListener("end", () => {
    tell("end", null);
    close(address, entry);
  });
  entry.source.onerror = () => {
    if (entry.source.readyState === EventSource.CLOSED) {
      tell("trouble", { message: "" });
      close(address, entry);
    }
  };
}
