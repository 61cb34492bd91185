import { type Outcome, succeed } from '../protocol/status.ts';
import type { Encoder } from './encoder.ts';
import { openEngine } from './engine/index.ts';
import { openLibraryEncoder } from './library.ts';
import { parseTokenizerBytes } from './load.ts';
import type { PreparedEncoder } from './prepared-encoder.ts';

/** Opens a prepared encoder in this worker. The compiled one counts its caches' lookups in `lookups`; the library has none. */
export function openEncoder(prepared: PreparedEncoder, lookups?: Float64Array): Outcome<Encoder> {
  if (prepared.with === 'compiled') return succeed(openEngine(prepared.tables, lookups && { lookups }));
  const { tokenizerBytes, directory, overrides, special } = prepared;
  const tokenizer = parseTokenizerBytes(tokenizerBytes, directory);
  return tokenizer.ok ? openLibraryEncoder({ ...tokenizer.value, ...overrides }, special) : tokenizer;
}
