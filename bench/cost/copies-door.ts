import { readFileSync } from 'node:fs';
import { AsyncTokenizer, Tokenizer } from 'epptok';
import koffi from 'koffi';
import { openModels } from '../../src/core/model.ts';
import { prepareModel } from '../../src/core/prepare-model.ts';
import { serve } from '../../src/core/serve.ts';
import { MODEL, MODEL_DIRECTORY, PLUGIN } from '../paths.ts';

export const IN_PROCESS_DOORS = [
  'no bridge',
  'C in process, direct',
  'C in process, callback',
  'Tokenizer',
  'AsyncTokenizer',
] as const;
type Door = (typeof IN_PROCESS_DOORS)[number];

/** Makes so many calls, one after the other, and says how many ids the last one gave. */
type Calls = (count: number) => Promise<number>;

const WARMUP = 10;

async function openDoor(door: Door, body: Uint8Array): Promise<Calls> {
  const options = { model: MODEL, threads: 1 };
  switch (door) {
    case 'no bridge': {
      const prepared = prepareModel({ name: 'qwen3', directory: MODEL_DIRECTORY });
      const models = prepared.ok ? openModels([prepared.value]) : prepared;
      if (!models.ok) throw new Error(models.fault.message);
      const request = { operation: 'tokenize', kind: 'chat', flags: 0, model: '', body } as const;
      return over(async () => serve(request, models.value, 0).ids.length);
    }
    case 'Tokenizer': {
      const tokenizer = new Tokenizer(options);
      return over(async () => tokenizer.tokenize({ kind: 'chat', body }).ids.length);
    }
    case 'AsyncTokenizer': {
      const tokenizer = await AsyncTokenizer.create(options);
      return over(async () => (await tokenizer.tokenize({ kind: 'chat', body })).ids.length);
    }
    default: {
      const tokenizer = new Tokenizer(options);
      const { length } = tokenizer.tokenize({ kind: 'chat', body }).ids;
      const word = 'uint32_t';
      const parameters = ['uint64_t', word, word, 'void *', 'size_t', word, word, 'void *'];
      const bench = koffi.load(PLUGIN).func('plugin_bench', 'int32_t', parameters);
      const inThread = door === 'C in process, direct' ? 1 : 0;
      return async (count) => {
        const latencies = new Float64Array(count);
        const status = bench(tokenizer.nativeHandle, inThread, 1, body, body.length, 0, count, latencies);
        if (status !== 0) throw new Error(`${door}: status ${status}`);
        return length;
      };
    }
  }
}

function over(call: () => Promise<number>): Calls {
  return async (count) => {
    let ids = 0;
    for (let i = 0; i < count; i++) ids = await call();
    return ids;
  };
}

/** The two words that count_copies.c adds to: what was copied by the program, and by the kernel. */
export function readCounts(path: string): readonly number[] {
  return [...new BigUint64Array(new Uint8Array(readFileSync(path)).buffer)].map(Number);
}

/** `copies-door.ts DOOR BODY_FILE CALLS COUNTS_FILE`, with the counters preloaded: prints what one call copies, in bytes. */
if (import.meta.filename === process.argv[1]) {
  const [door, file, count, counts] = process.argv.slice(2);
  const calls = await openDoor(door as Door, new Uint8Array(readFileSync(file!)));
  await calls(WARMUP);
  const before = readCounts(counts!);
  const ids = await calls(Number(count));
  const [programBytes, kernelBytes] = readCounts(counts!).map(
    (bytes, index) => (bytes - before[index]!) / Number(count),
  );
  console.log(JSON.stringify({ ids, programBytes, kernelBytes }));
  process.exit(0);
}
