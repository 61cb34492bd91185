import { Agent, request } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { FreshText } from '../fresh-text.ts';
import { MODEL_DIRECTORY } from '../paths.ts';

/** What a load generator is told, as JSON in its argument. */
export interface LoadOrder {
  readonly socket: string;
  readonly concurrency: number;
  readonly promptBytes: number;
  readonly seconds: number;
  /** Over how long the callers come. If all came at once, a blocked loop would see one stall and send no heartbeat before it. */
  readonly rampSeconds: number;
  /** Prompts made before the load starts, so that making them takes no core from the frontend. */
  readonly prepared: number;
}

export interface LoadReport {
  readonly completed: number;
  readonly seconds: number;
  readonly tokens: number;
  /** Between the first and the last answer that came when all callers were there: how many intervals, in how many seconds. */
  readonly steady: { readonly intervals: number; readonly seconds: number };
  /** Milliseconds of each completed request. */
  readonly latencies: readonly number[];
  /** Of the first prompts, by their number: what the ids hashed to. */
  readonly hashes: Readonly<Record<number, number>>;
}

const HASHES_KEPT = 64;

class Load {
  readonly #order: LoadOrder;
  readonly #agent: Agent;
  readonly #prose = new FreshText(MODEL_DIRECTORY, 40_000);
  readonly #prompts: string[];
  readonly #latencies: number[] = [];
  readonly #hashes: Record<number, number> = {};
  /** When each answer came. */
  readonly #answered: number[] = [];
  #sent = 0;
  #tokens = 0;

  constructor(order: LoadOrder) {
    this.#order = order;
    this.#agent = new Agent({ keepAlive: true, maxSockets: order.concurrency });
    this.#prompts = Array.from({ length: order.prepared }, () => this.#prose.text(order.promptBytes));
  }

  /**
   * A closed loop: each of `concurrency` callers sends its next prompt when its last was answered. When the time is up, all
   * leave, with their calls in flight.
   */
  async run(): Promise<LoadReport> {
    const { seconds, concurrency, rampSeconds } = this.#order;
    await this.#post(`/start?seconds=${seconds}`, '');
    const start = performance.now();
    const callers = Promise.all(
      Array.from({ length: concurrency }, async (_, i) => {
        await setTimeout((i * rampSeconds * 1e3) / concurrency);
        await this.#caller();
      }),
    );
    await Promise.race([callers, setTimeout(seconds * 1e3)]);
    const steady = this.#answered.filter((at) => at > start + rampSeconds * 1e3);
    const report = {
      steady: {
        intervals: Math.max(0, steady.length - 1),
        seconds: ((steady.at(-1) ?? 0) - (steady[0] ?? 0)) / 1e3,
      },
      completed: this.#latencies.length,
      seconds: (performance.now() - start) / 1e3,
      tokens: this.#tokens,
      latencies: this.#latencies,
      hashes: this.#hashes,
    };
    this.#agent.destroy();
    return report;
  }

  async #caller(): Promise<void> {
    for (;;) {
      const number = this.#sent++;
      const text = this.#prompts[number] ?? this.#prose.text(this.#order.promptBytes);
      const start = performance.now();
      const { status, body } = await this.#post('/tokenize', text);
      if (status !== 200) return;
      const end = performance.now();
      this.#answered.push(end);
      this.#latencies.push(end - start);
      const { count, hash } = JSON.parse(body) as { count: number; hash: number };
      this.#tokens += count;
      if (number < HASHES_KEPT) this.#hashes[number] = hash;
    }
  }

  #post(path: string, text: string): Promise<{ status: number; body: string }> {
    return new Promise((resolve, reject) => {
      const options = { socketPath: this.#order.socket, path, method: 'POST', agent: this.#agent };
      const sent = request(options, async (response) => {
        let body = '';
        for await (const chunk of response) body += String(chunk);
        resolve({ status: response.statusCode ?? 0, body });
      });
      sent.on('error', reject);
      sent.end(text);
    });
  }
}

const report = await new Load(JSON.parse(process.argv[2]!) as LoadOrder).run();
// Thousands of latencies do not fit a pipe: the last of them leave after this line has run.
process.stdout.write(`${JSON.stringify({ load: report })}\n`, () => process.exit(0));
