import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Tokenizer as LibraryTokenizer } from '@huggingface/tokenizers';
import { AsyncTokenizer } from 'epptok';
import { Piscina } from 'piscina';
import { Crew } from '../../src/core/crew.ts';
import { openModel } from '../../src/core/model.ts';
import type { WorkerSeed } from '../../src/core/pool.ts';
import { prepareModel } from '../../src/core/prepare-model.ts';
import { prepareModels } from '../../src/core/prepare-models.ts';
import type { Request, Response } from '../../src/protocol/messages.ts';
import { MODEL, MODEL_DIRECTORY, MODEL_READER, POOL_WORKER } from '../paths.ts';

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
  {
    name: 'library, AsyncTokenizer',
    is: 'offloading alone',
    open: (n) => throughAsyncTokenizer(n, 'library'),
  },
  { name: 'library, bare piscina', is: 'for comparison: no dispatcher', open: libraryBarePiscina },
  { name: 'compiled, on the loop', is: 'a faster encoder alone', open: compiledOnTheLoop },
  { name: 'compiled, bare piscina', is: 'for comparison: no dispatcher', open: compiledBarePiscina },
  { name: 'compiled, AsyncTokenizer', is: 'the default', open: (n) => throughAsyncTokenizer(n, 'compiled') },
];

async function libraryOnTheLoop(): Promise<Encode> {
  const read = (name: string) => JSON.parse(readFileSync(join(MODEL_DIRECTORY, name), 'utf8')) as object;
  const library = new LibraryTokenizer(read('tokenizer.json'), read('tokenizer_config.json'));
  return (text) => Uint32Array.from(library.encode(text.toString('utf8')).ids);
}

async function compiledOnTheLoop(): Promise<Encode> {
  const prepared = prepareModel({ name: 'qwen3', directory: MODEL_DIRECTORY, encoder: 'compiled' });
  if (!prepared.ok) throw new Error(prepared.fault.message);
  const model = openModel(prepared.value);
  if (!model.ok) throw new Error(model.fault.message);
  return (text) => model.value.encoder.encode([text.toString('utf8')], false);
}

async function throughAsyncTokenizer(threads: number, encoder: 'compiled' | 'library'): Promise<Encode> {
  const tokenizer = await AsyncTokenizer.create({ model: MODEL, encoder, threads, timeoutMs: 120_000 });
  return async (body, signal) => (await tokenizer.tokenize({ kind: 'text', body, signal })).ids;
}

async function libraryBarePiscina(threads: number): Promise<Encode> {
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

/** The very workers of AsyncTokenizer, with nothing before them but piscina's own queue. */
async function compiledBarePiscina(threads: number): Promise<Encode> {
  const prepared = prepareModels([{ name: 'qwen3', directory: MODEL_DIRECTORY }], MODEL_READER);
  const seed: WorkerSeed = { numbers: new SharedArrayBuffer(4) };
  const crew = new Crew(POOL_WORKER, threads, seed, prepared);
  const ready = await crew.ready();
  if (!ready.ok) throw new Error(ready.fault.message);
  return async (body, signal) => {
    const request: Request = { operation: 'tokenize', kind: 'text', flags: 0, model: '', body };
    return ((await crew.piscina.run(request, { signal })) as Response).ids;
  };
}
