import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Tokenizer as LibraryTokenizer } from '@huggingface/tokenizers';
import { AsyncTokenizer } from 'epptok';
import { Piscina } from 'piscina';
import { MODEL, MODEL_DIRECTORY } from '../paths.ts';

/** What a frontend does with the text of a request. `signal`: its caller has left. */
export type Encode = (text: Buffer, signal: AbortSignal) => Uint32Array | Promise<Uint32Array>;

export interface Design {
  readonly name: string;
  /** In a word, what it stands for. */
  readonly is: string;
  open(threads: number): Promise<Encode>;
}

export const DESIGNS: readonly Design[] = [
  { name: 'library, on the loop', is: 'the incident', open: libraryOnTheLoop },
  { name: 'library, AsyncTokenizer', is: 'offloaded', open: throughAsyncTokenizer },
  {
    name: 'library, bare piscina',
    is: 'for comparison: the same worker count, no dispatcher',
    open: barePiscina,
  },
];

async function libraryOnTheLoop(): Promise<Encode> {
  const read = (name: string) => JSON.parse(readFileSync(join(MODEL_DIRECTORY, name), 'utf8')) as object;
  const library = new LibraryTokenizer(read('tokenizer.json'), read('tokenizer_config.json'));
  return (text) => Uint32Array.from(library.encode(text.toString('utf8')).ids);
}

async function throughAsyncTokenizer(threads: number): Promise<Encode> {
  const tokenizer = await AsyncTokenizer.create({ model: MODEL, threads, timeoutMs: 120_000 });
  return async (body, signal) => (await tokenizer.tokenize({ kind: 'text', body, signal })).ids;
}

async function barePiscina(threads: number): Promise<Encode> {
  const pool = new Piscina<Buffer, Uint32Array>({
    filename: new URL('./piscina-worker.js', import.meta.url).href,
    minThreads: threads,
    maxThreads: threads,
    workerData: MODEL_DIRECTORY,
  });
  // Each worker is warm once it has answered.
  await Promise.all(Array.from({ length: threads * 2 }, () => pool.run(Buffer.from('Warm up.'))));
  return (text, signal) => pool.run(text, { signal });
}
