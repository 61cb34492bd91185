import type { Encoder } from '../encoder.ts';

/** Text that takes every usual way through the engine: words, numbers, code, scripts, marks, long runs. */
const SAMPLE = [
  'The quick brown fox jumps over the lazy dog, doesn\'t it? "Yes," she said; we\'ll see in 2024.\n\n',
  'export function sum(values: readonly number[]): number {\n  return values.reduce((a, b) => a + b, 0);\n}\n',
  'Größe naïve café Ελληνικά русский язык עברית العربية हिन्दी ไทย 한국어 日本語のテキスト 中文文本，测试。',
  'e\u0301a\u0300o\u0308 👩‍👩‍👧 🇩🇪 \t\r\n    <div class="a">&amp;</div> __init__ === // ---- {"k": [1, 2.5e3, null]}\n',
  'ACamelCaseIdentifierThatIsRatherLongAndNotInAnyVocabulary=================================================',
  '一個沒有空格的長句子讓詞緩存無法使用這樣就會走到合併的路徑上去。これは区切りのない長い文章です。',
];

/** Words that are new each time, so that merging is warmed and not only the cache. */
function freshWords(round: number): string {
  let state = round + 1;
  let text = '';
  for (let k = 0; k < 2000; k++) {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    text += k % 7 === 0 ? ' ' : String.fromCharCode(0x61 + ((state >>> 16) % 26));
  }
  return text;
}

/**
 * Encodes and decodes sample text until the engine's loops are compiled, some hundred milliseconds at most: without
 * it the first requests of a worker take twenty times as long as later ones.
 *
 * @param budgetMs stops after about this long
 */
export function warmUp(encoder: Encoder, budgetMs = 150): void {
  const end = performance.now() + budgetMs;
  for (let round = 0; performance.now() < end; round++) {
    // Long texts first: they make buffers grow, and code compiled before it has seen that is thrown away again.
    if (round % 4 === 0) {
      const long = [...SAMPLE, freshWords(round), SAMPLE.join('').repeat(16)];
      encoder.decode(encoder.encode(long, true), true);
    }
    for (const text of SAMPLE) encoder.encode([text, freshWords(round).slice(0, 200)], round % 2 === 0);
  }
}
