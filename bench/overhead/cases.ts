import { FreshText } from '../fresh-text.ts';
import { MODEL_DIRECTORY } from '../paths.ts';

/** How many calls each design makes of a case in one round. */
export interface Case {
  readonly name: string;
  /** Bytes of the request body. */
  readonly size: number;
  /** `precomputed`: the ids stand in the body, nothing is encoded. `encoded`: a chat of one message, the same each time. */
  readonly answer: 'precomputed' | 'encoded';
  readonly body: Uint8Array;
  /** Number of ids that a precomputed answer has. */
  readonly ids: number;
  readonly calls: number;
  readonly warmup: number;
}

const SIZES = { '100 B': 100, '4 kB': 4_096, '167 kB': 167_000 } as const;
const CALLS = { '100 B': 300, '4 kB': 300, '167 kB': 100 } as const;
const QUICK_CALLS = { '100 B': 60, '4 kB': 60, '167 kB': 20 } as const;
const ENCODED_CALLS = { '100 B': 100, '4 kB': 40, '167 kB': 2 } as const;
const QUICK_ENCODED_CALLS = { '100 B': 20, '4 kB': 5, '167 kB': 1 } as const;

type Size = keyof typeof SIZES;

export function openCases(quick: boolean): readonly Case[] {
  const prose = new FreshText(MODEL_DIRECTORY, 1);
  const sizes = Object.keys(SIZES) as Size[];
  const few = sizes.map((size): Case => {
    const calls = (quick ? QUICK_CALLS : CALLS)[size];
    const ids = size === '100 B' ? 4 : 16;
    const body = precomputed(prose, SIZES[size], ids);
    const name = `${size}, no encode`;
    return { name, size: SIZES[size], answer: 'precomputed', body, ids, calls, warmup: calls >> 2 };
  });
  // As many ids as the text of such a body has, so that the way back is as wide as the way there.
  const many = (['4 kB', '167 kB'] as const).map((size): Case => {
    const calls = (quick ? QUICK_CALLS : CALLS)[size] >> 1;
    const ids = Math.round(SIZES[size] / 10);
    const body = precomputed(prose, SIZES[size], ids);
    const name = `${size}, no encode, ${ids} ids`;
    return { name, size: SIZES[size], answer: 'precomputed', body, ids, calls, warmup: calls >> 2 };
  });
  const encoded = sizes.map((size): Case => {
    const calls = (quick ? QUICK_ENCODED_CALLS : ENCODED_CALLS)[size];
    const body = chat(prose, SIZES[size]);
    const name = `${size}, encoded`;
    return { name, size: SIZES[size], answer: 'encoded', body, ids: 0, calls, warmup: calls >> 2 };
  });
  return [...few, ...(quick ? [] : many), ...(quick ? encoded.slice(0, 2) : encoded)];
}

function precomputed(prose: FreshText, size: number, count: number): Uint8Array {
  const token_data = Array.from({ length: count }, (_, i) => (i * 7919) % 100_000);
  return padded(size, (prompt) => ({ prompt, nvext: { token_data } }), prose);
}

function chat(prose: FreshText, size: number): Uint8Array {
  return padded(size, (content) => ({ messages: [{ role: 'user', content }] }), prose);
}

/** A body of exactly `size` bytes: what JSON escapes in the text is no line end here. */
function padded(size: number, make: (text: string) => object, prose: FreshText): Uint8Array {
  const rest = size - JSON.stringify(make('')).length;
  if (rest < 0) throw new Error(`a body of ${size} bytes does not hold that`);
  const text = prose.text(rest).replaceAll('\n', ' ');
  return new TextEncoder().encode(JSON.stringify(make(text)));
}
