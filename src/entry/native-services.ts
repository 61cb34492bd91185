import { setTimeout } from 'node:timers/promises';
import type { Piscina } from 'piscina';
import type { PreparedModel } from '../core/model.ts';
import { everyWorkerGreets, openPiscina } from '../core/pool.ts';
import { Stats } from '../core/stats.ts';
import type { NativeLibrary } from '../ffi/native-library.ts';
import { FrameWriter } from '../protocol/frame.ts';
import { failure } from '../protocol/messages.ts';
import type { Outcome } from '../protocol/status.ts';
import type { ServiceSeed, ServiceTask } from './service-thread.ts';

/** A thread that cannot start must not be started over and over without a breath. */
const RESTART_PAUSE_MS = 50;

/**
 * The service threads of one native host: resident piscina tasks in a pool of their own, which serves no others. piscina
 * replaces a thread that died, not its task: the call it had in hand is answered here, and its task is run again.
 */
export class NativeServices {
  readonly #library: NativeLibrary;
  readonly #host: number;
  readonly #stats: readonly Stats[];
  readonly #inHand: SharedArrayBuffer;
  readonly #piscina: Piscina;
  readonly #ready: Promise<Outcome<void>>;
  readonly #ended: Promise<void>;
  readonly #writer = new FrameWriter();
  #stopping = false;
  /** Service threads that were lost and replaced. */
  restarts = 0;

  constructor(
    file: URL,
    library: NativeLibrary,
    host: number,
    threads: number,
    models: readonly PreparedModel[],
  ) {
    this.#library = library;
    this.#host = host;
    this.#stats = Array.from({ length: threads }, () => new Stats());
    this.#inHand = new SharedArrayBuffer(threads * BigUint64Array.BYTES_PER_ELEMENT);
    const seed: ServiceSeed = { models, host, inHand: this.#inHand, numbers: new SharedArrayBuffer(4) };
    this.#piscina = openPiscina(file, threads, seed);
    this.#ready = everyWorkerGreets(this.#piscina, threads);
    const slots = Array.from({ length: threads }, (_, slot) => this.#keepRunning(slot));
    this.#ended = Promise.all(slots).then(() => {});
  }

  /** Resolves when every service thread is warm, or one has said why it cannot be. */
  ready(): Promise<Outcome<void>> {
    return this.#ready;
  }

  /** What each service thread has served. */
  get stats(): readonly Stats[] {
    return this.#stats;
  }

  /** Resolves when every service thread has ended, as they do when the host is stopped. */
  get ended(): Promise<void> {
    return this.#ended;
  }

  /** The host must have been stopped: that is what ends the resident tasks. */
  async close(): Promise<void> {
    this.#stopping = true;
    await this.#ended;
    await this.#piscina.destroy();
  }

  async #keepRunning(slot: number): Promise<void> {
    while (!this.#stopping) {
      const stats = this.#stats[slot]!.words.buffer as SharedArrayBuffer;
      try {
        await this.#piscina.run({ slot, stats } satisfies ServiceTask);
        return;
      } catch (error) {
        if (this.#stopping) return;
        this.restarts++;
        this.#answerFor(slot, error instanceof Error ? error.message : String(error));
        await setTimeout(RESTART_PAUSE_MS);
      }
    }
  }

  #answerFor(slot: number, reason: string): void {
    const ticket = Atomics.exchange(new BigUint64Array(this.#inHand), slot, 0n);
    if (ticket === 0n) return;
    const answer = failure('UNAVAILABLE', `the service thread was lost: ${reason}`);
    this.#library.reply(this.#host, ticket, this.#writer.response(answer, 0n));
  }
}
