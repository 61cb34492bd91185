import { JsonReader, type JsonReading } from '../../json-reader.ts';
import { ScannedMerges } from './scanned-merges.ts';
import { Vocabulary } from './vocabulary.ts';

/**
 * Reads the JSON of a tokenizer.json, whose `model.vocab` and `model.merges`, nearly all of the file, go straight into a Vocabulary
 * and ScannedMerges: the objects that are otherwise built of them, and the garbage that they are, take longer than everything else
 * at load. What is not of the usual form (a key twice, a number that is no small integer, a merge that is no pair) is read as
 * any other value. Throws JsonFault.
 */
export function scanTokenizer(text: string): JsonReading {
  return new TokenizerScan(text).read();
}

/** Leaves the scan of a value, which is then read as any other. */
class Unusual extends Error {}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const SPACE = 0x20;
const ZERO = 0x30;
/** Digits of an id at most, so that it is a small integer. */
const MOST_DIGITS = 8;

class TokenizerScan extends JsonReader {
  override read(): JsonReading {
    if (this.next() !== OPEN_OBJECT) return super.read();
    const value = this.object((key) =>
      key === 'model' && this.next() === OPEN_OBJECT
        ? this.object((member) => this.#memberOfModel(member))
        : this.value(),
    );
    if (this.space() < this.text.length) this.fail();
    return { value, floats: this.floats };
  }

  #memberOfModel(key: string): unknown {
    const start = this.space();
    try {
      if (key === 'vocab') return this.#vocabulary();
      if (key === 'merges') return this.#mergeList();
    } catch (error) {
      if (!(error instanceof Unusual)) throw error;
      this.at = start;
    }
    // With a token twice the last one counts, as it does in a hash map.
    if (key === 'vocab' && this.next() === OPEN_OBJECT) return this.object(() => this.value(), true);
    return this.value();
  }

  #vocabulary(): Vocabulary {
    const tokens: string[] = [];
    const ids: number[] = [];
    this.#pass(OPEN_OBJECT);
    if (this.next() === CLOSE_OBJECT) throw new Unusual();
    do {
      this.string();
      tokens.push(this.stringValue());
      this.expect(COLON);
      ids.push(this.#integer());
    } while (this.more(CLOSE_OBJECT));
    const vocabulary = Vocabulary.from(tokens, ids);
    if (!(vocabulary instanceof Vocabulary) || vocabulary.repeats) throw new Unusual();
    return vocabulary;
  }

  #mergeList(): ScannedMerges {
    const merges = new ScannedMerges(this.text);
    this.#pass(OPEN_LIST);
    if (this.next() === CLOSE_LIST) throw new Unusual();
    const pairs = this.next() === OPEN_LIST;
    do {
      if (pairs) this.#pair(merges);
      else this.#line(merges);
    } while (this.more(CLOSE_LIST));
    return merges;
  }

  #pair(merges: ScannedMerges): void {
    this.#pass(OPEN_LIST);
    this.#side();
    const { start, end, escaped } = this;
    const left = escaped ? this.stringValue() : '';
    this.#pass(COMMA);
    this.#side();
    this.#pass(CLOSE_LIST);
    if (escaped || this.escaped)
      merges.addTexts(escaped ? left : this.text.slice(start, end), this.stringValue());
    else merges.add(start, end, this.start, this.end);
  }

  #line(merges: ScannedMerges): void {
    this.#side();
    const text = this.escaped ? this.stringValue() : this.text;
    const start = this.escaped ? 0 : this.start;
    const end = this.escaped ? text.length : this.end;
    const space = text.indexOf(' ', start);
    if (space < 0 || space >= end || text.startsWith('#version', start)) throw new Unusual();
    for (let k = space + 1; k < end; k++) if (text.charCodeAt(k) === SPACE) throw new Unusual();
    if (this.escaped) merges.addTexts(text.slice(0, space), text.slice(space + 1));
    else merges.add(start, space, space + 1, end);
  }

  /** Reads a string, which may be something else. */
  #side(): void {
    if (this.next() !== QUOTE) throw new Unusual();
    this.string();
  }

  /** Goes past what would be `code` in the usual form. */
  #pass(code: number): void {
    if (this.next() !== code) throw new Unusual();
    this.at++;
  }

  /** Reads a number of digits alone, without leading zeros. */
  #integer(): number {
    this.space();
    const { text } = this;
    const start = this.at;
    let value = 0;
    let at = start;
    for (; ; at++) {
      const digit = text.charCodeAt(at) - ZERO;
      if (!(digit >= 0 && digit <= 9)) break;
      value = value * 10 + digit;
    }
    const digits = at - start;
    if (digits === 0 || digits > MOST_DIGITS || (digits > 1 && text.charCodeAt(start) === ZERO))
      throw new Unusual();
    // Behind the digits of `1.5` and `1e2` no usual member ends.
    const code = text.charCodeAt(at);
    if (code === 0x2e || code === 0x65 || code === 0x45) throw new Unusual();
    this.at = at;
    return value;
  }
}
