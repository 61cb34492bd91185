import { BYTE_CHARACTERS } from '../../../src/tokenizer/engine/decoder.ts';

/** A few hundred words of many kinds, enough for merges that meet and cross. */
const CORPUS = `the quick brown fox jumps over the lazy dog and then the other dogs jump over them too don't can't we'll
it's I'M HTTPServer getValue setValue the thing that this there their they café naïve über straße ÉCOLE привет мир
здравствуйте привет 东京都 日本語 中文中文 文字 한국어 한국 नमस्ते हिन्दी สวัสดี مرحبا שלום 123 4567 2024 1999 3.14
!!! ??? ... --- === // /* */ {} () [] ;; \n\n \t\t    \n     x = y + z; return foo_bar(a, b); “quoted” — dash 😀😀 👍👍 e\u0301e\u0301 a\u0300`;

export type VocabularyShape = {
  /** GPT-2's alphabet for bytes, or characters as they are with U+2581 for spaces. */
  readonly unit: 'bytes' | 'characters';
  /** How merges are written: `a b` or `["a", "b"]`. */
  readonly merges?: 'lines' | 'pairs';
  readonly byteTokens?: 'all' | 'some' | 'none';
  /** Units left out of the vocabulary, by code (or byte). */
  readonly without?: (unit: number) => boolean;
  /** Tokens without a merge that makes them. */
  readonly extra?: readonly string[];
  /** Merges out of order: some make way for others that should have come before. */
  readonly shuffled?: boolean;
  readonly suffix?: string;
  readonly prefix?: string;
};

function unitsOf(word: string, shape: VocabularyShape): string[] {
  const units =
    shape.unit === 'bytes'
      ? Array.from(new TextEncoder().encode(word), (byte) => String.fromCharCode(BYTE_CHARACTERS[byte]!))
      : Array.from(word.replaceAll(' ', '\u2581'));
  return units.map(
    (unit, k) =>
      (k > 0 ? (shape.prefix ?? '') : '') + unit + (k === units.length - 1 ? (shape.suffix ?? '') : ''),
  );
}

/** A vocabulary and merges, learnt from the corpus by joining the commonest pair some hundred times. */
function trainSmallBpe(shape: VocabularyShape): {
  vocab: Record<string, number>;
  merges: (string | string[])[];
} {
  const { prefix = '', suffix = '', byteTokens = 'none', extra = [] } = shape;
  const tokens = new Set<string>(['<unk>', '<s>', '</s>', ...extra]);
  for (let byte = 0; byte < 256; byte++) {
    if (byteTokens === 'none' || (byteTokens === 'some' && byte % 3 === 0)) continue;
    tokens.add(`<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`);
  }
  const alphabet = new Set<string>();
  if (shape.unit === 'bytes')
    for (const [byte, character] of BYTE_CHARACTERS.entries())
      if (!shape.without?.(byte)) alphabet.add(String.fromCharCode(character));
  let words = CORPUS.split(/(?= )|(?<=\n)/).map((word) => unitsOf(word, shape));
  for (const word of words)
    for (const unit of word) {
      const bare = unit.slice(unit.startsWith(prefix) ? prefix.length : 0);
      if (shape.unit === 'characters' && !shape.without?.(bare.codePointAt(0)!)) alphabet.add(unit);
      if (shape.unit === 'bytes' && (prefix !== '' || suffix !== '')) alphabet.add(unit);
    }
  for (const unit of alphabet) {
    tokens.add(unit);
    if (suffix !== '') tokens.add(unit.endsWith(suffix) ? unit : unit + suffix);
    if (prefix !== '') tokens.add(unit.startsWith(prefix) ? unit : prefix + unit);
  }

  const merges: [string, string][] = [];
  for (let round = 0; round < 250; round++) {
    const counts = new Map<string, { left: string; right: string; count: number }>();
    for (const word of words)
      for (let k = 0; k + 1 < word.length; k++) {
        const [left, right] = [word[k]!, word[k + 1]!];
        if (!tokens.has(left) || !tokens.has(right)) continue;
        const pair = counts.get(`${left}\n${right}`) ?? { left, right, count: 0 };
        pair.count++;
        counts.set(`${left}\n${right}`, pair);
      }
    const best = [...counts.values()].sort((a, b) => b.count - a.count)[0];
    if (best === undefined) break;
    const joined = best.left + best.right.slice(prefix.length);
    merges.push([best.left, best.right]);
    tokens.add(joined);
    words = words.map((word) => joinPair(word, best.left, best.right, joined));
  }
  if (shape.shuffled) merges.sort((a, b) => orderOf(a) - orderOf(b));
  return {
    vocab: Object.fromEntries([...tokens].map((token, id) => [token, id])),
    merges: shape.merges === 'pairs' ? merges : merges.map((pair) => pair.join(' ')),
  };
}

function orderOf(pair: [string, string]): number {
  return Array.from(pair.join(' ')).reduce((sum, unit) => (sum * 31 + unit.codePointAt(0)!) % 1009, 7);
}

function joinPair(word: string[], left: string, right: string, joined: string): string[] {
  const result: string[] = [];
  for (let k = 0; k < word.length; k++) {
    if (word[k] === left && word[k + 1] === right) {
      result.push(joined);
      k++;
    } else result.push(word[k]!);
  }
  return result;
}

export type FileParts = {
  readonly vocabulary: VocabularyShape;
  readonly model?: Record<string, unknown>;
  readonly added?: readonly Record<string, unknown>[];
  readonly normalizer?: unknown;
  readonly preTokenizer?: unknown;
  readonly postProcessor?: unknown;
  readonly decoder?: unknown;
};

export type SmallFile = {
  readonly added_tokens: { readonly content: string; readonly id: number }[];
  readonly model: Record<string, unknown> & { vocab: Record<string, number>; merges: unknown[] };
  readonly [part: string]: unknown;
};

/** A tokenizer.json with a small vocabulary and the given parts. Added tokens take the ids that follow it. */
export function smallFile(parts: FileParts): SmallFile {
  const { vocab, merges } = trainSmallBpe(parts.vocabulary);
  let next = Object.keys(vocab).length;
  const added = (parts.added ?? []).map((token) => ({
    id: vocab[String(token.content)] ?? next++,
    content: '',
    single_word: false,
    lstrip: false,
    rstrip: false,
    normalized: false,
    special: false,
    ...token,
  }));
  return {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: added,
    normalizer: parts.normalizer ?? null,
    pre_tokenizer: parts.preTokenizer ?? null,
    post_processor: parts.postProcessor ?? null,
    decoder: parts.decoder ?? null,
    model: {
      type: 'BPE',
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: null,
      end_of_word_suffix: null,
      fuse_unk: false,
      byte_fallback: false,
      vocab,
      merges,
      ...parts.model,
    },
  };
}
