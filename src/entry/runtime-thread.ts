import { workerData } from 'node:worker_threads';
import type { Call } from '../core/dispatcher.ts';
import { within } from '../core/event-loop/operations.ts';
import type { LoopWatch } from '../core/event-loop/watch.ts';
import { renderMetrics } from '../core/metrics/exposition.ts';
import { openRuntime, type Runtime, type RuntimeSettings } from '../core/runtime.ts';
import { type NativeLibrary, openNativeLibrary } from '../ffi/native-library.ts';
import { failure, type Response } from '../protocol/messages.ts';
import { moved } from '../protocol/moved.ts';
import { STATUS } from '../protocol/status.ts';
import { Latch, STATES } from '../sync/latch.ts';
import type { FromRuntime, ToRuntime } from '../sync/messages.ts';
import type { RuntimeSeed } from '../sync/runtime.ts';
import { ControlQueue } from './control-queue.ts';
import { logLostThread, openLog, watchLoop } from './log.ts';
import { NativeServices } from './native-services.ts';

/** How often the heartbeat is raised and the native host is looked after. */
const BEAT_MS = 25;

/** The native host of this process, once the door has made one. */
interface NativeHost {
  readonly library: NativeLibrary;
  readonly host: number;
  readonly control: ControlQueue;
}

/** The secondary runtime: a dispatcher and its pool for a thread that blocks, and the services of its native host. */
class RuntimeThread {
  readonly #latch: Latch;
  readonly #port: RuntimeSeed<RuntimeSettings>['port'];
  readonly #runtime: Runtime;
  readonly #loop: LoopWatch;
  /** Runtimes that were lost before this one. */
  readonly #restarts: number;
  readonly #calls = new Map<number, Call>();
  #native: NativeHost | undefined;
  #services: NativeServices | undefined;

  constructor(seed: RuntimeSeed<RuntimeSettings>, latch: Latch, runtime: Runtime, loop: LoopWatch) {
    this.#latch = latch;
    this.#port = seed.port;
    this.#restarts = seed.restarts;
    this.#runtime = runtime;
    this.#loop = loop;
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
      case 'call': {
        const call = this.#runtime.dispatcher.submit(message.request, message.deadline);
        this.#calls.set(message.id, call);
        this.#reply(message.id, await call.response);
        this.#calls.delete(message.id);
        return;
      }
      case 'abandon':
        this.#calls.get(message.id)?.abandon(message.status, 'the call was given up by its caller');
        return;
      case 'stats':
        this.#reply(message.id, { ...failure('OK', ''), text: await this.#metrics() });
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

  #reply(id: number, response: Response): void {
    within(this.#loop.clock, 'reply', () => {
      const message: FromRuntime = { type: 'reply', id, response };
      this.#port.postMessage(message, moved(response.ids.buffer));
      this.#latch.signal();
    });
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
    const { threads, models } = this.#runtime;
    this.#services = new NativeServices(file, host, threads, models, logLostThread(log));
    void this.#services.ready().then((ready) => {
      if (!ready.ok) library.setReady(host, STATUS[ready.fault.status], ready.fault.message);
    });
  }

  #metrics(): Promise<string> {
    const runtime = this.#runtime.read();
    const services = this.#services;
    const host = this.#native?.library.counters(this.#native.host);
    return renderMetrics({
      ...runtime,
      calls: [...runtime.calls, ...(services?.counters ?? [])],
      workers: runtime.workers + (services?.counters.length ?? 0),
      busyWorkers: runtime.busyWorkers + (host?.runningCalls ?? 0),
      queuedCalls: runtime.queuedCalls + (host?.queuedCalls ?? 0),
      queuedBytes: runtime.queuedBytes + (host?.queuedBytes ?? 0),
      workerRestarts: runtime.workerRestarts + (services?.restarts ?? 0),
      runtimeRestarts: this.#restarts,
      host,
    });
  }
}

const seed = workerData as RuntimeSeed<RuntimeSettings>;
const latch = new Latch(seed.latch);
let thread: RuntimeThread | undefined;
const beat = setInterval(() => {
  latch.beat();
  thread?.tick();
}, BEAT_MS);

const log = openLog(process.env.EPPTOK_LOG);
const loop = watchLoop('runtime', seed.settings.stallTraceMs, log);
const opened = await openRuntime(seed.settings, new URL('./pool-worker.js', import.meta.url), loop);
if (opened.ok) {
  thread = new RuntimeThread(seed, latch, opened.value, loop);
  latch.enter(STATES.ready);
} else {
  seed.port.postMessage({ type: 'failed', fault: opened.fault } satisfies FromRuntime);
  latch.enter(STATES.failed);
  clearInterval(beat);
}
