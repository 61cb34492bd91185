/** What Python's str.isspace holds for space: unlike JavaScript it has U+001C to U+001F and U+0085, and not U+FEFF. */
export function isSpace(unit: number): boolean {
  if (unit <= 32) return unit === 32 || (unit >= 9 && unit <= 13) || (unit >= 28 && unit <= 31);
  if (unit < 0x1680) return unit === 0x85 || unit === 0xa0;
  return (
    unit === 0x1680 ||
    (unit >= 0x2000 && unit <= 0x200a) ||
    unit === 0x2028 ||
    unit === 0x2029 ||
    unit === 0x202f ||
    unit === 0x205f ||
    unit === 0x3000
  );
}

function isSpaceAt(text: string, index: number): boolean {
  return isSpace(text.charCodeAt(index));
}

export type Side = 'left' | 'right' | 'both';

/** strip, lstrip and rstrip: of space, or of any of `characters`. */
export function strip(text: string, side: Side, characters?: string): string {
  if (characters !== undefined && !/^[\0-\ud7ff\ue000-\uffff]*$/.test(characters)) {
    return stripPoints(text, side, characters);
  }
  let start = 0;
  let end = text.length;
  if (side !== 'right') while (start < end && isStripped(text, start, characters)) start++;
  if (side !== 'left') while (end > start && isStripped(text, end - 1, characters)) end--;
  return start === 0 && end === text.length ? text : text.slice(start, end);
}

function isStripped(text: string, index: number, characters: string | undefined): boolean {
  return characters === undefined ? isSpace(text.charCodeAt(index)) : characters.includes(text.charAt(index));
}

/** The same where `characters` hold some above U+FFFF, which must not be taken apart. */
function stripPoints(text: string, side: Side, characters: string): string {
  const set = new Set(characters);
  const points = Array.from(text);
  let start = 0;
  let end = points.length;
  if (side !== 'right') while (start < end && set.has(points[start] as string)) start++;
  if (side !== 'left') while (end > start && set.has(points[end - 1] as string)) end--;
  return points.slice(start, end).join('');
}

const LINE_END = /\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]/g;

/** splitlines */
export function splitLines(text: string, keepEnds: boolean): string[] {
  const lines: string[] = [];
  let start = 0;
  for (const match of text.matchAll(LINE_END)) {
    const end = match.index + match[0].length;
    lines.push(text.slice(start, keepEnds ? end : match.index));
    start = end;
  }
  if (start < text.length) lines.push(text.slice(start));
  return lines;
}

/** split and rsplit at runs of space; at most `most` splits, from the left or the right, when that is not negative. */
export function splitAtSpace(text: string, most: number, fromRight: boolean): string[] {
  const words: string[] = [];
  if (fromRight) {
    let end = text.length;
    for (;;) {
      while (end > 0 && isSpaceAt(text, end - 1)) end--;
      if (end === 0) return words.reverse();
      if (words.length === most) {
        words.push(text.slice(0, end));
        return words.reverse();
      }
      let start = end;
      while (start > 0 && !isSpaceAt(text, start - 1)) start--;
      words.push(text.slice(start, end));
      end = start;
    }
  }
  let start = 0;
  for (;;) {
    while (start < text.length && isSpaceAt(text, start)) start++;
    if (start === text.length) return words;
    if (words.length === most) {
      words.push(text.slice(start));
      return words;
    }
    let end = start;
    while (end < text.length && !isSpaceAt(text, end)) end++;
    words.push(text.slice(start, end));
    start = end;
  }
}

/** split and rsplit at a separator. */
export function splitAt(text: string, separator: string, most: number, fromRight: boolean): string[] {
  if (most < 0) return text.split(separator);
  const parts: string[] = [];
  if (fromRight) {
    let end = text.length;
    while (parts.length < most) {
      const at = end < separator.length ? -1 : text.lastIndexOf(separator, end - separator.length);
      if (at < 0) break;
      parts.push(text.slice(at + separator.length, end));
      end = at;
    }
    parts.push(text.slice(0, end));
    return parts.reverse();
  }
  let start = 0;
  while (parts.length < most) {
    const at = text.indexOf(separator, start);
    if (at < 0) break;
    parts.push(text.slice(start, at));
    start = at + separator.length;
  }
  parts.push(text.slice(start));
  return parts;
}
