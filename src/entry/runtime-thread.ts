import { workerData } from 'node:worker_threads';
import type { LoopWatch } from '../core/event-loop/watch.ts';
import { CallCounters } from '../core/metrics/call-counters.ts';
import { metricsLibrary, renderMetrics } from '../core/metrics/exposition.ts';
import { type RuntimeSettings, threadCount } from '../core/runtime.ts';
import { type NativeLibrary, openNativeLibrary } from '../ffi/native-library.ts';
import { type Outcome, STATUS, succeed } from '../protocol/status.ts';
import { Latch, STATES } from '../sync/latch.ts';
import type { ToRuntime } from '../sync/messages.ts';
import type { RuntimeSeed } from '../sync/runtime.ts';
import { CallerServices, type Tell } from './caller-services.ts';
import { ControlQueue } from './control-queue.ts';
import { logLostThread, openLog, watchLoop } from './log.ts';
import { modelsAhead } from './models-ahead.ts';
import { NativeServices } from './native-services.ts';

/** How often the heartbeat is raised and the native host is looked after. */
const BEAT_MS = 25;

/** The native host of this process, once the door has made one. */
interface NativeHost {
  readonly library: NativeLibrary;
  readonly host: number;
  readonly control: ControlQueue;
}

/** The secondary runtime of a thread that blocks: the workers that answer it, and the services of its native host. */
class RuntimeThread {
  readonly #latch: Latch;
  readonly #port: RuntimeSeed<RuntimeSettings>['port'];
  readonly #callers: CallerServices;
  readonly #loop: LoopWatch;
  /** Runtimes that were lost before this one. */
  readonly #restarts: number;
  /** Calls that no worker has answered. */
  readonly #unserved: CallCounters;
  #native: NativeHost | undefined;
  #services: NativeServices | undefined;

  constructor(seed: RuntimeSeed<RuntimeSettings>, latch: Latch, callers: CallerServices, loop: LoopWatch) {
    this.#latch = latch;
    this.#port = seed.port;
    this.#restarts = seed.restarts;
    this.#callers = callers;
    this.#loop = loop;
    this.#unserved = new CallCounters(callers.names);
    this.#port.on('message', (message: ToRuntime) => void this.#receive(message));
  }

  /** Service threads cost a model each: they start when the first caller waits in the host's queue. */
  tick(): void {
    const native = this.#native;
    if (native === undefined) return;
    native.control.answerWaiting();
    if (this.#services === undefined && native.library.wanted(native.host) === 1) this.#startServices(native);
  }

  async #receive(message: ToRuntime): Promise<void> {
    switch (message.type) {
      case 'unserved':
        this.#unserved.record(message.call, message.response);
        return;
      case 'stats':
        tell({ type: 'stats', id: message.id, text: await this.#metrics() });
        return;
      case 'serve-host':
        this.#serveHost(message.host, message.startServices);
        return;
      case 'close':
        // Whoever waits finds CLOSED; the workers end with this thread, whatever they have in hand.
        this.#latch.enter(STATES.closed);
        process.exit(0);
    }
  }

  #serveHost(host: number, startServices: boolean): void {
    const library = openNativeLibrary(new URL('.', import.meta.url));
    if (!library.ok) return;
    const control = new ControlQueue(library.value, host, () => this.#metrics(), this.#loop.clock);
    this.#native = { library: library.value, host, control };
    if (startServices) this.#startServices(this.#native);
  }

  #startServices({ library, host }: NativeHost): void {
    const file = new URL('./service-thread.js', import.meta.url);
    const { threads, names, models } = this.#callers;
    this.#services = new NativeServices(file, host, threads, names, models, logLostThread(log));
    void this.#services.ready().then((ready) => {
      if (!ready.ok) library.setReady(host, STATUS[ready.fault.status], ready.fault.message);
    });
  }

  #metrics(): Promise<string> {
    const callers = this.#callers;
    const services = this.#services;
    const host = this.#native?.library.counters(this.#native.host);
    const { queued } = this.#latch;
    return renderMetrics({
      calls: [this.#unserved, ...callers.counters, ...(services?.counters ?? [])],
      caches: [...callers.caches, ...(services?.caches ?? [])],
      loop: this.#loop.read(),
      ready: true,
      workers: callers.threads + (services?.counters.length ?? 0),
      busyWorkers: callers.busy + (host?.runningCalls ?? 0),
      queuedCalls: (queued === undefined ? 0 : 1) + (host?.queuedCalls ?? 0),
      queuedBytes: (queued ?? 0) + (host?.queuedBytes ?? 0),
      workerRestarts: callers.restarts + (services?.restarts ?? 0),
      runtimeRestarts: this.#restarts,
      host,
    });
  }
}

async function openCallers(): Promise<Outcome<CallerServices>> {
  const file = new URL('./pool-worker.js', import.meta.url);
  const { threads, models } = seed.settings;
  const names = models.map(({ name }) => name);
  const onLost = logLostThread(log);
  const callers = new CallerServices(file, threadCount(threads), names, modelsAhead, latch, tell, onLost);
  void metricsLibrary();
  const ready = await callers.ready();
  return ready.ok ? succeed(callers) : ready;
}

const seed = workerData as RuntimeSeed<RuntimeSettings>;
const latch = new Latch(seed.latch);
const tell: Tell = (message, transfer) => {
  seed.port.postMessage(message, transfer);
  latch.signalNews();
};
let thread: RuntimeThread | undefined;
const beat = setInterval(() => {
  latch.beat();
  thread?.tick();
}, BEAT_MS);

const log = openLog(process.env.EPPTOK_LOG);
const loop = watchLoop('runtime', seed.settings.stallTraceMs, log);
const opened = await openCallers();
if (opened.ok) {
  thread = new RuntimeThread(seed, latch, opened.value, loop);
  latch.enter(STATES.ready);
} else {
  tell({ type: 'failed', fault: opened.fault });
  latch.enter(STATES.failed);
  clearInterval(beat);
}
