import { isPrintable } from '../values/repr.ts';
import { isSpace } from './whitespace.ts';

/** Digits beside the decimal ones: superscripts, circled digits and their like. JavaScript has no name for them. */
const OTHER_DIGITS =
  '\\u{b2}\\u{b3}\\u{b9}\\u{1369}-\\u{1371}\\u{19da}\\u{2070}\\u{2074}-\\u{2079}\\u{2080}-\\u{2089}\\u{2460}-\\u{2468}' +
  '\\u{2474}-\\u{247c}\\u{2488}-\\u{2490}\\u{24ea}\\u{24f5}-\\u{24fd}\\u{24ff}\\u{2776}-\\u{277e}\\u{2780}-\\u{2788}' +
  '\\u{278a}-\\u{2792}\\u{10a40}-\\u{10a43}\\u{10e60}-\\u{10e68}\\u{11052}-\\u{1105a}\\u{1f100}-\\u{1f10a}';
/** Ideographs that stand for numbers. */
const NUMERALS =
  '㐅㒃㠪㭍一七万三九二五亖亿什仟仨伍佰億兆兩八六十千卅卌叁-叄四壱壹幺廾廿弌-弎弐拾捌柒漆玖百肆萬貮貳贰阡陆陌陸零' +
  '\\u{f96b}\\u{f973}\\u{f978}\\u{f9b2}\\u{f9d1}\\u{f9d3}\\u{f9fd}\\u{20001}\\u{20064}\\u{200e2}\\u{20121}\\u{2092a}' +
  '\\u{20983}\\u{2098c}\\u{2099c}\\u{20aea}\\u{20afd}\\u{20b19}\\u{22390}\\u{22998}\\u{23b1b}\\u{2626d}\\u{2f890}';

function all(pattern: string): (text: string) => boolean {
  const expression = new RegExp(`^(?:${pattern})+$`, 'u');
  return (text) => expression.test(text);
}

export const isAlpha = all('\\p{L}');
export const isDecimal = all('\\p{Nd}');
export const isDigit = all(`[\\p{Nd}${OTHER_DIGITS}]`);
export const isNumeric = all(`[\\p{N}${NUMERALS}]`);
export const isAlnum = all('[\\p{L}\\p{N}]');
export const isIdentifier = all('(?<![\\s\\S])[\\p{XID_Start}_]|(?<=[\\s\\S])\\p{XID_Continue}');

export function isAscii(text: string): boolean {
  return /^[\0-\x7f]*$/.test(text);
}

export function isSpaces(text: string): boolean {
  if (text === '') return false;
  for (let index = 0; index < text.length; index++) if (!isSpace(text.charCodeAt(index))) return false;
  return true;
}

export function isPrintables(text: string): boolean {
  for (const character of text) if (!isPrintable(character)) return false;
  return true;
}
