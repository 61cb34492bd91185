/** JSON as it was read, with what the values no longer tell of their text. */
export interface JsonReading {
  readonly value: unknown;
  /** Of each object and array, the members that are numbers but were not written as integers: `3.0`, `3e0`, `-0`. */
  readonly floats: ReadonlyMap<object, ReadonlySet<string | number>>;
}

/** What a strict reader of JSON refuses; `path` leads to the value or, for what is no JSON at all, is undefined. */
export class JsonFault extends Error {
  readonly path: readonly (string | number)[] | undefined;

  constructor(what: string, path?: readonly (string | number)[]) {
    super(what);
    this.path = path;
  }
}

/** Open arrays and objects that serde_json goes down to. */
const DEEPEST = 127;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const SPACE = 0x20;
const NUMBER = /-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/y;
const LETTER_F = 0x66;
const LETTER_N = 0x6e;
const LETTER_T = 0x74;
/** serde_json reads a longer integer as a float. */
const HIGHEST_INTEGER = 2n ** 64n - 1n;
const SURELY_INTEGER = 15;

/**
 * Reads JSON as serde_json does where `JSON.parse` is laxer: a lone surrogate, a number beyond all floats and nesting beyond
 * its limit are faults, and integers are told from floats by how they are written. A key that an object has twice is a fault
 * too: readers differ in which one counts.
 */
export class JsonReader {
  readonly text: string;
  protected at = 0;
  /** Keys and indices of the values that are being read. */
  protected readonly path: (string | number)[] = [];
  readonly floats = new Map<object, Set<string | number>>();
  /** The string that was read last: between its quotes, and whether there is an escape in it. */
  protected start = 0;
  protected end = 0;
  protected escaped = false;
  #depth = 0;
  /** Whether the number that was read last was written as a float. */
  #float = false;

  constructor(text: string) {
    this.text = text;
  }

  /** Reads the whole text. */
  read(): JsonReading {
    const value = this.value();
    if (this.space() < this.text.length) this.fail();
    return { value, floats: this.floats };
  }

  protected value(): unknown {
    const code = this.next();
    if (code === QUOTE) {
      this.string();
      return this.stringValue();
    }
    if (code === OPEN_OBJECT) return this.object(() => this.value());
    if (code === OPEN_LIST) return this.list();
    if (code === LETTER_T) return this.#word('true', true);
    if (code === LETTER_F) return this.#word('false', false);
    if (code === LETTER_N) return this.#word('null', null);
    return this.number();
  }

  #word<Value>(word: string, value: Value): Value {
    if (!this.text.startsWith(word, this.at)) this.fail();
    this.at += word.length;
    return value;
  }

  /** Reads an object, its values by `member`. With `repeats` the last of several values of a key counts. */
  protected object(member: (key: string) => unknown, repeats = false): Record<string, unknown> {
    const object: Record<string, unknown> = {};
    this.#open();
    if (this.next() === CLOSE_OBJECT) this.at++;
    else
      do {
        this.string();
        const key = this.stringValue();
        if (!repeats && Object.hasOwn(object, key)) this.refuse(`has the key ${JSON.stringify(key)} twice`);
        this.expect(COLON);
        this.path.push(key);
        const value = this.#member(object, key, member);
        this.path.pop();
        // An assignment would set the prototype.
        if (key === '__proto__')
          Object.defineProperty(object, key, {
            value,
            enumerable: true,
            configurable: true,
            writable: true,
          });
        else object[key] = value;
      } while (this.more(CLOSE_OBJECT));
    this.#depth--;
    return object;
  }

  protected list(): unknown[] {
    const list: unknown[] = [];
    this.#open();
    if (this.next() === CLOSE_LIST) this.at++;
    else
      do {
        this.path.push(list.length);
        list.push(this.#member(list, list.length, () => this.value()));
        this.path.pop();
      } while (this.more(CLOSE_LIST));
    this.#depth--;
    return list;
  }

  #open(): void {
    if (++this.#depth > DEEPEST) this.refuse(`is nested more than ${DEEPEST} deep`);
    this.at++;
  }

  #member<Key extends string | number>(holder: object, key: Key, read: (key: Key) => unknown): unknown {
    const value = read(key);
    // What is no number may have one of its own as the last that was read.
    if (typeof value === 'number' && this.#float) {
      const floats = this.floats.get(holder);
      if (floats === undefined) this.floats.set(holder, new Set([key]));
      else floats.add(key);
    } else if (this.floats.size > 0) this.floats.get(holder)?.delete(key);
    return value;
  }

  protected number(): number {
    NUMBER.lastIndex = this.at;
    const match = NUMBER.exec(this.text);
    if (match === null) this.fail();
    const [literal, fraction, exponent] = match;
    this.at += literal.length;
    const value = Number(literal);
    if (!Number.isFinite(value)) this.refuse('is a number beyond all floats');
    this.#float =
      fraction !== undefined ||
      exponent !== undefined ||
      literal === '-0' ||
      (literal.length > SURELY_INTEGER && BigInt(literal) > HIGHEST_INTEGER);
    return value;
  }

  /** Reads a string: its place goes to `start`, `end` and `escaped`. */
  protected string(): void {
    const { text } = this;
    this.expect(QUOTE);
    let at = this.at;
    this.start = at;
    this.escaped = false;
    for (;;) {
      const code = text.charCodeAt(at);
      if (code === QUOTE) break;
      if (code === BACKSLASH) {
        this.escaped = true;
        at++;
      } else if (!(code >= SPACE)) this.fail();
      at++;
    }
    this.end = at;
    this.at = at + 1;
  }

  /** What the string that was read last says. */
  protected stringValue(): string {
    const text = this.text.slice(this.start, this.end);
    if (!this.escaped) return text;
    let value: string;
    try {
      value = JSON.parse(`"${text}"`) as string;
    } catch {
      this.fail();
    }
    if (!value.isWellFormed()) this.refuse('has a string with a lone surrogate');
    return value;
  }

  /** After a member: true behind a comma, false behind `close`. */
  protected more(close: number): boolean {
    const code = this.next();
    this.at++;
    if (code === COMMA) return true;
    if (code === close) return false;
    this.fail();
  }

  protected expect(code: number): void {
    if (this.next() !== code) this.fail();
    this.at++;
  }

  /** The code of what comes after white space; NaN at the end. */
  protected next(): number {
    return this.text.charCodeAt(this.space());
  }

  protected space(): number {
    const { text } = this;
    let at = this.at;
    for (;;) {
      const code = text.charCodeAt(at);
      if (code !== SPACE && code !== 0x0a && code !== 0x0d && code !== 0x09) break;
      at++;
    }
    this.at = at;
    return at;
  }

  /** The text is no JSON. */
  protected fail(): never {
    throw new JsonFault('not valid JSON');
  }

  /** The text is JSON that is not taken: `what` is said of the value that is being read. */
  protected refuse(what: string): never {
    throw new JsonFault(what, [...this.path]);
  }
}
