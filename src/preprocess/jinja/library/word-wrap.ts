import { splitLines } from '../text/whitespace.ts';
import { truth } from '../values/compare.ts';
import { claim, spend } from '../values/limits.ts';
import { type Bound, intArgument, textArgument } from '../values/native.ts';
import { fail, unsupported } from '../values/render-error.ts';
import { typeName, type Value } from '../values/types.ts';

const SPACES = /^[\t\n\v\f\r ]*$/;

/** The filter wordwrap: every line wrapped by Python's textwrap, tabs and spaces kept. */
export function wordWrap(value: Value, [width, breakLong, wrap, onHyphens]: Bound): Value {
  if (typeof value !== 'string') return fail(`cannot wrap a ${typeName(value)}`);
  const columns = width === undefined ? 79 : intArgument(width);
  const newline = wrap === undefined || wrap === null ? '\n' : textArgument(wrap);
  if (columns <= 0) fail(`invalid width ${columns} (must be > 0)`);
  if (/[^\0-\x7f]/.test(value)) return unsupported('wordwrap of text that is not ASCII');
  const lines = splitLines(value, false).map((line) =>
    wrapLine(line, columns, truth(breakLong ?? true), truth(onHyphens ?? true)).join(newline),
  );
  const text = lines.join(newline);
  claim(text.length);
  return text;
}

/** Chunks that a line may break between: runs of space, words, and at hyphens within words where wanted. */
function chunksOf(line: string, onHyphens: boolean): string[] {
  const chunks: string[] = [];
  for (let start = 0; start < line.length; ) {
    const end = isSpace(line, start)
      ? spaceEnd(line, start)
      : onHyphens
        ? partEnd(line, start)
        : wordEnd(line, start);
    chunks.push(line.slice(start, end));
    start = end;
  }
  return chunks;
}

function isSpace(line: string, index: number): boolean {
  return '\t\n\v\f\r '.includes(line.charAt(index)) && index < line.length;
}

function spaceEnd(line: string, start: number): number {
  let end = start;
  while (isSpace(line, end)) end++;
  return end;
}

function wordEnd(line: string, start: number): number {
  let end = start;
  while (end < line.length && !isSpace(line, end)) end++;
  return end;
}

/** Where a word, or its part that may stand alone at the end of a line, ends. */
function partEnd(line: string, start: number): number {
  const dash = dashEnd(line, start);
  if (dash > start) return dash;
  const last = wordEnd(line, start);
  for (let end = start + 1; end < last; end++) {
    if (end > start + 1 && line.charAt(end - 1) === '-' && mayBreakAfterHyphen(line, end)) return end;
    if (dashEnd(line, end) > end) return end;
  }
  return last;
}

/** The end of two hyphens or more that stand as a dash between words; `start` when there are none there. */
function dashEnd(line: string, start: number): number {
  let end = start;
  while (line.charAt(end) === '-') end++;
  const isDash =
    end - start >= 2 && /[\w!"'&.,?]/.test(line.charAt(start - 1)) && /\w/.test(line.charAt(end));
  return isDash ? end : start;
}

/** Two letters, or two with a hyphen between, on either side of the hyphen before `end`. */
function mayBreakAfterHyphen(line: string, end: number): boolean {
  const letter = (index: number): boolean => /[A-Za-z_]/.test(line.charAt(index));
  const before = letter(end - 2) && (letter(end - 3) || (line.charAt(end - 3) === '-' && letter(end - 4)));
  const after = letter(end) && (letter(end + 1) || (line.charAt(end + 1) === '-' && letter(end + 2)));
  return before && after;
}

function wrapLine(line: string, width: number, breakLong: boolean, onHyphens: boolean): string[] {
  const chunks = chunksOf(line, onHyphens).reverse();
  const lines: string[] = [];
  while (chunks.length > 0) {
    const current: string[] = [];
    let length = 0;
    if (lines.length > 0 && SPACES.test(chunks.at(-1) as string)) chunks.pop();
    while (chunks.length > 0 && length + (chunks.at(-1) as string).length <= width) {
      const chunk = chunks.pop() as string;
      current.push(chunk);
      length += chunk.length;
    }
    if (chunks.length > 0 && (chunks.at(-1) as string).length > width) {
      takePart(chunks, current, length, width, breakLong, onHyphens);
    }
    if (current.length > 0 && SPACES.test(current.at(-1) as string)) current.pop();
    if (current.length > 0) lines.push(current.join(''));
    spend(1);
  }
  return lines;
}

/** A chunk longer than a line: cut, preferably after a hyphen, or left whole on a line of its own. */
function takePart(
  chunks: string[],
  current: string[],
  length: number,
  width: number,
  breakLong: boolean,
  onHyphens: boolean,
): void {
  const space = width < 1 ? 1 : width - length;
  if (!breakLong) {
    if (current.length === 0) current.push(chunks.pop() as string);
    return;
  }
  const chunk = chunks.at(-1) as string;
  let end = space;
  if (onHyphens && chunk.length > space) {
    const hyphen = chunk.slice(0, space).lastIndexOf('-');
    if (hyphen > 0 && /[^-]/.test(chunk.slice(0, hyphen))) end = hyphen + 1;
  }
  current.push(chunk.slice(0, end));
  chunks[chunks.length - 1] = chunk.slice(end);
}
