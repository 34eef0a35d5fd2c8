// Calls an operation of the catalogue, through the gate, as the person at this browser.

export class CallError extends Error {
  constructor(status, body) {
    super(body?.error ?? "The server did not answer");
    this.status = status;
    this.code = body?.error_type ?? "unreachable";
    this.nextStep = body?.recovery_suggestions?.[0] ?? "";
    this.details = body?.details ?? {};
  }
}

export function csrfToken() {
  return document.querySelector('meta[name="csrf"]')?.content ?? "";
}

/** The answer of an operation; throws CallError. */
export async function call(operation, args = {}, { signal } = {}) {
  let response;
  try {
    response = await fetch("/call", {
      method: "POST",
      headers: { "content-type": "application/json", "x-csrf": csrfToken() },
      body: JSON.stringify({ operation, arguments: args }),
      signal,
    });
  } catch (problem) {
    if (problem.name === "AbortError") throw problem;
    throw new CallError(0, null);
  }
  let body = null;
  try {
    body = await response.json();
  } catch {
    // A proxy's page, or an answer that was cut off.
  }
  if (!response.ok || !body?.success) throw new CallError(response.status, body);
  return body.result;
}
