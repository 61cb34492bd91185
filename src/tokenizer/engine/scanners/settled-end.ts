import { CLASS_BITS, classAt, classMask, IN_SPACES, NUMBER, OTHER, TITLE, UPPER } from '../classes.ts';
import { previous } from '../symbols.ts';

const APOSTROPHE = 0x27;
/** Classes of the character after an end which leave it open; whitespace is another matter. */
const IN_OPEN = classMask(OTHER, NUMBER, UPPER, TITLE);

/**
 * Whether the text up to `end` and the one character after it decide that a word ends there, and where the words before
 * it end, for every scanner; `bytes` may go on as it likes. This is so but for these, after which a scanner looks on:
 *
 * - whitespace on both sides: a run of it is divided by its last newline, or gives its last character away;
 * - an apostrophe on either side: a contraction is looked for as far as its second letter;
 * - an upper or title case letter after it: o200k gives back a head that has no tail (`ああABC`), having read all of it;
 * - a number or a character of class OTHER after it: in deepseek's third pass the letter behind it ends a gap, or not.
 */
export function endIsSettled(classes: Uint8Array, bytes: Uint8Array, end: number): boolean {
  const before = bytes[end - 1]!;
  const after = bytes[end]!;
  if (before === APOSTROPHE || after === APOSTROPHE) return false;
  const member = 1 << (classAt(classes, bytes, end) & CLASS_BITS);
  if (member & IN_OPEN) return false;
  return (
    (member & IN_SPACES) === 0 || ((1 << classAt(classes, bytes, previous(bytes, end))) & IN_SPACES) === 0
  );
}
