import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import koffi from 'koffi';
import { fail, type Outcome, succeed } from '../protocol/status.ts';

/** What `next` found, as in src/native/host.h. */
export const NEXT = { job: 1, idle: 0, grow: -1, stopped: -2 } as const;

/** Which queue of a host `next` takes from. */
export const QUEUES = { calls: 0, control: 1 } as const;

export interface HostOptions {
  readonly maxQueueCalls: number;
  readonly maxQueueBytes: number;
  readonly socketPath?: string | undefined;
  readonly socketGroup?: string | undefined;
  readonly controlFd?: number | undefined;
}

/** A job that `next` copied into the caller's buffer. */
export interface Job {
  /** Names the job in `reply`. */
  ticket: number;
  /** Bytes of the request frame; with `NEXT.grow`, the capacity it needs. */
  length: number;
  /** Microseconds that it has waited. */
  queue: number;
}

/** As in include/epptok.h and package.json. */
const VERSION = '0.1.0';

/** epptok_host_job, four u64: ticket, length, deadline_ms, queue_us. None outgrows what a number holds exactly. */
const JOB_WORDS = 8;
const COUNTERS = [
  'queuedCalls',
  'queuedBytes',
  'runningCalls',
  'connections',
  'accepted',
  'refusedBackpressure',
  'expired',
  'disconnected',
  'badFrames',
] as const;
export type HostCounters = Record<(typeof COUNTERS)[number], number>;

const ServeCallback = koffi.proto('int32_t epptok_serve_callback(uint64_t exchange)');
const HostOptionsStruct = koffi.struct('epptok_host_options', {
  struct_size: 'uint32_t',
  max_queue_calls: 'uint32_t',
  max_queue_bytes: 'uint64_t',
  max_frame_bytes: 'uint64_t',
  socket_path: 'const char *',
  socket_group: 'const char *',
  control_fd: 'int32_t',
  hello_ms: 'uint32_t',
});

/**
 * libepptok, as the runtime sees it (src/native/host.h). Loaded once per thread; hosts are numbers, known to every thread of
 * the process. Buffers that are passed in are JavaScript's own: nothing here keeps a view of native memory.
 */
export class NativeLibrary {
  readonly #hostStart: (options: unknown, message: Uint8Array, capacity: number) => number;
  readonly #setReady: (host: number, status: number, message: string) => void;
  readonly #next: (
    host: number,
    queue: number,
    buffer: Uint8Array,
    capacity: number,
    job: Uint32Array,
    waitMs: number,
  ) => number;
  readonly #reply: (
    host: number,
    ticket: number,
    frame: Uint8Array,
    length: number,
    ids: Uint32Array,
    count: number,
  ) => number;
  readonly #attach: (
    host: number,
    callback: bigint,
    timeoutMs: number,
    message: Uint8Array,
    capacity: number,
  ) => bigint | null;
  readonly #endWithThread: (host: number, handle: bigint) => number;
  readonly #counters: (host: number, counters: BigUint64Array) => number;
  readonly #close: (handle: bigint) => number;
  readonly #words = new Uint32Array(JOB_WORDS);
  readonly #message = new Uint8Array(512);

  /** 1 when a caller waits in the queue and no service has come for it yet. */
  readonly wanted: (host: number) => number;
  readonly stop: (host: number) => void;
  readonly exchangeTake: (exchange: bigint | number, buffer: Uint8Array, capacity: number) => number;
  /** 0 while the call is wanted, else the status number to give up with. */
  readonly exchangeAbandoned: (exchange: bigint | number) => number;
  readonly exchangePut: (exchange: bigint | number, frame: Uint8Array, length: number) => number;

  constructor(path: string) {
    const library = koffi.load(path);
    const version = library.func('epptok_version', 'str', [])();
    if (version !== VERSION) throw new Error(`it is version ${version}, and this runtime is ${VERSION}`);
    const size = 'size_t';
    this.#hostStart = library.func('epptok_host_start', 'uint32_t', [
      koffi.pointer(HostOptionsStruct),
      'void *',
      size,
    ]);
    this.#setReady = library.func('epptok_host_set_ready', 'void', ['uint32_t', 'uint32_t', 'const char *']);
    this.#next = library.func('epptok_host_next', 'int32_t', [
      'uint32_t',
      'uint32_t',
      'void *',
      size,
      'void *',
      'uint32_t',
    ]);
    this.#reply = library.func('epptok_host_reply_with_ids', 'int32_t', [
      'uint32_t',
      'uint64_t',
      'void *',
      size,
      'void *',
      size,
    ]);
    this.wanted = library.func('epptok_host_wanted', 'int32_t', ['uint32_t']);
    this.#counters = library.func('epptok_host_counters_read', 'int32_t', ['uint32_t', 'void *']);
    this.stop = library.func('epptok_host_stop', 'void', ['uint32_t']);
    const callback = koffi.pointer(ServeCallback);
    this.#attach = library.func('epptok_host_attach', 'void *', [
      'uint32_t',
      callback,
      'uint32_t',
      'void *',
      size,
    ]);
    this.#endWithThread = library.func('epptok_host_end_with_thread', 'int32_t', ['uint32_t', 'void *']);
    this.exchangeTake = library.func('epptok_exchange_take', size, ['uint64_t', 'void *', size]);
    this.exchangeAbandoned = library.func('epptok_exchange_abandoned', 'uint32_t', ['uint64_t']);
    this.exchangePut = library.func('epptok_exchange_put', 'int32_t', ['uint64_t', 'void *', size]);
    this.#close = library.func('epptok_close', 'int', ['void *']);
  }

  startHost(options: HostOptions): Outcome<number> {
    const host = this.#hostStart(
      {
        struct_size: koffi.sizeof(HostOptionsStruct),
        max_queue_calls: options.maxQueueCalls,
        max_queue_bytes: options.maxQueueBytes,
        max_frame_bytes: 0,
        socket_path: options.socketPath ?? null,
        socket_group: options.socketGroup ?? null,
        control_fd: options.controlFd ?? -1,
        hello_ms: 0,
      },
      this.#message,
      this.#message.length,
    );
    return host === 0 ? fail('INIT_FAILED', this.#reason()) : succeed(host);
  }

  /** Until it is called with status 0, the host answers every call with `status` or NOT_READY, and `message`. */
  setReady(host: number, status: number, message: string): void {
    this.#setReady(host, status, message);
  }

  /** Waits at most `waitMs` (blocking this thread) for a job and fills `job`. */
  next(host: number, queue: number, buffer: Uint8Array, job: Job, waitMs: number): number {
    const words = this.#words;
    const found = this.#next(host, queue, buffer, buffer.length, words, waitMs);
    if (found === NEXT.job || found === NEXT.grow) {
      job.ticket = u64(words, 0);
      job.length = u64(words, 2);
      job.queue = u64(words, 6);
    }
    return found;
  }

  /** Answers with a frame, given without its ids (FrameWriter.responseBeforeIds). True if somebody still waited for it. */
  reply(host: number, ticket: number, frame: Uint8Array, ids: Uint32Array): boolean {
    return this.#reply(host, ticket, frame, frame.length, ids, ids.length) === 1;
  }

  /**
   * An `epptok *` onto `host`, owned by this thread; `callback` serves the calls that this thread makes. Both end with this
   * thread, however it ends.
   */
  attach(host: number, callback: bigint, timeoutMs: number): Outcome<bigint> {
    const attached = this.#attach(host, callback, timeoutMs, this.#message, this.#message.length);
    if (!attached) return fail('INIT_FAILED', this.#reason());
    const handle = BigInt(attached);
    if (this.#endWithThread(host, handle) === 1) return succeed(handle);
    this.closeHandle(handle);
    return fail('OUT_OF_MEMORY', 'memory ran out for another handle');
  }

  counters(host: number): HostCounters {
    const words = new BigUint64Array(COUNTERS.length);
    this.#counters(host, words);
    return Object.fromEntries(COUNTERS.map((name, index) => [name, Number(words[index])])) as HostCounters;
  }

  closeHandle(handle: bigint): void {
    this.#close(handle);
  }

  /** Registers `serve` for `attach`; it answers 1 once it has put a response. Unregister before this thread ends. */
  registerCallback(serve: (exchange: bigint | number) => number): bigint {
    return koffi.register(serve, koffi.pointer(ServeCallback));
  }

  unregisterCallback(callback: bigint): void {
    koffi.unregister(callback);
  }

  #reason(): string {
    return Buffer.from(this.#message.subarray(0, this.#message.indexOf(0))).toString('utf8');
  }
}

/** A little-endian u64 below 2^53. */
function u64(words: Uint32Array, at: number): number {
  return words[at]! + words[at + 1]! * 2 ** 32;
}

/** libepptok for this platform, beside the bundle (`native/linux-x64/libepptok.so`), or the copy that is loaded already. */
export function openNativeLibrary(bundle: URL): Outcome<NativeLibrary> {
  const suffix = process.platform === 'darwin' ? 'dylib' : 'so';
  const file = new URL(`native/${process.platform}-${process.arch}/libepptok.${suffix}`, bundle);
  const path = copyInUse(fileURLToPath(file));
  if (!existsSync(path)) return fail('INIT_FAILED', `libepptok for this platform is not at ${path}`);
  try {
    return succeed(new NativeLibrary(path));
  } catch (error) {
    return fail('INIT_FAILED', `${path} cannot be loaded: ${error instanceof Error ? error.message : error}`);
  }
}

/**
 * A handle means something to the copy of the library that made it. A plugin that is loaded before the first handle is made
 * has brought the copy that it was linked with; then that one must be used. On Linux only, where it can be seen.
 */
function copyInUse(own: string): string {
  if (process.platform !== 'linux') return own;
  const mapped = [...readFileSync('/proc/self/maps', 'utf8').matchAll(/ (\/.*\/libepptok\.so[.\d]*)$/gm)];
  const paths = new Set(mapped.map(([, path]) => path!));
  const [first] = paths;
  return first === undefined || paths.has(own) ? own : first;
}
