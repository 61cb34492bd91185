import { type OperationClock, within } from '../core/event-loop/operations.ts';
import { type Job, type NativeLibrary, NEXT, QUEUES } from '../ffi/native-library.ts';
import { FrameWriter } from '../protocol/frame-writer.ts';
import { failure } from '../protocol/messages.ts';

/**
 * Answers the STATS calls that wait in a native host's control queue. Called from a timer of the thread that has the
 * numbers; never blocks. False once the host has stopped.
 */
export class ControlQueue {
  readonly #library: NativeLibrary;
  readonly #host: number;
  readonly #render: () => Promise<string>;
  readonly #clock: OperationClock | undefined;
  readonly #writer = new FrameWriter();
  readonly #buffer = new Uint8Array(1024);
  readonly #job: Job = { ticket: 0, length: 0, queue: 0 };

  constructor(
    library: NativeLibrary,
    host: number,
    render: () => Promise<string>,
    clock: OperationClock | undefined,
  ) {
    this.#library = library;
    this.#host = host;
    this.#render = render;
    this.#clock = clock;
  }

  answerWaiting(): boolean {
    return within(this.#clock, 'accept', () => this.#takeWaiting());
  }

  #takeWaiting(): boolean {
    for (;;) {
      const found = this.#library.next(this.#host, QUEUES.control, this.#buffer, this.#job, 0);
      if (found === NEXT.stopped) return false;
      if (found !== NEXT.job) return true;
      void this.#answer(this.#job.ticket);
    }
  }

  async #answer(ticket: number): Promise<void> {
    const response = { ...failure('OK', ''), text: await this.#render() };
    within(this.#clock, 'reply', () =>
      this.#library.reply(this.#host, ticket, this.#writer.responseBeforeIds(response, 0n), response.ids),
    );
  }
}
