// Reads BibTeX on stdin with a program of npm named by the first argument; CSL-like JSON comes out.
// `node others.cjs bibtex-parser|citation-js|citation-js-ris FOLDER`
const path = require('path');
const [program, folder] = process.argv.slice(2);
const text = require('fs').readFileSync(0, 'utf8');
const from = (name) => require(require.resolve(name, { paths: [path.resolve(folder)] }));

// A file with strings is read whole, drawn entries one by one, so that one that fails harms no other.
function each(parse) {
  if (/^\s*@string/im.test(text)) return parse(text);
  const found = [];
  for (const entry of text.split(/\n(?=@|TY  - )/)) {
    try {
      found.push(...parse(entry));
    } catch (error) {
      // What a program cannot read it has no opinion about.
    }
  }
  return found;
}

let items;
if (program === 'bibtex-parser') {
  const { parse } = require(path.resolve(folder, 'bibtex-parser.cjs'));
  const options = {
    unsupported: 'ignore',
    sentenceCase: { guess: true, subSentence: true, preserveQuoted: true },
    ...JSON.parse(process.argv[4] || '{}'),
  };
  items = each((entry) => parse(entry, options).entries.map(({ key, type, fields }) => ({ key, type, fields })));
} else {
  const { Cite } = from('@citation-js/core');
  from(program === 'citation-js' ? '@citation-js/plugin-bibtex' : '@citation-js/plugin-ris');
  const forceType = program === 'citation-js' ? '@bibtex/text' : '@ris/file';
  items = each((entry) => new Cite(entry, { forceType }).data.map(({ _graph, ...item }) => item));
}
process.stdout.write(JSON.stringify(items));
