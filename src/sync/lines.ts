import { isLarge, workersForLarge } from '../protocol/large.ts';
import { CallerEnd, type LineEnd } from './line.ts';

/** The lines of one caller, by number: one to each worker. */
export class Lines {
  readonly #lines = new Map<number, CallerEnd>();

  add(number: number, end: LineEnd): void {
    this.#lines.set(number, new CallerEnd(end));
  }

  /** Its worker has died. */
  lose(number: number, why: string): void {
    this.#lines.get(number)?.lose(why);
    this.#lines.delete(number);
  }

  /**
   * The line on which a call of `bytes` may be posted now. Those that are busy are so with calls that were abandoned: a caller
   * makes one at a time. The first that is free, so that one worker's caches are warm.
   */
  free(bytes: number): CallerEnd | undefined {
    let found: CallerEnd | undefined;
    let large = 0;
    for (const line of this.#lines.values()) {
      if (line.free) found ??= line;
      else if (isLarge(line.bytes)) large++;
    }
    const mayStart = !isLarge(bytes) || large < workersForLarge(this.#lines.size);
    return mayStart ? found : undefined;
  }

  close(): void {
    for (const line of this.#lines.values()) line.close();
  }
}
