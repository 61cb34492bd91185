import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import { type Deadline, timeLeft } from '../protocol/deadline.ts';
import type { Response } from '../protocol/messages.ts';
import { failure } from '../protocol/messages.ts';
import { type Latch, STATES } from './latch.ts';
import type { FromRuntime } from './messages.ts';

/** A blocked thread gets no 'exit' event of its runtime and looks for itself this often. */
const SLICE_MS = 100;
/** The runtime's timer beats every 25 ms once it is ready; a gap as long as this means that its thread is gone. */
const SILENCE_MS = 700;

/** What ends a wait early: a caller that may be cancelled says so here, and is asked at least every `everyMs`. */
export interface Abandonment {
  readonly everyMs: number;
  check(): Response | undefined;
}

/**
 * Blocks this thread until the reply of call `id` is there, the runtime is closed or dead, or the deadline has passed.
 * Replies of other ids are of calls that timed out: they are discarded, or the next caller would get the last one's ids.
 */
export function blockOn(
  latch: Latch,
  port: MessagePort,
  id: number,
  deadline: Deadline,
  abandonment?: Abandonment,
): Response | 'runtime lost' {
  let heartbeat = latch.heartbeat;
  let silence = 0;
  for (;;) {
    // Read before looking for the message: a reply posted after the look has changed it.
    const seen = latch.signals;
    const reply = takeReply(port, id);
    if (reply) return reply;
    if (latch.state === STATES.closed) return failure('SHUTTING_DOWN', 'the tokenizer was closed');
    const abandoned = abandonment?.check();
    if (abandoned) return abandoned;
    const left = timeLeft(deadline);
    if (left === 0) return failure('TIMEOUT', 'the deadline passed before the runtime answered');
    const slice = Math.min(left, SLICE_MS, abandonment?.everyMs ?? SLICE_MS);
    latch.sleep(seen, slice);
    if (latch.heartbeat !== heartbeat) {
      heartbeat = latch.heartbeat;
      silence = 0;
    } else {
      // Time asked for, not time passed: a process that was stopped and continued has not listened meanwhile.
      silence += latch.signals === seen ? slice : 0;
      if (silence > SILENCE_MS) return 'runtime lost';
    }
  }
}

function takeReply(port: MessagePort, id: number): Response | undefined {
  for (;;) {
    const received = receiveMessageOnPort(port);
    if (received === undefined) return undefined;
    const message = received.message as FromRuntime;
    if (message.type === 'reply' && message.id === id) return message.response;
  }
}
