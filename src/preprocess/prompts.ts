import { fail, type Outcome, succeed } from '../protocol/status.ts';
import { isList } from './body.ts';
import type { JsonValue } from './json/value.ts';

/** Prompts of one batch. An engine would queue them one by one; a reply of millions of sequences serves nobody. */
const MAX_PROMPTS = 16_384;

export interface IdRange {
  readonly vocabularySize: number;
}

type Prompts =
  | { readonly from: 'texts'; readonly texts: readonly string[] }
  | { readonly from: 'ids'; readonly sequences: readonly Uint32Array[] };

/** `prompt` and `input` in their four shapes: string, [string], [id], [[id]]. `name` is the field, for failures. */
export function readPrompts(value: JsonValue, name: string, range: IdRange): Outcome<Prompts> {
  if (typeof value === 'string') return succeed({ from: 'texts', texts: [value] });
  const shape = () =>
    fail(
      'INVALID_REQUEST',
      `${name} must be a string, or an array of strings, of token ids or of arrays of token ids`,
    );
  if (!isList(value)) return shape();
  const [first] = value;
  if (first === undefined) return fail('INVALID_REQUEST', `${name} must not be an empty array`);
  if (typeof first !== 'number' && value.length > MAX_PROMPTS) {
    return fail('INVALID_REQUEST', `${name} has ${value.length} prompts, and a batch at most ${MAX_PROMPTS}`);
  }
  if (typeof first === 'string') {
    const texts: string[] = [];
    for (const [index, text] of value.entries()) {
      if (typeof text !== 'string') return fail('INVALID_REQUEST', `${name}[${index}] must be a string`);
      texts.push(text);
    }
    return succeed({ from: 'texts', texts });
  }
  if (typeof first === 'number') {
    const ids = readIds(value, name, range);
    return ids.ok ? succeed({ from: 'ids', sequences: [ids.value] }) : ids;
  }
  if (!isList(first)) return shape();
  const sequences: Uint32Array[] = [];
  for (const [index, sequence] of value.entries()) {
    const ids = readIds(sequence, `${name}[${index}]`, range);
    if (!ids.ok) return ids;
    sequences.push(ids.value);
  }
  return succeed({ from: 'ids', sequences });
}

/** An array of token ids; the first that is none is named by its index. */
export function readIds(value: JsonValue, name: string, range: IdRange): Outcome<Uint32Array> {
  if (!isList(value)) return fail('INVALID_REQUEST', `${name} must be an array of token ids`);
  const ids = new Uint32Array(value.length);
  for (let i = 0; i < value.length; i++) {
    const id = value[i];
    if (typeof id !== 'number' || !Number.isInteger(id) || id < 0 || id >= range.vocabularySize) {
      return fail(
        'INVALID_REQUEST',
        `${name}[${i}] must be a token id, an integer from 0 to ${range.vocabularySize - 1}`,
      );
    }
    ids[i] = id;
  }
  return succeed(ids);
}
