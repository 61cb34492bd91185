import { isBasic, textLength } from '../values/iterate.ts';
import { type Bound, intArgument, textArgument } from '../values/native.ts';
import { fail } from '../values/render-error.ts';
import { Tuple, type Value } from '../values/types.ts';

/** A part of a text, in UTF-16 units, with the number of characters before it. */
interface Part {
  readonly text: string;
  readonly before: number;
}

/** text[start:end] by characters; undefined where start lies beyond the end, where even nothing is not found. */
function part(text: string, start: Value | undefined, end: Value | undefined): Part | undefined {
  if ((start ?? null) === null && (end ?? null) === null) return { text, before: 0 };
  const length = textLength(text);
  const from = bound(start, 0, length);
  const to = Math.min(bound(end, length, length), length);
  if (from > length || from > to) return undefined;
  if (isBasic(text)) return { text: text.slice(from, to), before: from };
  return { text: Array.from(text).slice(from, to).join(''), before: from };
}

function bound(value: Value | undefined, absent: number, length: number): number {
  if (value === undefined || value === null) return absent;
  const index = intArgument(value);
  return index < 0 ? Math.max(0, index + length) : index;
}

/** find, rfind, index and rindex, which differ in the direction and in what they do when there is nothing. */
export function find(text: string, args: Bound, last: boolean): number {
  const needle = textArgument(args[0]);
  const found = part(text, args[1], args[2]);
  if (found === undefined) return -1;
  const at = last ? found.text.lastIndexOf(needle) : found.text.indexOf(needle);
  return at < 0 ? -1 : found.before + textLength(found.text.slice(0, at));
}

export function index(text: string, args: Bound, last: boolean): number {
  const at = find(text, args, last);
  return at < 0 ? fail('substring not found') : at;
}

export function count(text: string, args: Bound): number {
  const needle = textArgument(args[0]);
  const found = part(text, args[1], args[2]);
  if (found === undefined) return 0;
  if (needle === '') return textLength(found.text) + 1;
  let times = 0;
  for (let at = found.text.indexOf(needle); at >= 0; at = found.text.indexOf(needle, at + needle.length))
    times++;
  return times;
}

/** startswith and endswith, of a text or of any in a tuple. */
export function affix(text: string, args: Bound, atEnd: boolean): boolean {
  const [wanted] = args;
  if (args.length === 1 && typeof wanted === 'string') {
    return atEnd ? text.endsWith(wanted) : text.startsWith(wanted);
  }
  const found = part(text, args[1], args[2]);
  const candidates = wanted instanceof Tuple ? wanted.items : [wanted];
  return candidates.some((candidate) => {
    const affix = textArgument(candidate);
    if (found === undefined) return false;
    return atEnd ? found.text.endsWith(affix) : found.text.startsWith(affix);
  });
}

/** replace; an empty `old` stands before and after every character. */
export function replace(text: string, old: string, replacement: string, most: number): string {
  if (most === 0) return text;
  if (old === '') {
    const characters = Array.from(text);
    const times = most < 0 ? characters.length + 1 : Math.min(most, characters.length + 1);
    let result = '';
    characters.forEach((character, at) => {
      result += at < times ? replacement + character : character;
    });
    return times > characters.length ? result + replacement : result;
  }
  if (most < 0) return text.split(old).join(replacement);
  let result = '';
  let from = 0;
  for (let times = 0; times < most; times++) {
    const at = text.indexOf(old, from);
    if (at < 0) break;
    result += text.slice(from, at) + replacement;
    from = at + old.length;
  }
  return result + text.slice(from);
}

/** Upper bound of what replace returns, in units, so that it can be refused before it exists. */
export function replacedSize(text: string, old: string, replacement: string, most: number): number {
  const growth = replacement.length - old.length;
  if (growth <= 0) return text.length;
  const times = old === '' ? text.length + 1 : Math.floor(text.length / old.length);
  if (text.length + times * growth < 1 << 16) return text.length + times * growth;
  const exact = old === '' ? times : count(text, [old]);
  return text.length + Math.min(exact, most < 0 ? exact : most) * growth;
}
