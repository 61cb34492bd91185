import { ScannedMerges } from './scanned-merges.ts';
import { Vocabulary } from './vocabulary.ts';

/**
 * `JSON.parse` of a tokenizer.json whose `model.vocab` and `model.merges`, nearly all of the file, are read straight into a
 * Vocabulary and ScannedMerges: the objects that JSON.parse builds of them, and the garbage that they are, take longer than
 * everything else at load. undefined for a text that is not of the usual form (a key twice, a number that is no small integer,
 * a merge that is no pair) or no JSON at all: what that is, `JSON.parse` says.
 */
export function scanTokenizer(text: string): unknown {
  const scan = new TokenizerScan(text);
  try {
    scan.file();
    const { vocab, merges } = scan;
    if (vocab === undefined || merges === undefined) return undefined;
    // What is left is valid where the whole is: the parts that are cut out have been checked.
    const [first, second] = vocab.start < merges.start ? [vocab, merges] : [merges, vocab];
    const rest = JSON.parse(
      `${text.slice(0, first.start)}null${text.slice(first.end, second.start)}null${text.slice(second.end)}`,
    ) as { model: { vocab: unknown; merges: unknown } };
    rest.model.vocab = vocab.value;
    rest.model.merges = merges.value;
    return rest;
  } catch (error) {
    if (error instanceof Unusual || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Leaves the scan; the text is then parsed as any other. */
class Unusual extends Error {}

/** A value that was read, and where it stands in the text. */
interface Part<T> {
  readonly value: T;
  readonly start: number;
  readonly end: number;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const SPACE = 0x20;
const ZERO = 0x30;
const ENDS_WORD: ReadonlySet<number> = new Set(
  Array.from(',:[]{}" \t\n\r', (character) => character.charCodeAt(0)),
);
/** Digits of an id at most, so that it is a small integer. */
const MOST_DIGITS = 8;

class TokenizerScan {
  vocab: Part<Vocabulary> | undefined;
  merges: Part<ScannedMerges> | undefined;
  readonly #text: string;
  #at = 0;
  /** The string that was read last: between its quotes, and whether there is an escape in it. */
  #start = 0;
  #end = 0;
  #escaped = false;

  constructor(text: string) {
    this.#text = text;
  }

  file(): void {
    let models = 0;
    this.#members((key) => {
      if (key !== 'model') return this.#skip();
      if (models++ > 0) throw new Unusual();
      this.#members((member) => this.#memberOfModel(member));
    });
  }

  #memberOfModel(key: string): void {
    const start = this.#space();
    if (key === 'vocab') {
      if (this.vocab) throw new Unusual();
      this.vocab = { value: this.#vocabulary(), start, end: this.#at };
    } else if (key === 'merges') {
      if (this.merges) throw new Unusual();
      this.merges = { value: this.#mergeList(), start, end: this.#at };
    } else this.#skip();
  }

  #vocabulary(): Vocabulary {
    const tokens: string[] = [];
    const ids: number[] = [];
    this.#expect(OPEN_OBJECT);
    if (this.#next() === CLOSE_OBJECT) throw new Unusual();
    do {
      this.#string();
      tokens.push(this.#value());
      this.#expect(COLON);
      ids.push(this.#integer());
    } while (this.#more(CLOSE_OBJECT));
    const vocabulary = Vocabulary.from(tokens, ids);
    // With a token twice the last one counts, and of whatever else is wrong, the ordinary way names the cause.
    if (!(vocabulary instanceof Vocabulary) || vocabulary.repeats) throw new Unusual();
    return vocabulary;
  }

  #mergeList(): ScannedMerges {
    const merges = new ScannedMerges(this.#text);
    this.#expect(OPEN_LIST);
    if (this.#next() === CLOSE_LIST) throw new Unusual();
    const pairs = this.#next() === OPEN_LIST;
    do {
      if (pairs) this.#pair(merges);
      else this.#line(merges);
    } while (this.#more(CLOSE_LIST));
    return merges;
  }

  #pair(merges: ScannedMerges): void {
    this.#expect(OPEN_LIST);
    this.#string();
    const [start, end, escaped] = [this.#start, this.#end, this.#escaped];
    const left = escaped ? this.#value() : '';
    this.#expect(COMMA);
    this.#string();
    this.#expect(CLOSE_LIST);
    if (escaped || this.#escaped)
      merges.addTexts(escaped ? left : this.#text.slice(start, end), this.#value());
    else merges.add(start, end, this.#start, this.#end);
  }

  #line(merges: ScannedMerges): void {
    this.#string();
    const text = this.#escaped ? this.#value() : this.#text;
    const start = this.#escaped ? 0 : this.#start;
    const end = this.#escaped ? text.length : this.#end;
    const space = text.indexOf(' ', start);
    if (space < 0 || space >= end || text.startsWith('#version', start)) throw new Unusual();
    for (let k = space + 1; k < end; k++) if (text.charCodeAt(k) === SPACE) throw new Unusual();
    if (this.#escaped) merges.addTexts(text.slice(0, space), text.slice(space + 1));
    else merges.add(start, space, space + 1, end);
  }

  /** Reads an object: for each key, `member` reads its value. */
  #members(member: (key: string) => void): void {
    this.#expect(OPEN_OBJECT);
    if (this.#next() === CLOSE_OBJECT) throw new Unusual();
    do {
      this.#string();
      const key = this.#value();
      this.#expect(COLON);
      member(key);
    } while (this.#more(CLOSE_OBJECT));
  }

  /** Passes over a value. It is checked with the rest of the file: here strings and brackets are all that matters. */
  #skip(): void {
    for (let depth = 0; ; ) {
      const code = this.#next();
      if (code === QUOTE) this.#string();
      else if (code === COMMA || code === COLON) {
        this.#at++;
        continue;
      } else if (code === OPEN_LIST || code === OPEN_OBJECT) {
        this.#at++;
        depth++;
      } else if (code === CLOSE_LIST || code === CLOSE_OBJECT) {
        this.#at++;
        depth--;
      } else this.#word();
      if (depth <= 0) return;
    }
  }

  /** Passes over a number, true, false or null. */
  #word(): void {
    const text = this.#text;
    const start = this.#at;
    let at = start;
    while (at < text.length && !ENDS_WORD.has(text.charCodeAt(at))) at++;
    if (at === start) throw new Unusual();
    this.#at = at;
  }

  /** Reads a string: its place goes to `#start`, `#end` and `#escaped`. */
  #string(): void {
    const text = this.#text;
    this.#expect(QUOTE);
    let at = this.#at;
    this.#start = at;
    this.#escaped = false;
    for (;;) {
      const code = text.charCodeAt(at);
      if (code === QUOTE) break;
      if (code === BACKSLASH) {
        this.#escaped = true;
        at++;
      } else if (!(code >= SPACE)) throw new Unusual();
      at++;
    }
    this.#end = at;
    this.#at = at + 1;
  }

  /** What the string that was read last says. */
  #value(): string {
    const text = this.#text.slice(this.#start, this.#end);
    return this.#escaped ? (JSON.parse(`"${text}"`) as string) : text;
  }

  /** Reads a number of digits alone, without leading zeros. */
  #integer(): number {
    this.#space();
    const text = this.#text;
    const start = this.#at;
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
    this.#at = at;
    return value;
  }

  /** After a member: true behind a comma, false behind `close`. */
  #more(close: number): boolean {
    const code = this.#next();
    this.#at++;
    if (code === COMMA) return true;
    if (code === close) return false;
    throw new Unusual();
  }

  #expect(code: number): void {
    if (this.#next() !== code) throw new Unusual();
    this.#at++;
  }

  /** The code of what comes after white space; NaN at the end. */
  #next(): number {
    return this.#text.charCodeAt(this.#space());
  }

  #space(): number {
    const text = this.#text;
    let at = this.#at;
    for (;;) {
      const code = text.charCodeAt(at);
      if (code !== SPACE && code !== 0x0a && code !== 0x0d && code !== 0x09) break;
      at++;
    }
    this.#at = at;
    return at;
  }
}
