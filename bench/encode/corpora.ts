import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** Texts to measure on: real ones out of the development dependencies, so that nothing is fetched or kept here. */
export type Corpus = { readonly name: string; readonly slices: readonly string[] };

const require = createRequire(import.meta.url);
const typescript = dirname(require.resolve('typescript'));
const packages = dirname(dirname(dirname(require.resolve('typescript/package.json'))));

/** Paragraphs of English out of the packages' documents. */
function prose(): string {
  const roots = [join(packages, 'node_modules')];
  const paragraphs: string[] = [];
  for (const root of roots)
    for (const file of readdirSync(root, { recursive: true, encoding: 'utf8' })) {
      if (!file.endsWith('.md')) continue;
      for (const line of readFileSync(join(root, file), 'utf8').split('\n'))
        if (/^[A-Z][a-z'’]*[ ,]/.test(line) && line.length > 80) paragraphs.push(line);
    }
  return [...new Set(paragraphs)].join('\n\n');
}

/** Messages of the TypeScript compiler, translated into thirteen languages. */
function messages(languages: readonly string[]): string[] {
  return languages.flatMap((language) => {
    const file = readFileSync(join(typescript, language, 'diagnosticMessages.generated.json'), 'utf8');
    return Object.values(JSON.parse(file) as Record<string, string>);
  });
}

function multilingual(): string {
  const languages = ['cs', 'de', 'es', 'fr', 'it', 'ja', 'ko', 'pl', 'pt-br', 'ru', 'tr', 'zh-cn', 'zh-tw'];
  const byLanguage = languages.map((language) => messages([language]));
  const lines: string[] = [];
  for (let k = 0; k < 400; k++)
    for (const [l, list] of byLanguage.entries()) lines.push(list[(k * 5 + l * 131) % list.length]!);
  return lines.join('\n');
}

function chinese(): string {
  return messages(['zh-cn', 'zh-tw'])
    .map((line) => line.replaceAll(/[^\u3000-\u9fff\uff00-\uffef]+/g, ''))
    .filter((line) => line.length > 5)
    .join('\n');
}

/** A generator that gives the same texts in every run. */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

function uniqueWords(length: number): string {
  const next = random(7);
  let text = '';
  while (text.length < length) {
    for (let k = 3 + next(8); k > 0; k--) text += String.fromCharCode(0x61 + next(26));
    text += ' ';
  }
  return text;
}

/** `count` slices of about `size` UTF-16 units from one end of `text` to the other; none shares text with another. */
function slices(text: string, size: number, count: number): string[] {
  const stride = Math.floor(text.length / count);
  const length = Math.min(size, stride);
  return Array.from({ length: count }, (_, k) => text.slice(k * stride, k * stride + length));
}

/** Slices measured on, and one more in front that only warms up the compiler. */
export function corpora(size: number, count: number): Corpus[] {
  const code = readFileSync(join(typescript, 'typescript.js'), 'utf8');
  return [
    { name: 'prose', slices: slices(prose(), size, count) },
    { name: 'code', slices: slices(code, size, count) },
    { name: 'multilingual', slices: slices(multilingual(), size, count) },
    { name: 'unique words', slices: slices(uniqueWords(size * count), size, count) },
    { name: 'chinese', slices: slices(chinese(), Math.min(size, 8192), count) },
  ];
}

/** Inputs that have no place to break, by name. */
export function pathologicalInputs(length: number): Record<string, string> {
  const next = random(11);
  const han = Array.from({ length: Math.min(length, 20_000) }, () =>
    String.fromCharCode(0x4e00 + next(8000)),
  ).join('');
  const letters = Array.from({ length }, () => String.fromCharCode(0x61 + next(26))).join('');
  return {
    'one letter': 'a'.repeat(length),
    spaces: ' '.repeat(length),
    newlines: '\n'.repeat(length),
    kana: 'あ'.repeat(length / 4),
    'random han': han,
    'random letters': letters,
    digits: '7'.repeat(length),
    'equals signs': '='.repeat(length),
    'combining marks': `e${'\u0301\u0316'.repeat(length / 8)}`,
    emoji: '👩‍👩‍👧'.repeat(length / 16),
    'token beginnings': '<|'.repeat(length / 2),
  };
}
