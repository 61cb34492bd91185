import { reorders } from './value.ts';

/**
 * What a JSON text holds that JSON.parse would lose, found by jumping from quote to quote: only what stands between
 * strings, and keys, are looked at. The text need not be valid; of an invalid one the answer means nothing.
 */
export interface Scan {
  /** Deepest nesting of arrays and objects. */
  depth: number;
  /** Where each literal stands that must be replaced before JSON.parse: start, end, start, end, ... */
  readonly numbers: number[];
  /** The same for keys, quotes included. */
  readonly keys: number[];
}

const QUOTE = 34;
const BACKSLASH = 92;
const MAXIMUM_SAFE_DIGITS = 15;

/** Python refuses to read integers of more digits than this. */
export const MAXIMUM_INTEGER_DIGITS = 4300;

/**
 * Scans `text`, stopping early once the nesting exceeds `maximumDepth`. With `exactIn`, members of the outermost object
 * that are not named there are passed over, but for integers beyond Python's limit and for their nesting.
 */
export function scan(text: string, maximumDepth: number, exactIn?: ReadonlySet<string>): Scan {
  const found: Scan = { depth: 0, numbers: [], keys: [] };
  let exact = true;
  let depth = 0;
  let position = 0;
  while (position < text.length) {
    const code = text.charCodeAt(position);
    if (code === QUOTE) {
      const end = endOfString(text, position);
      const first = text.charCodeAt(position + 1);
      if (depth === 1 && exactIn !== undefined && isKey(text, end)) {
        const key = text.slice(position + 1, end - 1);
        exact = exactIn.has(key) || key.includes('\\');
      }
      // A key that may look like an integer, or may hide one behind an escape.
      if (exact && (isDigit(first) || first === BACKSLASH || first === 95) && isKey(text, end)) {
        if (first === BACKSLASH || reorders(text.slice(position + 1, end - 1)))
          found.keys.push(position, end);
      }
      position = end;
    } else if (code === 0x5b || code === 0x7b) {
      depth++;
      if (depth > found.depth) found.depth = depth;
      if (depth > maximumDepth) return found;
      position++;
    } else if (code === 0x5d || code === 0x7d) {
      depth--;
      position++;
    } else if (isDigit(code) || code === 45) {
      position = scanNumber(text, position, exact, found);
    } else {
      position++;
    }
  }
  return found;
}

function scanNumber(text: string, start: number, exact: boolean, found: Scan): number {
  let end = start + 1;
  while (isDigit(text.charCodeAt(end))) end++;
  const wholeEnd = end;
  while (isInNumber(text.charCodeAt(end))) end++;
  if (end === wholeEnd) {
    const length = end - start;
    const tooLong = exact ? length > MAXIMUM_SAFE_DIGITS : length > MAXIMUM_INTEGER_DIGITS;
    if (tooLong && !Number.isSafeInteger(Number(text.slice(start, end)))) found.numbers.push(start, end);
    return end;
  }
  if (!exact) return end;
  const value = Number(text.slice(start, end));
  if (Number.isInteger(value) || value === Infinity || value === -Infinity) found.numbers.push(start, end);
  return end;
}

/** The index after the closing quote, or the length of the text where none comes. */
export function endOfString(text: string, start: number): number {
  let quote = start;
  for (;;) {
    quote = text.indexOf('"', quote + 1);
    if (quote < 0) return text.length;
    let backslashes = 0;
    while (text.charCodeAt(quote - 1 - backslashes) === BACKSLASH) backslashes++;
    if (backslashes % 2 === 0) return quote + 1;
  }
}

function isKey(text: string, end: number): boolean {
  let position = end;
  let code = text.charCodeAt(position);
  while (code === 32 || code === 10 || code === 13 || code === 9) code = text.charCodeAt(++position);
  return code === 58;
}

/** A digit or one of . e E + - */
function isInNumber(code: number): boolean {
  return isDigit(code) || code === 46 || code === 101 || code === 69 || code === 43 || code === 45;
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}
