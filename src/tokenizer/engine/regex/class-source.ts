import * as classes from '../classes.ts';
import {
  BLANK,
  CLASS_BITS,
  classMask,
  classTable,
  NEWLINE,
  RUST_PUNCTUATION,
  RUST_WORD,
} from '../classes.ts';

/** Properties of Oniguruma that the class table holds, as masks. */
const PROPERTIES: Readonly<Record<string, number>> = {
  L: classes.IN_LETTERS,
  Lu: classMask(classes.UPPER),
  Ll: classMask(classes.LOWER),
  Lt: classMask(classes.TITLE),
  Lm: classMask(classes.MODIFIER),
  Lo: classMask(classes.OTHER_LETTER),
  M: classes.IN_MARKS,
  N: classes.IN_NUMBERS,
  P: classMask(classes.PUNCTUATION),
  S: classMask(classes.SYMBOL),
};

const sources = new Map<string, string>();

/** Members of a JavaScript character class, `u` flag, for all code points that `holds`. */
function rangesWhere(key: string, holds: (entry: number) => boolean): string {
  const known = sources.get(key);
  if (known !== undefined) return known;
  const table = classTable();
  let source = '';
  for (let start = 0; start < table.length; ) {
    if (!holds(table[start]!)) {
      start++;
      continue;
    }
    let end = start;
    while (end < table.length && holds(table[end]!)) end++;
    source += `\\u{${start.toString(16)}}-\\u{${(end - 1).toString(16)}}`;
    start = end;
  }
  sources.set(key, source);
  return source;
}

/** `\p{name}` or `\P{name}` as class members; undefined for a property that the table does not hold. */
export function propertySource(name: string, negated: boolean): string | undefined {
  const mask = PROPERTIES[name];
  if (mask === undefined) return undefined;
  return rangesWhere(
    `${negated ? '^' : ''}${name}`,
    (entry) => (((1 << (entry & CLASS_BITS)) & mask) !== 0) !== negated,
  );
}

/** `\s` or `\S` as class members. */
export function spaceSource(negated: boolean): string {
  const mask = classMask(BLANK, NEWLINE);
  return rangesWhere(
    `${negated ? '^' : ''}s`,
    (entry) => (((1 << (entry & CLASS_BITS)) & mask) !== 0) !== negated,
  );
}

/** `\w` of Rust's regex crate, as class members: what the Whitespace pretokenizer looks for. */
export function rustWordSource(): string {
  return rangesWhere('rust w', (entry) => (entry & RUST_WORD) !== 0);
}

/** What the Punctuation pretokenizer finds, as class members. */
export function rustPunctuationSource(): string {
  return rangesWhere('rust punctuation', (entry) => (entry & RUST_PUNCTUATION) !== 0);
}
