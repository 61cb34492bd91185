import { Counter, Gauge, Registry } from 'prom-client';
import { KINDS, PROVENANCES, type Request, type Response } from '../protocol/messages.ts';
import { STATUS_TABLE } from '../protocol/status.ts';

const STAGES = ['queue', 'parse', 'template', 'encode', 'total'] as const;

/**
 * What one thread has served, as numbers in shared memory: the thread that serves is the only writer and pays a few additions
 * a call; whoever renders the metrics reads them at any time.
 *
 *     calls[kind or detokenize][status]   then provenance[i]   then tokens   then seconds[stage]
 */
const STATUSES = STATUS_TABLE.length;
const OPERATIONS = [...KINDS, 'detokenize'] as const;
const PROVENANCE_AT = OPERATIONS.length * STATUSES;
const TOKENS_AT = PROVENANCE_AT + PROVENANCES.length;
const STAGES_AT = TOKENS_AT + 1;
const WORDS = STAGES_AT + STAGES.length;
const STATUS_INDEX = new Map(STATUS_TABLE.map(([name], index) => [name, index]));

export class Stats {
  readonly memory: SharedArrayBuffer;
  readonly words: Float64Array;

  /** Over `memory` of another thread's Stats, or over its own. */
  constructor(memory: SharedArrayBuffer = new SharedArrayBuffer(WORDS * Float64Array.BYTES_PER_ELEMENT)) {
    this.memory = memory;
    this.words = new Float64Array(memory);
  }

  record(request: Request, response: Response): void {
    const operation = request.operation === 'tokenize' ? KINDS.indexOf(request.kind) : KINDS.length;
    this.#add(operation * STATUSES + (STATUS_INDEX.get(response.status) ?? 0), 1);
    this.#add(PROVENANCE_AT + PROVENANCES.indexOf(response.provenance), 1);
    this.#add(TOKENS_AT, response.ids.length);
    STAGES.forEach((stage, index) => {
      this.#add(STAGES_AT + index, response.timings[stage] / 1e6);
    });
  }

  #add(index: number, amount: number): void {
    this.words[index] = (this.words[index] ?? 0) + amount;
  }
}

/** Prometheus text over the sum of all `stats`, with `gauges` (name without prefix, value now) beside them. */
export async function renderStats(
  stats: readonly Stats[],
  gauges: Readonly<Record<string, number>>,
): Promise<string> {
  const registry = new Registry();
  const registers = [registry];
  const sum = (index: number) => stats.reduce((total, { words }) => total + (words[index] ?? 0), 0);
  const counter = (name: string, help: string, labelNames: string[] = []) =>
    new Counter({ name: `epptok_${name}`, help, labelNames, registers });

  const calls = counter('calls_total', 'Calls answered, by kind and status.', ['kind', 'status']);
  OPERATIONS.forEach((kind, operation) => {
    STATUS_TABLE.forEach(([status], index) => {
      const value = sum(operation * STATUSES + index);
      if (value > 0) calls.inc({ kind, status }, value);
    });
  });
  const provenances = counter('provenance_total', 'Calls answered, by where the ids came from.', [
    'provenance',
  ]);
  PROVENANCES.forEach((provenance, index) => {
    provenances.inc({ provenance }, sum(PROVENANCE_AT + index));
  });
  counter('tokens_total', 'Token ids returned.').inc(sum(TOKENS_AT));
  const seconds = counter('stage_seconds_total', 'Time spent, by stage of a call.', ['stage']);
  STAGES.forEach((stage, index) => {
    seconds.inc({ stage }, sum(STAGES_AT + index));
  });
  for (const [name, value] of Object.entries(gauges)) {
    new Gauge({ name: `epptok_${name}`, help: GAUGES[name] ?? name, registers }).set(value);
  }
  return registry.metrics();
}

const GAUGES: Readonly<Record<string, string>> = {
  workers: 'Worker threads that serve.',
  workers_busy: 'Worker threads that serve a call now.',
  worker_restarts: 'Worker threads that were lost and replaced.',
  queued_calls: 'Calls that wait for a worker now.',
  queued_bytes: 'Bytes of request bodies that wait for a worker now.',
  connections: 'Connections open now.',
};
