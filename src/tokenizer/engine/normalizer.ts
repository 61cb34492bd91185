import { isAscii } from 'node:buffer';
import { spacesAfter, spacesBefore } from './added-tokens.ts';
import { nextMember } from './byte-set.ts';
import { LOWERCASE } from './generated/lowercase.ts';
import { codeAt, lengthOfLead, previous } from './symbols.ts';
import { findBytes, TextBuffer } from './text-buffer.ts';
import { type Form, toForm, type UnstableTables } from './unicode-forms.ts';

/** One step of normalization, on bytes. */
export type NormalizerStep =
  | { readonly kind: 'form'; readonly form: Form; readonly unstable: UnstableTables }
  | { readonly kind: 'lowercase' }
  | { readonly kind: 'strip'; readonly left: boolean; readonly right: boolean }
  | { readonly kind: 'prepend'; readonly content: Uint8Array }
  | { readonly kind: 'replaceRegex'; readonly regex: string; readonly content: string }
  | { readonly kind: 'replace'; readonly pattern: Uint8Array; readonly content: Uint8Array };

/** Normalizes sections one at a time: the last result is `start` to `end` of `text`, valid until the next. */
export class SectionNormalizer {
  text: TextBuffer;
  start = 0;
  end = 0;
  /** Whether a Strip took something off the start: Metaspace `first` no longer counts it as the start of the text. */
  startLost = false;
  readonly #steps: readonly NormalizerStep[];
  readonly #classes: Uint8Array;
  #firstStep = 0;
  readonly #scratch = [new TextBuffer(1 << 10), new TextBuffer(1 << 10)] as const;

  constructor(steps: readonly NormalizerStep[], classes: Uint8Array) {
    this.#steps = steps;
    this.#classes = classes;
    this.text = this.#scratch[0];
  }

  /**
   * Must be called before the sections of a text. What the whole text lacks, a pattern or all that is not ASCII, is then
   * looked for once and not in each of many short sections.
   */
  open(text: TextBuffer): void {
    const first = this.#steps[0];
    this.#firstStep = first !== undefined && changesNothingOf(text, first) ? 1 : 0;
  }

  /** A step that changes nothing copies nothing, so the result may be the input itself. */
  run(text: TextBuffer, start: number, end: number): void {
    this.text = text;
    this.start = start;
    this.end = end;
    this.startLost = false;
    for (let k = this.#firstStep; k < this.#steps.length; k++) {
      const step = this.#steps[k]!;
      if (step.kind === 'strip') {
        const { bytes } = this.text;
        if (step.left) {
          const stripped = spacesAfter(this.#classes, bytes, this.start, this.end);
          if (stripped > this.start) this.startLost = true;
          this.start = stripped;
        }
        if (step.right) this.end = spacesBefore(this.#classes, bytes, this.start, this.end);
        continue;
      }
      const into = this.text === this.#scratch[0] ? this.#scratch[1] : this.#scratch[0];
      into.length = 0;
      if (applyStep(step, this.text, this.start, this.end, into)) {
        this.text = into;
        this.start = 0;
        this.end = into.length;
      }
    }
  }
}

/** false: it may change something. */
function changesNothingOf(text: TextBuffer, step: NormalizerStep): boolean {
  if (step.kind === 'replace') return findBytes(text, step.pattern, 0, text.length) < 0;
  return (
    step.kind === 'form' && step.unstable.leads.aboveAscii && isAscii(text.buffer.subarray(0, text.length))
  );
}

/** Writes the section after `step` into `into`; false when it is the same as before. */
function applyStep(
  step: Exclude<NormalizerStep, { kind: 'strip' }>,
  text: TextBuffer,
  start: number,
  end: number,
  into: TextBuffer,
): boolean {
  switch (step.kind) {
    case 'form':
      return applyForm(step.form, step.unstable, text, start, end, into);
    case 'lowercase':
      return applyLowercase(text.bytes, start, end, into);
    case 'prepend':
      if (start === end) return false;
      into.appendBytes(step.content);
      into.appendBytes(text.bytes.subarray(start, end));
      return true;
    case 'replaceRegex': {
      const before = text.buffer.toString('utf8', start, end);
      const after = before.replaceAll(compiled(step.regex), () => step.content);
      into.appendText(after);
      return after !== before;
    }
    case 'replace':
      return applyReplace(step.pattern, step.content, text, start, end, into);
  }
}

const regexes = new Map<string, RegExp>();

function compiled(source: string): RegExp {
  const regex = regexes.get(source) ?? new RegExp(source, 'gu');
  regexes.set(source, regex);
  return regex;
}

function applyReplace(
  pattern: Uint8Array,
  content: Uint8Array,
  text: TextBuffer,
  start: number,
  end: number,
  into: TextBuffer,
): boolean {
  const { bytes } = text;
  let kept = start;
  for (;;) {
    const found = findBytes(text, pattern, kept, end);
    if (found < 0) break;
    into.appendBytes(bytes.subarray(kept, found));
    into.appendBytes(content);
    kept = found + pattern.length;
  }
  if (kept === start) return false;
  into.appendBytes(bytes.subarray(kept, end));
  return true;
}

/** Normalizes only the stretches that hold an unstable code point, each from the stable one before it. */
function applyForm(
  form: Form,
  unstable: UnstableTables,
  text: TextBuffer,
  start: number,
  end: number,
  into: TextBuffer,
): boolean {
  const { codePoints, leads } = unstable;
  const { bytes } = text;
  let copied = start;
  // End of the last stretch: all between it and `at` is stable.
  let settled = start;
  let changed = false;
  for (let at = start; ; ) {
    // Whatever bytes: no continuation byte is among them.
    at = nextMember(leads, text, at, end);
    if (at === end) break;
    const length = lengthOfLead(bytes[at]!);
    if (codePoints[codeAt(bytes, at, length)] === 0) {
      at += length;
      continue;
    }
    const stable = at > settled ? previous(bytes, at) : at;
    const codes: number[] = [];
    let next = stable;
    while (next < end) {
      const size = lengthOfLead(bytes[next]!);
      const code = codeAt(bytes, next, size);
      if (next > at && codePoints[code] === 0) break;
      codes.push(code);
      next += size;
    }
    const result = toForm(form, codes);
    if (result.length !== codes.length || result.some((code, k) => code !== codes[k])) {
      into.appendBytes(bytes.subarray(copied, stable));
      appendCodes(into, result);
      copied = next;
      changed = true;
    }
    at = next;
    settled = next;
  }
  if (changed) into.appendBytes(bytes.subarray(copied, end));
  return changed;
}

function appendCodes(into: TextBuffer, codes: readonly number[]): void {
  into.reserve(into.length + codes.length * 4);
  for (const code of codes) into.length = writeCode(into.bytes, into.length, code);
}

function writeCode(bytes: Uint8Array, at: number, code: number): number {
  if (code < 0x80) {
    bytes[at] = code;
    return at + 1;
  }
  if (code < 0x800) {
    bytes[at] = 0xc0 | (code >> 6);
    bytes[at + 1] = 0x80 | (code & 63);
    return at + 2;
  }
  if (code < 0x10000) {
    bytes[at] = 0xe0 | (code >> 12);
    bytes[at + 1] = 0x80 | ((code >> 6) & 63);
    bytes[at + 2] = 0x80 | (code & 63);
    return at + 3;
  }
  bytes[at] = 0xf0 | (code >> 18);
  bytes[at + 1] = 0x80 | ((code >> 12) & 63);
  bytes[at + 2] = 0x80 | ((code >> 6) & 63);
  bytes[at + 3] = 0x80 | (code & 63);
  return at + 4;
}

let lowercase: Map<number, number[]> | undefined;

function lowercaseMap(): Map<number, number[]> {
  lowercase ??= new Map(
    LOWERCASE.split(',').map((entry) => {
      const [code, target] = entry.split('=') as [string, string];
      return [Number.parseInt(code, 36), target.split(' ').map((part) => Number.parseInt(part, 36))];
    }),
  );
  return lowercase;
}

function applyLowercase(bytes: Uint8Array, start: number, end: number, into: TextBuffer): boolean {
  const map = lowercaseMap();
  // One code point becomes three bytes more at most.
  into.reserve((end - start) * 3);
  let changed = false;
  for (let at = start; at < end; ) {
    const byte = bytes[at]!;
    const length = lengthOfLead(byte);
    const code = codeAt(bytes, at, length);
    const lower = map.get(code);
    if (lower === undefined) {
      for (let k = 0; k < length; k++) into.bytes[into.length++] = bytes[at + k]!;
    } else {
      changed = true;
      appendCodes(into, lower);
    }
    at += length;
  }
  return changed;
}
