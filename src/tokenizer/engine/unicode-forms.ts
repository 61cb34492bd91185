import { type ByteSet, createByteSet } from './byte-set.ts';
import { CANONICAL, COMBINING_RANKS, COMPATIBLE, COMPOSITIONS } from './generated/normalization.ts';

/** The four normalization forms, by the oracle's tables and not by Node's. */
export type Form = 'NFC' | 'NFD' | 'NFKC' | 'NFKD';

const HANGUL = 0xac00;
const HANGUL_COUNT = 11172;
const LEAD = 0x1100;
const VOWEL = 0x1161;
const TAIL = 0x11a7;
const LEADS = 19;
const VOWELS = 21;
const TAILS = 28;
const CODE_POINTS = 0x110000;

type UnicodeData = {
  readonly canonical: Map<number, number[]>;
  readonly compatible: Map<number, number[]>;
  /** By `first * CODE_POINTS + second`. */
  readonly compositions: Map<number, number>;
  /** Order of the combining class; absent for starters. */
  readonly ranks: Map<number, number>;
};

const number36 = (text: string): number => Number.parseInt(text, 36);

function parseEntries(text: string): [number[], number[]][] {
  return text
    .split(',')
    .map((entry) => entry.split('=').map((side) => side.split(' ').map(number36)) as [number[], number[]]);
}

let parsed: UnicodeData | undefined;

function unicodeData(): UnicodeData {
  if (parsed) return parsed;
  const canonical = new Map(parseEntries(CANONICAL).map(([[code], parts]) => [code!, parts]));
  parsed = {
    canonical,
    compatible: new Map([
      ...canonical,
      ...parseEntries(COMPATIBLE).map(([[code], parts]) => [code!, parts] as const),
    ]),
    compositions: new Map(
      parseEntries(COMPOSITIONS).map(([[first, second], [code]]) => [first! * CODE_POINTS + second!, code!]),
    ),
    ranks: new Map(parseEntries(COMBINING_RANKS).map(([[code], [rank]]) => [code!, rank!])),
  };
  return parsed;
}

/**
 * What may change, or change its neighbours, under a form: 1 for such a code point in `codePoints`, and `leads` are
 * the bytes of UTF-8 that one of them begins with. Text without any is in the form already; any other code point starts
 * a stretch that nothing before it can touch.
 */
export type UnstableTables = { readonly codePoints: Uint8Array; readonly leads: ByteSet };

export function unstableUnder(form: Form): UnstableTables {
  const codePoints = unstableCodePoints(form);
  const leads = new Set<number>();
  for (let code = 0; code < CODE_POINTS; code++) if (codePoints[code] === 1) leads.add(leadOf(code));
  return { codePoints, leads: createByteSet(leads) };
}

/** First byte of a code point in UTF-8. */
function leadOf(code: number): number {
  if (code < 0x80) return code;
  if (code < 0x800) return 0xc0 | (code >> 6);
  return code < 0x10000 ? 0xe0 | (code >> 12) : 0xf0 | (code >> 18);
}

function unstableCodePoints(form: Form): Uint8Array {
  const { canonical, compatible, compositions, ranks } = unicodeData();
  const unstable = new Uint8Array(new SharedArrayBuffer(CODE_POINTS));
  for (const code of ranks.keys()) unstable[code] = 1;
  const composing = form === 'NFC' || form === 'NFKC';
  const decompositions = form === 'NFC' || form === 'NFD' ? canonical : compatible;
  for (const [code, parts] of decompositions) {
    const result = composing ? compose(parts) : parts;
    if (result.length !== 1 || result[0] !== code) unstable[code] = 1;
  }
  if (composing) {
    for (const pair of compositions.keys()) unstable[pair % CODE_POINTS] = 1;
    unstable.fill(1, VOWEL, VOWEL + VOWELS).fill(1, TAIL + 1, TAIL + TAILS);
  } else unstable.fill(1, HANGUL, HANGUL + HANGUL_COUNT);
  return unstable;
}

/** `codes` in `form`. */
export function toForm(form: Form, codes: readonly number[]): number[] {
  const decomposed = decompose(codes, form === 'NFKC' || form === 'NFKD');
  sortMarks(decomposed);
  return form === 'NFC' || form === 'NFKC' ? compose(decomposed) : decomposed;
}

function decompose(codes: readonly number[], compatibly: boolean): number[] {
  const { canonical, compatible } = unicodeData();
  const decompositions = compatibly ? compatible : canonical;
  const result: number[] = [];
  for (const code of codes) {
    const syllable = code - HANGUL;
    if (syllable >= 0 && syllable < HANGUL_COUNT) {
      result.push(
        LEAD + Math.floor(syllable / (VOWELS * TAILS)),
        VOWEL + (Math.floor(syllable / TAILS) % VOWELS),
      );
      if (syllable % TAILS !== 0) result.push(TAIL + (syllable % TAILS));
      continue;
    }
    const parts = decompositions.get(code);
    if (parts === undefined) result.push(code);
    else for (const part of parts) result.push(part);
  }
  return result;
}

/** Puts each run of marks in the order of their classes; equal classes keep theirs. */
function sortMarks(codes: number[]): void {
  const { ranks } = unicodeData();
  for (let start = 0; start < codes.length; ) {
    let end = start;
    let sorted = true;
    for (let before = 0; end < codes.length; end++) {
      const rank = ranks.get(codes[end]!);
      if (rank === undefined) break;
      if (rank < before) sorted = false;
      before = rank;
    }
    if (!sorted) {
      const marks = codes.slice(start, end).sort((a, b) => ranks.get(a)! - ranks.get(b)!);
      for (let k = 0; k < marks.length; k++) codes[start + k] = marks[k]!;
    }
    start = end + 1;
  }
}

function compose(codes: readonly number[]): number[] {
  const { ranks } = unicodeData();
  const result: number[] = [];
  let starter = -1;
  let lastRank = 0;
  for (const code of codes) {
    const rank = ranks.get(code) ?? 0;
    const reaches = starter >= 0 && (lastRank < rank || lastRank === 0);
    const composed = reaches ? composePair(result[starter]!, code) : undefined;
    if (composed !== undefined) {
      result[starter] = composed;
      continue;
    }
    if (rank === 0) starter = result.length;
    lastRank = rank;
    result.push(code);
  }
  return result;
}

function composePair(first: number, second: number): number | undefined {
  const lead = first - LEAD;
  const vowel = second - VOWEL;
  if (lead >= 0 && lead < LEADS && vowel >= 0 && vowel < VOWELS)
    return HANGUL + (lead * VOWELS + vowel) * TAILS;
  const syllable = first - HANGUL;
  const tail = second - TAIL;
  if (syllable >= 0 && syllable < HANGUL_COUNT && syllable % TAILS === 0 && tail > 0 && tail < TAILS)
    return first + tail;
  return unicodeData().compositions.get(first * CODE_POINTS + second);
}
