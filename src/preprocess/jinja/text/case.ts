import { unsupported } from '../values/render-error.ts';

/** Characters whose title case is neither their upper case nor that with all but the first letter lowered. */
const OWN_TITLE_CASE = /[\u0149\u01c4-\u01cc\u01f1-\u01f3\u10d0-\u10fa\u10fd-\u10ff\u1f80-\u1fff]/;
const CASED = /\p{Cased}/u;
const UPPER = /\p{Uppercase}/u;
const LOWER = /\p{Lowercase}/u;
const TITLE = /\p{Lt}/u;

/** The title case of one character. */
function titleCharacter(character: string): string {
  const upper = character.toUpperCase();
  if (!OWN_TITLE_CASE.test(character)) {
    return upper.length === 1 ? upper : headUpper(upper);
  }
  if (character === '\u0149') return upper;
  if (character >= '\u10d0' && character <= '\u10ff') return character;
  if (character < '\u1f80') {
    // Digraphs of two letters come as upper, title and lower case, in this order.
    const code = character.charCodeAt(0);
    const first = code < 0x1f1 ? 0x1c4 + Math.floor((code - 0x1c4) / 3) * 3 : 0x1f1;
    return String.fromCharCode(first + 1);
  }
  return upper.length === 1 ? upper : unsupported('the title case of a Greek letter with an iota');
}

function headUpper(upper: string): string {
  const [first = '', ...rest] = upper;
  return first + rest.join('').toLowerCase();
}

export function capitalize(text: string): string {
  const [first] = text;
  if (first === undefined) return text;
  return titleCharacter(first) + lowerTail(text, first.length);
}

/** The lower case of text[from:], where a final sigma still sees what stands before it. */
function lowerTail(text: string, from: number): string {
  const tail = text.slice(from);
  if (!tail.includes('\u03a3')) return tail.toLowerCase();
  const head = text.slice(0, from);
  return text.toLowerCase().slice(head.toLowerCase().length);
}

/** title(): every run of cased characters begins in title case and goes on in lower case. */
export function title(text: string): string {
  let result = '';
  let inWord = false;
  let index = 0;
  for (const character of text) {
    result += inWord
      ? lowerTail(text.slice(0, index + character.length + 1), index).slice(0, lowerLength(character))
      : titleCharacter(character);
    inWord = CASED.test(character);
    index += character.length;
  }
  return result;
}

function lowerLength(character: string): number {
  return character.toLowerCase().length;
}

export function swapCase(text: string): string {
  let result = '';
  for (const character of text) {
    if (UPPER.test(character)) result += character.toLowerCase();
    else if (LOWER.test(character)) result += character.toUpperCase();
    else result += character;
  }
  return result;
}

export function isLower(text: string): boolean {
  let cased = false;
  for (const character of text) {
    if (UPPER.test(character) || TITLE.test(character)) return false;
    cased ||= LOWER.test(character);
  }
  return cased;
}

export function isUpper(text: string): boolean {
  let cased = false;
  for (const character of text) {
    if (LOWER.test(character) || TITLE.test(character)) return false;
    cased ||= UPPER.test(character);
  }
  return cased;
}

export function isTitle(text: string): boolean {
  let cased = false;
  let inWord = false;
  for (const character of text) {
    if (UPPER.test(character) || TITLE.test(character)) {
      if (inWord) return false;
      inWord = true;
      cased = true;
    } else if (LOWER.test(character)) {
      if (!inWord) return false;
      cased = true;
    } else inWord = false;
  }
  return cased;
}
