// citeproc-js as a black box: a JSON job a line on standard input, a JSON answer a line on standard output.
// job: {key, style, lang, locales: {lang: xml}, items, clusters: [{note, items, mode, infix}], format}
// An engine is kept for each key (style and language), since making one takes a second.
const CSL = require(process.argv[2] + "/node_modules/citeproc");
const locales = new Map();
const engines = new Map();
let items = new Map();
const system = {
  retrieveLocale: (lang) => locales.get(lang) || locales.get("en-US"),
  // It changes what it is given.
  retrieveItem: (id) => JSON.parse(JSON.stringify(items.get(String(id)))),
};

function engineOf(job) {
  for (const [lang, xml] of Object.entries(job.locales || {})) locales.set(lang, xml);
  if (!engines.has(job.key)) {
    if (engines.size > 30) engines.clear();
    engines.set(job.key, new CSL.Engine(system, job.style, job.lang, true));
  }
  return engines.get(job.key);
}

function answer(job) {
  const engine = engineOf(job);
  items = new Map(job.items.map((item) => [String(item.id), item]));
  // All that it remembers of the job before.
  engine.tmp = new CSL.Engine.Tmp();
  engine.registry = new CSL.Registry(engine);
  engine.disambiguate = new CSL.Disambiguation(engine);
  engine.setOutputFormat(job.format || "text");
  const cited = new Set(job.clusters.flatMap((cluster) => cluster.items.map((cite) => String(cite.id))));
  const uncited = job.items.map((item) => String(item.id)).filter((id) => !cited.has(id));
  const citations = job.clusters.map((cluster, number) => ({
    citationID: "c" + number,
    citationItems: cluster.items.map((cite) => ({ ...cite })),
    properties: { noteIndex: cluster.note || 0, ...(cluster.mode ? { mode: cluster.mode } : {}), ...(cluster.infix ? { infix: cluster.infix } : {}) },
  }));
  // The document as it stands: what one citation after another leaves behind is of their history.
  const shown = engine.rebuildProcessorState(citations, job.format || "text", uncited).map((each) => each[2]);
  const made = engine.makeBibliography();
  return {
    citations: shown,
    bibliography: made ? made[1] : [],
    order: made ? made[0].entry_ids.map((entry) => entry[0]) : [],
  };
}

require("readline")
  .createInterface({ input: process.stdin })
  .on("line", (line) => {
    let told;
    const job = JSON.parse(line);
    try {
      told = answer(job);
    } catch (error) {
      engines.delete(job.key);
      told = { error: String((error && error.message) || error).slice(0, 300) };
    }
    process.stdout.write(JSON.stringify(told) + "\n");
  });
