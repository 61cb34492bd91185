import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import type { Fault } from '../protocol/status.ts';
import type { Latch } from './latch.ts';
import { Lines } from './lines.ts';
import type { FromRuntime } from './messages.ts';

/** What the runtime has told its caller, who is mostly blocked and reads it when it looks. */
export class News {
  readonly lines = new Lines();
  /** The last stats that came, and the number of the call that asked for them. */
  stats: { readonly id: number; readonly text: string } | undefined;
  /** Why the runtime could not start. */
  fault: Fault | undefined;
  readonly #latch: Latch;
  readonly #port: MessagePort;
  #read = 0;

  constructor(latch: Latch, port: MessagePort) {
    this.#latch = latch;
    this.#port = port;
  }

  /** A look at a word unless there are any. */
  read(): void {
    // Before the messages: one that comes meanwhile has changed it again.
    const { news } = this.#latch;
    if (news === this.#read) return;
    for (
      let received = receiveMessageOnPort(this.#port);
      received;
      received = receiveMessageOnPort(this.#port)
    )
      this.#take(received.message as FromRuntime);
    this.#read = news;
  }

  #take(message: FromRuntime): void {
    if (message.type === 'line') this.lines.add(message.line, message.end);
    else if (message.type === 'line-lost') this.lines.lose(message.line, message.message);
    else if (message.type === 'stats') this.stats = message;
    else this.fault = message.fault;
  }
}
