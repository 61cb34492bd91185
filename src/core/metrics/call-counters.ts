import {
  type CallSubject,
  KINDS,
  PROVENANCES,
  type Provenance,
  type Response,
  type Timings,
} from '../../protocol/messages.ts';
import { STATUS_TABLE, type StatusName } from '../../protocol/status.ts';
import { type HistogramReading, histogramLayout, observe, readHistogram } from './histogram.ts';

/** What a call may be of: a kind of body, or a detokenize call. */
const CALL_KINDS = [...KINDS, 'detokenize'] as const;
export type CallKind = (typeof CALL_KINDS)[number];

/** What a call goes through, in this order. */
export const STAGES = ['queue', 'parse', 'template', 'encode'] as const satisfies readonly (keyof Timings)[];
export type Stage = (typeof STAGES)[number];

/** Of times, in microseconds: from a handoff between threads to the default deadline. */
export const TIME_BOUNDS = [
  50, 100, 250, 500, 1e3, 2.5e3, 5e3, 1e4, 2.5e4, 5e4, 1e5, 2.5e5, 5e5, 1e6, 2.5e6, 5e6, 1e7, 3e7,
] as const;

const TIMES = histogramLayout(TIME_BOUNDS);
const STATUSES = STATUS_TABLE.length;
const DETOKENIZE = CALL_KINDS.length - 1;

/**
 * The words of one model, Float64 each. Slot 0 is of calls that were answered before a model was chosen; the models follow in
 * the order in which they were given.
 *
 *     calls[kind][status][provenance]   tokens   discarded
 *     duration[tokenize], duration[detokenize], stage[queue], stage[parse], stage[template], stage[encode]: histograms
 */
const TOKENS_AT = CALL_KINDS.length * STATUSES * PROVENANCES.length;
const DISCARDED_AT = TOKENS_AT + 1;
const DURATION_AT = DISCARDED_AT + 1;
const STAGES_AT = DURATION_AT + 2 * TIMES.words;
const SLOT_WORDS = STAGES_AT + STAGES.length * TIMES.words;
/** Behind the slots, an Int32: 1 while an answer is on its way that is not counted yet. */
const PENDING_BYTES = 8;

const STATUS_INDEX = new Map<StatusName, number>(STATUS_TABLE.map(([name], index) => [name, index]));
const KIND_INDEX = new Map<CallKind, number>(CALL_KINDS.map((kind, index) => [kind, index]));
const PROVENANCE_INDEX = new Map<Provenance, number>(PROVENANCES.map((name, index) => [name, index]));

/**
 * What one thread has served, as numbers in shared memory: the thread that serves is the only writer and pays some additions
 * a call; whoever renders the metrics reads them at any time. A service thread never turns its event loop, and could not be
 * asked. Aligned 64-bit words are not torn on the platforms that Node runs on; nothing here needs them to agree to the call.
 */
export class CallCounters {
  /** Names of the slots: '' and the models. */
  readonly slots: readonly string[];
  readonly memory: SharedArrayBuffer;
  readonly words: Float64Array;
  readonly #slotOf: ReadonlyMap<string, number>;
  readonly #pending: Int32Array;

  /** Over `memory` that a CallCounters of the same models has made in another thread, or over its own. */
  constructor(models: readonly string[], memory?: SharedArrayBuffer) {
    this.slots = ['', ...models];
    const words = this.slots.length * SLOT_WORDS;
    this.memory = memory ?? new SharedArrayBuffer(words * 8 + PENDING_BYTES);
    this.words = new Float64Array(this.memory, 0, words);
    this.#pending = new Int32Array(this.memory, words * 8, 1);
    this.#slotOf = new Map(this.slots.map((name, slot) => [name, slot * SLOT_WORDS]));
  }

  /** Counts a call that was answered with `response`. */
  record(call: CallSubject, response: Response): void {
    const { words } = this;
    const { timings } = response;
    const tokenize = call.operation === 'tokenize';
    const slot = this.#slotOf.get(response.model) ?? 0;
    const kind = tokenize ? (KIND_INDEX.get(call.kind) ?? 0) : DETOKENIZE;
    const status = STATUS_INDEX.get(response.status) ?? 0;
    const provenance = PROVENANCE_INDEX.get(response.provenance) ?? 0;
    words[slot + (kind * STATUSES + status) * PROVENANCES.length + provenance]!++;
    words[slot + TOKENS_AT]! += response.ids.length;
    // Refused at the door: it has waited for nothing, and zeros would make the queue look good.
    if (timings.total === 0) return;
    observe(words, slot + DURATION_AT + (tokenize ? 0 : TIMES.words), TIMES, timings.total);
    observe(words, slot + STAGES_AT, TIMES, timings.queue);
    for (let stage = 1; stage < STAGES.length; stage++) {
      const spent = timings[STAGES[stage]!];
      // A text has no template and token ids no encode: what did not happen did not take no time.
      if (spent > 0) observe(words, slot + STAGES_AT + stage * TIMES.words, TIMES, spent);
    }
  }

  /**
   * Sends an answer and counts it; one that nobody waited for any more (`send` says false) has been counted as what its caller
   * was told instead. Only after sending is that known, and by then the caller may ask for the metrics: `pending` is raised
   * meanwhile, and whoever renders them waits.
   */
  settle(call: CallSubject, response: Response, send: () => boolean): void {
    Atomics.store(this.#pending, 0, 1);
    if (send()) this.record(call, response);
    else this.recordDiscarded(response);
    Atomics.store(this.#pending, 0, 0);
  }

  /** True for the moment between an answer and its count, and for as long as a thread that died there is not replaced. */
  get pending(): boolean {
    return Atomics.load(this.#pending, 0) === 1;
  }

  /** A thread that starts has sent nothing yet, whatever the one before it left behind. */
  start(): void {
    Atomics.store(this.#pending, 0, 0);
  }

  /** Counts an answer that came when nobody waited for it any more. */
  recordDiscarded(response: Response): void {
    this.words[(this.#slotOf.get(response.model) ?? 0) + DISCARDED_AT]!++;
  }
}

export interface CallCount {
  readonly kind: CallKind;
  readonly status: StatusName;
  readonly provenance: Provenance;
  readonly count: number;
}

/** What several threads have counted for one model. */
export interface ModelReading {
  /** '': calls that were answered before a model was chosen. */
  readonly model: string;
  /** Those that are not zero. */
  readonly calls: readonly CallCount[];
  readonly tokens: number;
  readonly discarded: number;
  /** Microseconds. */
  readonly duration: Readonly<Record<'tokenize' | 'detokenize', HistogramReading>>;
  readonly stages: Readonly<Record<Stage, HistogramReading>>;
}

/** The sum over `counters`, which are of the same models. */
export function readCounters(counters: readonly CallCounters[]): readonly ModelReading[] {
  return (counters[0]?.slots ?? []).map((model, index) => readSlot(counters, model, index * SLOT_WORDS));
}

function readSlot(counters: readonly CallCounters[], model: string, slot: number): ModelReading {
  const sum = (at: number) => counters.reduce((total, { words }) => total + words[slot + at]!, 0);
  const times = (at: number) =>
    readHistogram(
      counters.map(({ words }) => ({ words, at: slot + at })),
      TIMES,
    );
  const calls: CallCount[] = [];
  for (const [k, kind] of CALL_KINDS.entries()) {
    for (const [s, [status]] of STATUS_TABLE.entries()) {
      for (const [p, provenance] of PROVENANCES.entries()) {
        const count = sum((k * STATUSES + s) * PROVENANCES.length + p);
        if (count > 0) calls.push({ kind, status, provenance, count });
      }
    }
  }
  return {
    model,
    calls,
    tokens: sum(TOKENS_AT),
    discarded: sum(DISCARDED_AT),
    duration: { tokenize: times(DURATION_AT), detokenize: times(DURATION_AT + TIMES.words) },
    stages: Object.fromEntries(
      STAGES.map((stage, index) => [stage, times(STAGES_AT + index * TIMES.words)]),
    ) as ModelReading['stages'],
  };
}
