import { normalizeEach, scalarValues, type TokenizerClass } from './oracle-text.ts';

const HANGUL_FIRST = 0xac00;
const HANGUL_LAST = 0xd7a3;

const characterOf = (code: number): string => String.fromCodePoint(code);
const base36 = (code: number): string => code.toString(36);
const codesOf = (text: string): number[] => Array.from(text, (character) => character.codePointAt(0)!);

/** `<code>=<part>[ <part>...]`: full decompositions under one form, Hangul syllables (arithmetic) left out. */
function decompositions(codes: number[], decomposed: string[]): Map<number, string> {
  const map = new Map<number, string>();
  for (const [index, code] of codes.entries()) {
    if (code >= HANGUL_FIRST && code <= HANGUL_LAST) continue;
    if (decomposed[index] !== characterOf(code)) map.set(code, decomposed[index]!);
  }
  return map;
}

function encode(map: Map<number, string>): string {
  return Array.from(map, ([code, parts]) => `${base36(code)}=${codesOf(parts).map(base36).join(' ')}`).join(
    ',',
  );
}

/** Pairs that compose: a decomposable code point that NFC keeps is its longest composed prefix plus one mark. */
function compositions(oracle: TokenizerClass, canonical: Map<number, string>): string {
  const whole = [...canonical.keys()];
  const recomposed = normalizeEach(oracle, { type: 'NFC' }, whole.map(characterOf));
  const kept = whole.filter((code, index) => recomposed[index] === characterOf(code));
  const prefixes = kept.map((code) => codesOf(canonical.get(code)!).slice(0, -1).map(characterOf).join(''));
  const firsts = normalizeEach(oracle, { type: 'NFC' }, prefixes);
  return kept
    .map((code, index) => {
      const first = codesOf(firsts[index]!);
      if (first.length !== 1) throw new Error(`U+${code.toString(16)} is not a pair`);
      return `${base36(first[0]!)} ${base36(codesOf(canonical.get(code)!).at(-1)!)}=${base36(code)}`;
    })
    .join(',');
}

/**
 * `<code>=<rank>`: order of combining classes as the oracle has them (only the order matters for sorting marks).
 * A mark is what changes place beside U+0334 (class 1, the lowest) or U+0345 (class 240, the highest).
 */
function combiningRanks(oracle: TokenizerClass, codes: number[]): string {
  const nfd = (texts: string[]): string[] => normalizeEach(oracle, { type: 'NFD' }, texts);
  const before = nfd(codes.map((code) => `${characterOf(code)}\u0334`));
  const after = nfd(codes.map((code) => `\u0345${characterOf(code)}`));
  const marks = codes.filter(
    (code, index) =>
      (codesOf(before[index]!)[0] === 0x334 && codesOf(before[index]!)[1] === code) ||
      (codesOf(after[index]!)[0] === code && codesOf(after[index]!)[1] === 0x345),
  );
  marks.push(...[0x334, 0x345].filter((code) => !marks.includes(code)));
  const swaps = (left: number, right: number): boolean =>
    codesOf(nfd([characterOf(left) + characterOf(right)])[0]!)[0] === right && left !== right;
  const classes: number[][] = [];
  for (const mark of marks) {
    // Classes below `low` sort before the mark; the class at `low` equals it or sorts after it.
    let low = 0;
    let high = classes.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (swaps(mark, classes[middle]![0]!)) low = middle + 1;
      else high = middle;
    }
    const same = low < classes.length && !swaps(classes[low]![0]!, mark);
    if (same) classes[low]!.push(mark);
    else classes.splice(low, 0, [mark]);
  }
  return classes
    .flatMap((members, rank) => members.map((mark) => [mark, rank + 1] as const))
    .sort(([a], [b]) => a - b)
    .map(([mark, rank]) => `${base36(mark)}=${base36(rank)}`)
    .join(',');
}

export function normalizationTables(oracle: TokenizerClass): Record<string, string> {
  const codes = [...scalarValues()].filter((code) => code !== 10);
  const characters = codes.map(characterOf);
  const canonical = decompositions(codes, normalizeEach(oracle, { type: 'NFD' }, characters));
  const compatible = decompositions(codes, normalizeEach(oracle, { type: 'NFKD' }, characters));
  for (const [code, parts] of canonical) if (compatible.get(code) === parts) compatible.delete(code);
  return {
    CANONICAL: encode(canonical),
    COMPATIBLE: encode(compatible),
    COMPOSITIONS: compositions(oracle, canonical),
    COMBINING_RANKS: combiningRanks(oracle, codes),
  };
}
