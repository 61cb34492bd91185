import { propertySource, spaceSource } from './class-source.ts';

/**
 * Turns an Oniguruma pattern (Ruby's syntax, as the oracle uses it) into a JavaScript one that matches the same text,
 * with every Unicode class spelt out from the pinned table. What cannot be the same for certain is undefined: other
 * properties, `\w`, `\d` and `\b`, back references, class intersections, case folding beyond ASCII, a pattern that may
 * match nothing, and repetitions of repetitions, which some text could make take exponential time.
 */
export function translateRegex(pattern: string): string | undefined {
  const reader = new Reader(pattern);
  const result = readAlternatives(reader, false);
  if (result === undefined || !reader.done || result.least === 0) return undefined;
  return result.source;
}

/** A pattern that matches `text` and nothing else. */
export function literalSource(text: string): string {
  return Array.from(text, codeMember).join('');
}

/** A piece of JavaScript pattern, the least number of characters it matches, and whether a repetition is in it. */
type Part = { readonly source: string; readonly least: number; readonly repeats: boolean };

class Reader {
  readonly #characters: readonly string[];
  #at = 0;
  /** Groups opened for possessive quantifiers. */
  groups = 0;

  constructor(pattern: string) {
    this.#characters = Array.from(pattern);
  }

  get done(): boolean {
    return this.#at === this.#characters.length;
  }

  peek(ahead = 0): string | undefined {
    return this.#characters[this.#at + ahead];
  }

  next(): string | undefined {
    return this.#characters[this.#at++];
  }

  take(text: string): boolean {
    const length = Array.from(text).length;
    if (this.#characters.slice(this.#at, this.#at + length).join('') !== text) return false;
    this.#at += length;
    return true;
  }
}

function readAlternatives(reader: Reader, folded: boolean): Part | undefined {
  const alternatives: Part[] = [];
  do {
    const part = readSequence(reader, folded);
    if (part === undefined) return undefined;
    alternatives.push(part);
  } while (reader.take('|'));
  return {
    source: alternatives.map((part) => part.source).join('|'),
    least: Math.min(...alternatives.map((part) => part.least)),
    repeats: alternatives.some((part) => part.repeats),
  };
}

/** Pairs of letters that one character folds to: `ß` is `ss` where case does not matter. */
const FOLDED_PAIRS = /ss|st|ff|fi|fl/i;

function readSequence(reader: Reader, folded: boolean): Part | undefined {
  let source = '';
  let least = 0;
  let repeats = false;
  let literals = '';
  while (!reader.done && reader.peek() !== '|' && reader.peek() !== ')') {
    const first = reader.peek()!;
    const part = readAtom(reader, folded);
    if (part === undefined) return undefined;
    literals += /[a-z]/i.test(first) ? first : ' ';
    const repeated = readQuantifier(reader, part);
    if (repeated === undefined) return undefined;
    source += repeated.source;
    least += repeated.least;
    repeats ||= repeated.repeats;
  }
  return folded && FOLDED_PAIRS.test(literals) ? undefined : { source, least, repeats };
}

const LINE_START = '(?<![^\\n])';
const LINE_END = '(?![^\\n])';

function readAtom(reader: Reader, folded: boolean): Part | undefined {
  const first = reader.next()!;
  switch (first) {
    case '(':
      return readGroup(reader, folded);
    case '[':
      return readClass(reader, folded);
    case '\\': {
      const members = readEscape(reader, folded);
      return members === undefined ? undefined : { source: `[${members}]`, least: 1, repeats: false };
    }
    case '.':
      return { source: '[^\\n]', least: 1, repeats: false };
    case '^':
      return { source: LINE_START, least: 0, repeats: false };
    case '$':
      return { source: LINE_END, least: 0, repeats: false };
    case '*':
    case '+':
    case '?':
    case '{':
      return undefined;
    default: {
      const members = literalMembers(first, folded);
      return members === undefined ? undefined : { source: `[${members}]`, least: 1, repeats: false };
    }
  }
}

function readGroup(reader: Reader, folded: boolean): Part | undefined {
  const opening = (['?:', '?i:', '?=', '?!'] as const).find((text) => reader.take(text));
  if (opening === undefined && reader.peek() === '?') return undefined;
  const inner = readAlternatives(reader, folded || opening === '?i:');
  if (inner === undefined || !reader.take(')')) return undefined;
  if (opening === '?=' || opening === '?!')
    return { source: `(${opening}${inner.source})`, least: 0, repeats: inner.repeats };
  return { source: `(?:${inner.source})`, least: inner.least, repeats: inner.repeats };
}

/** A quantifier after `part`, if there is one. Possessive ones become a look-ahead that is then taken whole. */
function readQuantifier(reader: Reader, part: Part): Part | undefined {
  const counted = readCount(reader);
  if (counted === undefined) return undefined;
  if (counted === '') return part;
  const least =
    counted === '?' || counted === '*'
      ? 0
      : counted === '+'
        ? part.least
        : part.least * Number.parseInt(counted.slice(1), 10);
  const repeats = counted !== '?';
  if (repeats && part.repeats) return undefined;
  const isBraces = counted.startsWith('{');
  if (isBraces && (reader.peek() === '?' || reader.peek() === '+')) return undefined;
  if (reader.take('+')) {
    const group = ++reader.groups;
    return {
      source: `(?=(?<p${group}>(?:${part.source})${counted}))\\k<p${group}>`,
      least,
      repeats: repeats || part.repeats,
    };
  }
  const source = `(?:${part.source})${counted}${reader.take('?') ? '?' : ''}`;
  return '*+?{'.includes(reader.peek() ?? ' ')
    ? undefined
    : { source, least, repeats: repeats || part.repeats };
}

/** `?`, `*`, `+`, `{n}`, `{n,}` or `{n,m}`; empty where none stands, undefined for braces of another kind. */
function readCount(reader: Reader): string | undefined {
  const first = reader.peek();
  if (first === '?' || first === '*' || first === '+') return reader.next()!;
  if (first !== '{') return '';
  let text = '';
  while (!reader.done && !text.endsWith('}')) text += reader.next()!;
  return /^\{\d+(,\d*)?\}$/.test(text) ? text : undefined;
}

function readClass(reader: Reader, folded: boolean): Part | undefined {
  const negated = reader.take('^');
  let members = '';
  let first = true;
  for (;;) {
    const character = reader.next();
    if (character === undefined) return undefined;
    if (character === ']' && !first) break;
    first = false;
    if (character === '[' || character === ']' || (character === '&' && reader.peek() === '&'))
      return undefined;
    const member = character === '\\' ? readEscape(reader, folded) : literalMembers(character, folded);
    if (member === undefined) return undefined;
    if (reader.peek() !== '-' || reader.peek(1) === ']') {
      members += member;
      continue;
    }
    reader.next();
    const last = reader.next();
    const end =
      last === '\\'
        ? readEscape(reader, false)
        : last === undefined || last === '['
          ? undefined
          : literalMembers(last, false);
    if (end === undefined || folded || !isSingle(member) || !isSingle(end)) return undefined;
    members += `${member}-${end}`;
  }
  return { source: `[${negated ? '^' : ''}${members}]`, least: 1, repeats: false };
}

function isSingle(members: string): boolean {
  return /^\\u\{[0-9a-f]+\}$/.test(members);
}

const ESCAPES: Readonly<Record<string, string>> = {
  r: '\r',
  n: '\n',
  t: '\t',
  f: '\f',
  v: '\v',
  a: '\x07',
  e: '\x1b',
};

/** What stands after a backslash, as members of a class. */
function readEscape(reader: Reader, folded: boolean): string | undefined {
  const kind = reader.next();
  if (kind === undefined) return undefined;
  if (kind === 's' || kind === 'S') return spaceSource(kind === 'S');
  if (kind === 'p' || kind === 'P') {
    if (!reader.take('{')) return undefined;
    let name = '';
    while (!reader.done && reader.peek() !== '}') name += reader.next()!;
    if (!reader.take('}')) return undefined;
    return name.startsWith('^') ? undefined : propertySource(name, kind === 'P');
  }
  const control = ESCAPES[kind];
  if (control !== undefined) return codeMember(control);
  return /[A-Za-z0-9]/.test(kind) ? undefined : literalMembers(kind, folded);
}

function codeMember(character: string): string {
  return `\\u{${character.codePointAt(0)!.toString(16)}}`;
}

/** A character, with what folds to it where case does not matter. */
function literalMembers(character: string, folded: boolean): string | undefined {
  if (!folded || !/[a-z]/i.test(character))
    return folded && character > '\x7f' ? undefined : codeMember(character);
  const cases = [character.toLowerCase(), character.toUpperCase()];
  if (cases[0] === 's') cases.push('\u017f');
  if (cases[0] === 'k') cases.push('\u212a');
  return cases.map(codeMember).join('');
}
