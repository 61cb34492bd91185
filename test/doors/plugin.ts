import koffi from 'koffi';
import { nativeLibrary } from '../support/built.ts';

/** native-test/plugin.c: a plugin that is given a handle and does not know how it was obtained. */
const library = koffi.load(nativeLibrary('quickstart_plugin'));
const tokenizeIn = library.func('plugin_tokenize', 'int32_t', [
  'uint64_t',
  'uint32_t',
  'uint32_t',
  'void *',
  'size_t',
  'void *',
  'size_t',
  'void *',
  'void *',
  'void *',
  'size_t',
]);
const runOnThreads = library.func('plugin_run_on_threads', 'uint32_t', [
  'uint64_t',
  'uint32_t',
  'uint32_t',
  'uint32_t',
  'void *',
  'size_t',
  'void *',
  'void *',
]);

const TRANSPORT_NAMES = ['none', 'callback', 'direct', 'socket'] as const;
export const KIND = { auto: 0, chat: 1, completion: 2, embedding: 3, text: 4 } as const;

export interface PluginAnswer {
  readonly status: number;
  readonly transport: (typeof TRANSPORT_NAMES)[number];
  readonly ids: number[];
  /** How many ids there are, which may be more than fitted. */
  readonly count: number;
  readonly message: string;
}

/** epptok_tokenize_into() from C, on this thread or on one that C starts and joins. */
export function pluginTokenize(
  handle: bigint,
  where: 'this thread' | 'another thread',
  kind: keyof typeof KIND,
  body: string | Uint8Array,
  capacity = 4096,
): PluginAnswer {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  const ids = new Uint32Array(capacity);
  const count = new BigUint64Array(1);
  const transport = new Uint32Array(1);
  const message = Buffer.alloc(512);
  const thread = where === 'this thread' ? 0 : 1;
  const status = tokenizeIn(
    handle,
    thread,
    KIND[kind],
    bytes,
    bytes.length,
    ids,
    capacity,
    count,
    transport,
    message,
    message.length,
  );
  return {
    status,
    transport: TRANSPORT_NAMES[transport[0]!]!,
    ids: status === 0 ? [...ids.subarray(0, Number(count[0]))] : [],
    count: Number(count[0]),
    message: message.toString('utf8', 0, message.indexOf(0)),
  };
}

/** Starts `threads` C threads that each make `calls` calls, and blocks this thread joining them. */
export function pluginRunOnThreads(handle: bigint, threads: number, calls: number, body: string) {
  const bytes = Buffer.from(body);
  const workers = new Uint32Array(threads);
  const statuses = new Uint32Array(threads);
  const answered = runOnThreads(
    handle,
    threads,
    calls,
    KIND.text,
    bytes,
    bytes.length,
    workers,
    statuses,
  ) as number;
  return { answered, workers: [...workers], statuses: [...statuses] };
}
