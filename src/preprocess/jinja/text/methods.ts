import { truth } from '../values/compare.ts';
import { iterate, textLength } from '../values/iterate.ts';
import { claim, spend } from '../values/limits.ts';
import {
  type Bound,
  intArgument,
  type Native,
  named,
  optionalText,
  padding,
  positional,
  textArgument,
} from '../values/native.ts';
import { fail, unsupported } from '../values/render-error.ts';
import { Markup, Tuple, typeName, type Value } from '../values/types.ts';
import { capitalize, isLower, isTitle, isUpper, swapCase, title } from './case.ts';
import {
  isAlnum,
  isAlpha,
  isAscii,
  isDecimal,
  isDigit,
  isIdentifier,
  isNumeric,
  isPrintables,
  isSpaces,
} from './character-class.ts';
import { affix, count, find, index, replace, replacedSize } from './search.ts';
import { type Side, splitAt, splitAtSpace, splitLines, strip } from './whitespace.ts';

type TextMethod = Native<string>;

/** A method without arguments; the work it costs is paid by length. */
function plain(run: (text: string) => Value): TextMethod {
  return positional<string>(0, 0, (text) => {
    spend(1 + (text.length >>> 6));
    return run(text);
  });
}

function stripping(side: Side): TextMethod {
  return positional<string>(1, 0, (text, [characters]) => strip(text, side, optionalText(characters)));
}

function splitting(fromRight: boolean): TextMethod {
  return named<string>('sep maxsplit', 0, (text, [separator, most]) => {
    spend(1 + (text.length >>> 4));
    const limit = most === undefined ? -1 : intArgument(most);
    const sep = optionalText(separator);
    if (sep === '') fail('empty separator');
    const parts =
      sep === undefined ? splitAtSpace(text, limit, fromRight) : splitAt(text, sep, limit, fromRight);
    spend(parts.length);
    return parts;
  });
}

function partitioning(last: boolean): TextMethod {
  return positional<string>(1, 1, (text, [separator]) => {
    const sep = textArgument(separator);
    if (sep === '') fail('empty separator');
    const at = last ? text.lastIndexOf(sep) : text.indexOf(sep);
    if (at < 0) return new Tuple(last ? ['', '', text] : [text, '', '']);
    return new Tuple([text.slice(0, at), sep, text.slice(at + sep.length)]);
  });
}

function justified(
  text: string,
  [width, fill]: Bound,
  left: (missing: number, width: number) => number,
): string {
  const wide = intArgument(width);
  const character = fill === undefined ? ' ' : textArgument(fill);
  if (textLength(character) !== 1) fail('The fill character must be exactly one character long');
  const missing = wide - textLength(text);
  if (missing <= 0) return text;
  const before = left(missing, wide);
  return padding(character, before) + text + padding(character, missing - before);
}

export function center(text: string, args: Bound): string {
  return justified(text, args, (missing, width) => (missing >> 1) + (missing & width & 1));
}

function searching(run: (text: string, args: Bound) => Value): TextMethod {
  return positional<string>(3, 1, (text, args) => {
    spend(1 + (text.length >>> 6));
    return run(text, args);
  });
}

export function joinText(separator: string, items: Value): string {
  const parts: string[] = [];
  let size = 0;
  for (const item of iterate(items)) {
    if (typeof item !== 'string' && !(item instanceof Markup)) {
      fail(`sequence item ${parts.length}: expected str instance, ${typeName(item)} found`);
    }
    const part = textArgument(item);
    size += part.length + separator.length;
    parts.push(part);
    if ((parts.length & 63) === 0) claim(size);
  }
  claim(size);
  return parts.join(separator);
}

function expandTabs(text: string, size: number): string {
  let result = '';
  let column = 0;
  for (const character of text) {
    if (character === '\t') {
      const spaces = size > 0 ? size - (column % size) : 0;
      result += padding(' ', spaces);
      claim(result.length);
      column += spaces;
    } else {
      result += character;
      column = character === '\n' || character === '\r' ? 0 : column + 1;
    }
  }
  return result;
}

function zeroFill(text: string, width: number): string {
  const missing = width - textLength(text);
  if (missing <= 0) return text;
  const sign = /^[-+]/.test(text) ? text.charAt(0) : '';
  return sign + padding('0', missing) + text.slice(sign.length);
}

function foldCase(text: string): string {
  return isAscii(text) ? text.toLowerCase() : unsupported('casefold() of text that is not ASCII');
}

/** Methods of str but `format` and `format_map`, which look up attributes (see attributes.ts). */
export const TEXT_METHODS: ReadonlyMap<string, TextMethod> = new Map<string, TextMethod>([
  ['capitalize', plain(capitalize)],
  ['casefold', plain(foldCase)],
  ['center', positional<string>(2, 1, center)],
  ['count', searching(count)],
  ['endswith', searching((text, args) => affix(text, args, true))],
  [
    'expandtabs',
    named<string>('tabsize', 0, (text, [size]) =>
      expandTabs(text, size === undefined ? 8 : intArgument(size)),
    ),
  ],
  ['find', searching((text, args) => find(text, args, false))],
  ['index', searching((text, args) => index(text, args, false))],
  ['isalnum', plain(isAlnum)],
  ['isalpha', plain(isAlpha)],
  ['isascii', plain(isAscii)],
  ['isdecimal', plain(isDecimal)],
  ['isdigit', plain(isDigit)],
  ['isidentifier', plain(isIdentifier)],
  ['islower', plain(isLower)],
  ['isnumeric', plain(isNumeric)],
  ['isprintable', plain(isPrintables)],
  ['isspace', plain(isSpaces)],
  ['istitle', plain(isTitle)],
  ['isupper', plain(isUpper)],
  ['join', positional<string>(1, 1, (text, [items]) => joinText(text, items as Value))],
  ['ljust', positional<string>(2, 1, (text, args) => justified(text, args, () => 0))],
  ['lower', plain((text) => text.toLowerCase())],
  ['lstrip', stripping('left')],
  ['partition', partitioning(false)],
  ['removeprefix', positional<string>(1, 1, (text, [prefix]) => cutPrefix(text, textArgument(prefix)))],
  ['removesuffix', positional<string>(1, 1, (text, [suffix]) => cutSuffix(text, textArgument(suffix)))],
  ['replace', positional<string>(3, 2, replaceIn)],
  ['rfind', searching((text, args) => find(text, args, true))],
  ['rindex', searching((text, args) => index(text, args, true))],
  ['rjust', positional<string>(2, 1, (text, args) => justified(text, args, (missing) => missing))],
  ['rpartition', partitioning(true)],
  ['rsplit', splitting(true)],
  ['rstrip', stripping('right')],
  ['split', splitting(false)],
  ['splitlines', named<string>('keepends', 0, (text, [keep]) => splitLines(text, truth(keep ?? false)))],
  ['startswith', searching((text, args) => affix(text, args, false))],
  ['strip', stripping('both')],
  ['swapcase', plain(swapCase)],
  ['title', plain(title)],
  ['upper', plain((text) => text.toUpperCase())],
  ['zfill', positional<string>(1, 1, (text, [width]) => zeroFill(text, intArgument(width)))],
]);

/** Methods that would need bytes, or tables of characters. */
export const UNSUPPORTED_TEXT_METHODS: ReadonlySet<string> = new Set(['encode', 'maketrans', 'translate']);

function replaceIn(text: string, [old, replacement, count]: Bound): string {
  return replaceText(
    text,
    textArgument(old),
    textArgument(replacement),
    count === undefined ? -1 : intArgument(count),
  );
}

export function replaceText(text: string, old: string, replacement: string, most: number): string {
  claim(replacedSize(text, old, replacement, most));
  return replace(text, old, replacement, most);
}

function cutPrefix(text: string, prefix: string): string {
  return text.startsWith(prefix) ? text.slice(prefix.length) : text;
}

function cutSuffix(text: string, suffix: string): string {
  return suffix !== '' && text.endsWith(suffix) ? text.slice(0, -suffix.length) : text;
}
