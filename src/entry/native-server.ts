import type { Logger } from 'pino';
import type { LoopWatch } from '../core/event-loop/watch.ts';
import { metricsLibrary, renderMetrics } from '../core/metrics/exposition.ts';
import type { ModelSpec, PreparedModel } from '../core/model.ts';
import { threadCount } from '../core/runtime.ts';
import { type NativeLibrary, openNativeLibrary } from '../ffi/native-library.ts';
import { type Fault, fail, type Outcome, STATUS, succeed } from '../protocol/status.ts';
import { ControlQueue } from './control-queue.ts';
import { logLostThread } from './log.ts';
import { NativeServices } from './native-services.ts';

/** How often the control queue and the parent are looked after. */
const TICK_MS = 25;

export interface ServerSettings {
  readonly models: readonly ModelSpec[];
  /** 0: one per core available. */
  readonly threads: number;
  readonly maxQueueCalls: number;
  readonly maxQueueBytes: number;
  /** Listen here (sidecar). */
  readonly socketPath?: string | undefined;
  readonly socketGroup?: string | undefined;
  /** Connections arrive on this descriptor, and its end of file ends the server (private child). */
  readonly controlFd?: number | undefined;
  /** End with the process that started this one, which may be a shell around it: the parent when the server starts counts. */
  readonly endsWithParent?: boolean;
}

/**
 * The runtime of other processes: a native host on a socket or a control descriptor, its service threads, and this thread
 * to look after both. Calls are answered NOT_READY until the models are warm.
 */
export class NativeServer {
  readonly #library: NativeLibrary;
  readonly #host: number;
  readonly #settings: ServerSettings;
  readonly #parent = process.ppid;
  readonly #loop: LoopWatch;
  readonly #log: Logger;
  readonly #control: ControlQueue;
  readonly #timer: NodeJS.Timeout;
  readonly #stopHost: () => void;
  #services: NativeServices | undefined;
  #notReady: string | undefined = 'the models are still loading';
  #end!: () => void;
  /** Resolves when the server has been told to end: by `stop`, by its parent, or by the end of its control descriptor. */
  readonly ended: Promise<void>;

  private constructor(
    library: NativeLibrary,
    host: number,
    settings: ServerSettings,
    loop: LoopWatch,
    log: Logger,
  ) {
    this.#log = log;
    this.#library = library;
    this.#host = host;
    this.#settings = settings;
    this.#loop = loop;
    this.#control = new ControlQueue(library, host, () => this.metrics(), loop.clock);
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
    // Without this, process.exit() would wait for service threads that wait in native code.
    this.#stopHost = () => library.stop(host);
    process.on('exit', this.#stopHost);
  }

  /**
   * Starts to listen. `load` waits for the models, so that callers are answered meanwhile. `loop` watches the event loop of
   * this thread.
   */
  static start(settings: ServerSettings, loop: LoopWatch, log: Logger): Outcome<NativeServer> {
    const library = openNativeLibrary(new URL('.', import.meta.url));
    if (!library.ok) return library;
    const host = library.value.startHost(settings);
    if (!host.ok) return host;
    return succeed(new NativeServer(library.value, host.value, settings, loop, log));
  }

  /**
   * Starts the service threads with the models, which are being `prepared`. A failure is what callers are told from then on,
   * too.
   */
  async load(prepared: Promise<Outcome<readonly PreparedModel[]>>): Promise<Outcome<void>> {
    const { models, threads } = this.#settings;
    const file = new URL('./service-thread.js', import.meta.url);
    const names = models.map(({ name }) => name);
    const onLost = logLostThread(this.#log);
    this.#services = new NativeServices(file, this.#host, threadCount(threads), names, prepared, onLost);
    void metricsLibrary();
    const ready = await this.#services.ready();
    if (!ready.ok) {
      void this.#services.close();
      return this.refuse(ready.fault);
    }
    this.#library.setReady(this.#host, STATUS.OK, '');
    this.#notReady = undefined;
    return ready;
  }

  /**
   * Answers calls in flight with SHUTTING_DOWN and closes the socket. Service threads end when they are done with what they
   * have in hand, or with the process. Safe to call twice.
   */
  stop(): void {
    this.#notReady = 'the runtime is stopping';
    clearInterval(this.#timer);
    this.#loop.stop();
    this.#stopHost();
    this.#end();
  }

  /** Tells callers, from now on, why they cannot be served. */
  refuse(fault: Fault): Outcome<void> {
    this.#library.setReady(this.#host, STATUS[fault.status], fault.message);
    this.#notReady = fault.message;
    return fail(fault.status, fault.message);
  }

  /** Why callers are not served now, if they are not: until every model is warm, and from `stop` on. */
  whyNotReady(): string | undefined {
    return this.#notReady;
  }

  /** Metrics in Prometheus text format. */
  metrics(): Promise<string> {
    const host = this.#library.counters(this.#host);
    const calls = this.#services?.counters ?? [];
    return renderMetrics({
      calls,
      caches: this.#services?.caches ?? [],
      loop: this.#loop.read(),
      ready: this.#notReady === undefined,
      workers: calls.length,
      busyWorkers: host.runningCalls,
      queuedCalls: host.queuedCalls,
      queuedBytes: host.queuedBytes,
      workerRestarts: this.#services?.restarts ?? 0,
      runtimeRestarts: 0,
      host,
    });
  }

  #tick(): void {
    const orphaned = this.#settings.endsWithParent === true && process.ppid !== this.#parent;
    if (orphaned || !this.#control.answerWaiting()) this.#end();
  }
}
