/** Everything that a person reads can be translated. */
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { getL10nJson } from '@vscode/l10n-dev';

const root = join(import.meta.dirname, '..', '..', '..');
const read = (path: string) => readFile(join(root, path), 'utf8');

const sources = async (...folders: string[]) =>
  (await Promise.all(folders.map(async (folder) => (await readdir(join(root, folder), { recursive: true })).map((name) => join(folder, name))))).flat().filter((name) => name.endsWith('.ts'));

/** Keys of the manifest whose texts a person reads. */
const READ = new Set(['displayName', 'title', 'category', 'name', 'contents', 'markdownDescription', 'markdownEnumDescriptions', 'enumDescriptions']);

/** Texts under such keys, with the path to each. */
function* readable(value: unknown, path: string, shown = false): Generator<[string, string]> {
  if (typeof value === 'string' && shown) yield [path, value];
  else if (Array.isArray(value)) for (const [index, item] of value.entries()) yield* readable(item, `${path}[${index}]`, shown);
  else if (typeof value === 'object' && value !== null) for (const [key, item] of Object.entries(value)) yield* readable(item, `${path}.${key}`, READ.has(key) || key === 'description');
}

describe('strings', () => {
  it('has every text of the manifest in package.nls.json, and nothing else there', async () => {
    const manifest = JSON.parse(await read('package.json')) as Record<string, unknown>;
    const { displayName, description, contributes, capabilities } = manifest;
    const texts = [...readable({ displayName, description, contributes, capabilities }, '')];
    assert.ok(texts.length > 30);
    for (const [path, text] of texts) assert.match(text, /^%[\w.]+%$/, path);
    const used = new Set([...JSON.stringify(manifest).matchAll(/%([\w.]+)%/g)].map(([, key]) => key!));
    const there = JSON.parse(await read('package.nls.json')) as Record<string, string>;
    assert.deepEqual(Object.keys(there).sort(), [...used].sort());
    for (const [key, text] of Object.entries(there)) assert.ok(text.trim(), key);
  });

  it('has every text of the code in l10n/bundle.l10n.json, as `npm run l10n` writes it', async function () {
    // The extractor parses every file with a parser in WebAssembly.
    this.timeout(120_000);
    const files = await Promise.all((await sources('src/extension', 'webview')).map(async (name) => ({ extension: '.ts', contents: await read(name) })));
    assert.deepEqual(JSON.parse(await read('l10n/bundle.l10n.json')), await getL10nJson(files));
  });

  it('spells its texts as they are read: the extractor does not know escapes', async () => {
    for (const name of await sources('src/extension', 'webview')) assert.doesNotMatch(await read(name), /l10n\.t\(\s*'[^']*\\u/, name);
  });

  it('shows no text that goes round the translation', async () => {
    for (const name of await sources('src/extension')) {
      const text = await read(name);
      assert.doesNotMatch(text, /show(?:Error|Warning|Information)Message\(\s*['"`]/, name);
      assert.doesNotMatch(text, /(?:placeHolder|prompt|title|label): ['"`][A-Z]/, name);
    }
  });
});
