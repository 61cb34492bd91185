import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Endless prose of real words that is never the same twice, and the same for the same seed: words of the model's own
 * vocabulary, the frequent ones more often, some joined into words that it does not have, with numbers and punctuation.
 * About 3.8 bytes per token with Qwen3.
 */
export class FreshText {
  readonly #words: readonly string[];
  #state: number;

  constructor(modelDirectory: string, seed: number) {
    const tokenizer = JSON.parse(readFileSync(join(modelDirectory, 'tokenizer.json'), 'utf8')) as {
      model: { vocab: Record<string, number> };
    };
    this.#words = Object.keys(tokenizer.model.vocab)
      .filter((token) => /^Ġ[A-Za-z]{2,}$/.test(token))
      .map((token) => token.slice(1));
    this.#state = seed;
  }

  /** Exactly `length` characters of one byte each. */
  text(length: number): string {
    const parts: string[] = [];
    for (let size = 0; size < length; ) {
      const part = this.#sentence();
      parts.push(part);
      size += part.length;
    }
    return parts.join('').slice(0, length);
  }

  #sentence(): string {
    const words = Array.from({ length: 6 + this.#below(18) }, () => {
      const kind = this.#below(60);
      if (kind === 0) return String(this.#below(100_000));
      if (kind < 3) return this.#word() + this.#word().toLowerCase();
      return kind < 8 ? `${this.#word()},` : this.#word();
    });
    return `${words.join(' ')}${this.#below(6) === 0 ? '.\n\n' : '. '}`;
  }

  /** As skewed as prose, or a little less: of the words of a 40k-token text a third are new to it. The vocabulary is in order of frequency, more or less. */
  #word(): string {
    return this.#words[Math.floor(this.#words.length ** (this.#unit() ** 1.5)) - 1]!;
  }

  #below(limit: number): number {
    return Math.floor(this.#unit() * limit);
  }

  /** mulberry32: 0 <= x < 1. */
  #unit(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  }
}
