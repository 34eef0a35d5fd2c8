// What a tool answered, however much of it the host passed on.
export function readAnswer(result) {
  const facts = structuredFacts(result);
  if (!result?.isError && !facts.error) return { facts, problem: null };
  const error = facts.error ?? {};
  return {
    facts,
    problem: { message: error.message ?? facts.text ?? "", nextStep: error.next_step ?? "" },
  };
}

export function readRefusal(refusal) {
  return {
    message: refusal.facts?.message ?? refusal.message,
    nextStep: refusal.facts?.next_step ?? "",
  };
}

// Some hosts drop structuredContent; the first block of text is the same answer as JSON.
function structuredFacts(result) {
  const given = result?.structuredContent;
  if (given && typeof given === "object" && Object.keys(given).length) return given;
  const text = result?.content?.find?.((block) => block?.type === "text")?.text;
  if (typeof text !== "string") return {};
  try {
    const value = JSON.parse(text);
    if (Array.isArray(value)) return { result: value };
    return value && typeof value === "object" ? value : { text };
  } catch {
    return { text };
  }
}

export function listOf(value) {
  return Array.isArray(value) ? value.filter((each) => each && typeof each === "object") : [];
}

export function textOf(value) {
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

// How many there are of a list that the answer's budget may have cut.
export function totalOf(facts, path, shown) {
  const told = facts.cut?.shown?.[path]?.total;
  return typeof told === "number" ? Math.max(told, shown) : shown;
}

// The gravest notice about a work, such as its retraction; they come in that order.
export function noticeOf(notices) {
  return textOf(listOf(notices)[0]?.kind);
}
