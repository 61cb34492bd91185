import { createServer, type Server, type Socket } from 'node:net';
import { createInterface } from 'node:readline';

const EVERY_MS = 1_000;
const DEADLINE_MS = 5_000;

export interface HeartbeatReport {
  readonly sent: number;
  /** ACKs that the frontend saw only when the next heartbeat was due. */
  readonly late: number;
  /** ACKs that the frontend had not seen when the deadline passed. */
  readonly missed: number;
  /** Workers that were marked down for it. */
  readonly inhibited: number;
  /** The longest way from a heartbeat to its ACK, ms. */
  readonly longestAck: number;
}

/**
 * The request plane of a frontend, on the event loop that serves the requests: a heartbeat to each worker every second. A
 * worker whose ACK is not there after 5 s is marked down, however fast it was: the ACK may lie unread in the kernel.
 */
export class Heartbeats {
  readonly server: Server;
  readonly #workers = new Map<number, Socket>();
  readonly #waiting = new Map<string, { since: number; timer: NodeJS.Timeout }>();
  readonly #inhibited = new Set<number>();
  #report = { sent: 0, late: 0, missed: 0, longestAck: 0 };
  #beat = 0;

  constructor() {
    this.server = createServer((socket) => this.#receive(socket));
    setInterval(() => this.#send(), EVERY_MS);
  }

  get workers(): number {
    return this.#workers.size;
  }

  /** Forgets what was, for a new measurement. */
  reset(): void {
    for (const { timer } of this.#waiting.values()) clearTimeout(timer);
    this.#waiting.clear();
    this.#inhibited.clear();
    this.#report = { sent: 0, late: 0, missed: 0, longestAck: 0 };
  }

  report(): HeartbeatReport {
    return { ...this.#report, inhibited: this.#inhibited.size };
  }

  #receive(socket: Socket): void {
    const id = this.#workers.size;
    this.#workers.set(id, socket);
    createInterface(socket).on('line', (beat) => this.#acknowledge(`${id}:${beat}`));
  }

  #send(): void {
    this.#beat++;
    for (const [id, socket] of this.#workers) {
      socket.write(`${this.#beat}\n`);
      this.#report.sent++;
      const timer = setTimeout(() => {
        this.#report.missed++;
        this.#inhibited.add(id);
      }, DEADLINE_MS);
      this.#waiting.set(`${id}:${this.#beat}`, { since: performance.now(), timer });
    }
  }

  #acknowledge(key: string): void {
    const waiting = this.#waiting.get(key);
    if (waiting === undefined) return;
    this.#waiting.delete(key);
    clearTimeout(waiting.timer);
    const took = performance.now() - waiting.since;
    if (took > EVERY_MS) this.#report.late++;
    this.#report.longestAck = Math.max(this.#report.longestAck, took);
  }
}
