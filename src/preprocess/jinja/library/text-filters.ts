import { capitalize } from '../text/case.ts';
import { center, replaceText } from '../text/methods.ts';
import { percentFormat } from '../text/printf.ts';
import { splitLines, strip } from '../text/whitespace.ts';
import { truth } from '../values/compare.ts';
import { dictEntries, PyDict } from '../values/dict.ts';
import { escapeHtml } from '../values/html.ts';
import { iterate, len, textLength, toList } from '../values/iterate.ts';
import { claim, spend } from '../values/limits.ts';
import {
  intArgument,
  type Native,
  named,
  optionalText,
  padding,
  positional,
  textArgument,
  variadic,
} from '../values/native.ts';
import { fail, unsupported } from '../values/render-error.ts';
import { repr, str } from '../values/repr.ts';
import { isDict, isInt, Markup, Tuple, typeName, Undefined, type Value } from '../values/types.ts';
import { toJson } from './json-text.ts';
import { prettyPrint } from './pretty-print.ts';
import { wordWrap } from './word-wrap.ts';

/** A filter that makes text of anything, and Markup of Markup. */
function onText(run: (text: string) => string): Native {
  return positional(0, 0, (value) => like(value, run(paid(value))));
}

function paid(value: Value): string {
  const text = str(value);
  spend(1 + (text.length >>> 6));
  return text;
}

function like(value: Value, text: string): Value {
  return value instanceof Markup ? new Markup(text) : text;
}

/** Words begin after space, hyphens and opening brackets. */
const WORD_START = /([-\s({[<]+)/;

function titleWords(text: string): string {
  return text
    .split(WORD_START)
    .map((word) => {
      const [first = ''] = word;
      return first.toUpperCase() + word.slice(first.length).toLowerCase();
    })
    .join('');
}

function indent(value: Value, width: Value, first: boolean, blank: boolean): Value {
  const unit =
    isInt(width) || typeof width === 'boolean' ? padding(' ', intArgument(width)) : textArgument(width);
  if (value instanceof Undefined) fail(value.message);
  if (typeof value !== 'string' && !(value instanceof Markup))
    fail(`can only indent a str, not ${typeName(value)}`);
  const lines = splitLines(`${str(value)}\n`, false);
  claim(str(value).length + lines.length * unit.length);
  const text = lines
    .map((line, index) => (index > 0 && (blank || line !== '') ? unit + line : line))
    .join('\n');
  return like(value, first ? unit + text : text);
}

function truncate(value: Value, length: number, killWords: boolean, end: string, leeway: number): Value {
  if (len(value) <= length + leeway) return value;
  if (value instanceof Undefined) fail(value.message);
  if (typeof value !== 'string') fail(`cannot truncate a ${typeName(value)}`);
  const room = length - textLength(end);
  const characters = Array.from(value);
  const head = characters.slice(0, room < 0 ? Math.max(0, characters.length + room) : room).join('');
  if (killWords) return head + end;
  const at = head.lastIndexOf(' ');
  return (at < 0 ? head : head.slice(0, at)) + end;
}

function format(value: Value, args: readonly Value[], keywords: ReadonlyMap<string, Value>): Value {
  if (args.length > 0 && keywords.size > 0)
    fail("can't handle positional and keyword arguments at the same time");
  if (value instanceof Markup) return unsupported('formatting with Markup');
  if (keywords.size === 0) return percentFormat(str(value), new Tuple(args));
  const dict = new PyDict();
  for (const [name, argument] of keywords) dict.put(name, argument);
  return percentFormat(str(value), dict);
}

function stripTags(text: string): string {
  let rest = text;
  for (let start = rest.indexOf('<!--'); start >= 0; start = rest.indexOf('<!--')) {
    const end = rest.indexOf('-->', start);
    if (end < 0) break;
    rest = rest.slice(0, start) + rest.slice(end + 3);
    spend(1 + (rest.length >>> 6));
  }
  for (let start = rest.indexOf('<'); start >= 0; start = rest.indexOf('<')) {
    const end = rest.indexOf('>', start);
    if (end < 0) break;
    rest = rest.slice(0, start) + rest.slice(end + 1);
    spend(1 + (rest.length >>> 6));
  }
  if (rest.includes('&')) return unsupported('striptags of text with character references');
  return rest
    .split(/[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/)
    .filter((word) => word !== '')
    .join(' ');
}

/** urllib.parse.quote: what is not unreserved (or a slash, in a path) as percent-encoded UTF-8. */
function quote(value: Value, forQuery: boolean): string {
  const encoded = encodeURIComponent(str(value)).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return forQuery ? encoded.replaceAll('%20', '+') : encoded.replaceAll('%2F', '/');
}

function urlEncode(value: Value): string {
  if (typeof value === 'string' || value instanceof Markup) return quote(value, false);
  const isIterable = typeof value === 'object' && value !== null && 'length' in value ? true : isDict(value);
  if (!isIterable) return quote(value, false);
  const pairs = isDict(value) ? dictEntries(value) : Array.from(iterate(value), (pair) => toList(pair));
  return pairs
    .map(([key, item, ...rest]) => {
      if (key === undefined || item === undefined || rest.length > 0) return fail('expected pairs to encode');
      return `${quote(key, true)}=${quote(item, true)}`;
    })
    .join('&');
}

function xmlAttributes(value: Value, autoSpace: boolean): string {
  if (!isDict(value))
    return fail(
      value instanceof Undefined ? value.message : `'${typeName(value)}' object has no attribute 'items'`,
    );
  const items: string[] = [];
  for (const [key, item] of dictEntries(value)) {
    if (item === null || item instanceof Undefined) continue;
    const name = textArgument(key);
    if (/[\t-\r />=]/.test(name)) fail(`Invalid character in attribute name: ${repr(name)}`);
    items.push(`${escapeHtml(name)}="${item instanceof Markup ? item.text : escapeHtml(str(item))}"`);
  }
  const text = items.join(' ');
  return autoSpace && text !== '' ? ` ${text}` : text;
}

export const TEXT_FILTERS: readonly (readonly [string, Native])[] = [
  ['string', positional(0, 0, (value) => (value instanceof Markup ? value : str(value)))],
  ['upper', onText((text) => text.toUpperCase())],
  ['lower', onText((text) => text.toLowerCase())],
  ['capitalize', onText(capitalize)],
  ['title', onText(titleWords)],
  ['center', named('width', 0, (value, [width]) => like(value, center(str(value), [width ?? 80])))],
  [
    'trim',
    named('chars', 0, (value, [characters]) =>
      like(value, strip(str(value), 'both', optionalText(characters))),
    ),
  ],
  [
    'replace',
    named('old new count', 2, (value, [old, replacement, count]) =>
      replaceText(
        str(value),
        str(old as Value),
        str(replacement as Value),
        count === undefined || count === null ? -1 : intArgument(count),
      ),
    ),
  ],
  [
    'indent',
    named('width first blank', 0, (value, [width, first, blank]) =>
      indent(value, width ?? 4, truth(first ?? false), truth(blank ?? false)),
    ),
  ],
  [
    'truncate',
    named('length killwords end leeway', 0, (value, [length, kill, end, leeway]) =>
      truncate(
        value,
        length === undefined ? 255 : intArgument(length),
        truth(kill ?? false),
        end === undefined ? '...' : textArgument(end),
        leeway === undefined || leeway === null ? 5 : intArgument(leeway),
      ),
    ),
  ],
  ['wordwrap', named('width break_long_words wrapstring break_on_hyphens', 0, wordWrap)],
  ['wordcount', positional(0, 0, (value) => (paid(value).match(/[\p{L}\p{N}_]+/gu) ?? []).length)],
  ['format', variadic(format)],
  ['pprint', positional(0, 0, prettyPrint)],
  ['tojson', named('ensure_ascii indent separators sort_keys', 0, toJson)],
  ['striptags', onText(stripTags)],
  ['urlencode', positional(0, 0, urlEncode)],
  ['xmlattr', named('autospace', 0, (value, [autoSpace]) => xmlAttributes(value, truth(autoSpace ?? true)))],
  ['safe', positional(0, 0, (value) => new Markup(str(value)))],
  ['escape', positional(0, 0, escaped)],
  ['e', positional(0, 0, escaped)],
  ['forceescape', positional(0, 0, (value) => new Markup(escapeHtml(str(value))))],
];

function escaped(value: Value): Value {
  return value instanceof Markup ? value : new Markup(escapeHtml(str(value)));
}
