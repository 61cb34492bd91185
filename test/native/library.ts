import { readdirSync, readFileSync } from 'node:fs';
import koffi from 'koffi';
import { type StatusName, statusName } from '../../src/protocol/status.ts';
import { pluginTokenize } from '../doors/plugin.ts';
import { nativeLibrary } from '../support/built.ts';

/** include/epptok.h as a program in C uses it, from this process. */
const library = koffi.load(nativeLibrary('epptok'));
const Options = koffi.struct({
  struct_size: 'size_t',
  abi_version: 'uint32_t',
  flags: 'uint32_t',
  model: 'const char *',
  socket_path: 'const char *',
  runtime_path: 'const char *',
  node_path: 'const char *',
  engine: 'const char *',
  threads: 'uint32_t',
  default_timeout_ms: 'uint32_t',
  open_timeout_ms: 'uint32_t',
  max_queue_calls: 'uint32_t',
  max_queue_bytes: 'uint64_t',
  context_length: 'uint64_t',
  transport: 'uint32_t',
  transformers: 'uint32_t',
});
const open = library.func('epptok_open', 'int', [koffi.pointer(Options), 'void *', 'void *', 'size_t']);
const close = library.func('epptok_close', 'int', ['uint64_t']);

export interface Opening {
  readonly model?: string;
  readonly socket?: string;
  readonly threads?: number;
  /** Of each call. */
  readonly timeoutMs?: number;
  readonly openTimeoutMs?: number;
}

export interface Opened {
  readonly status: StatusName;
  readonly message: string;
  readonly handle: bigint;
  readonly tookMs: number;
}

export function openHandle(opening: Opening): Opened {
  const handle = new BigUint64Array(1);
  const message = Buffer.alloc(512);
  const options = {
    struct_size: koffi.sizeof(Options),
    abi_version: 1,
    flags: 0,
    model: opening.model ?? null,
    socket_path: opening.socket ?? null,
    runtime_path: null,
    node_path: process.execPath,
    engine: null,
    threads: opening.threads ?? 1,
    default_timeout_ms: opening.timeoutMs ?? 10_000,
    open_timeout_ms: opening.openTimeoutMs ?? 20_000,
    max_queue_calls: 0,
    max_queue_bytes: 0,
    context_length: 0,
    transport: 0,
    transformers: 0,
  };
  const start = performance.now();
  const status = statusName(open(options, handle, message, message.length) as number);
  const tookMs = performance.now() - start;
  return { status, message: message.toString('utf8', 0, message.indexOf(0)), handle: handle[0]!, tookMs };
}

export function closeHandle(handle: bigint): StatusName {
  return statusName(close(handle) as number);
}

/** One text, on a thread of its own or on this one. */
export function call(
  handle: bigint,
  text: string | Uint8Array,
  where: 'this thread' | 'another thread' = 'this thread',
) {
  const start = performance.now();
  const { status, ids, message, transport } = pluginTokenize(handle, where, 'text', text);
  return { status: statusName(status), ids, message, transport, tookMs: performance.now() - start };
}

/** The private children of `parent` that have not been waited for, zombies and those about to be included. */
export function runtimesOf(parent: number): number[] {
  const found: number[] = [];
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      const [, parentOf] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      if (Number(parentOf) !== parent) continue;
      // What is ending has no command line any more.
      const command = readFileSync(`/proc/${name}/cmdline`, 'utf8');
      if (command === '' || command.includes('serve-process.js')) found.push(Number(name));
    } catch {
      // It ended meanwhile.
    }
  }
  return found;
}

/** The private child of `parent`. */
export function runtimeOf(parent: number): number {
  const [runtime] = runtimesOf(parent);
  if (runtime === undefined) throw new Error(`process ${parent} has no private child`);
  return runtime;
}

export function isAlive(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return !stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z');
  } catch {
    return false;
  }
}
