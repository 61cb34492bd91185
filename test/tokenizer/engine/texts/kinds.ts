import fc from 'fast-check';

/** A stretch of text of one kind, so that a run can say how many texts held each. */
export type Stretch = { readonly kind: string; readonly text: string };

type Range = readonly [first: number, last: number];

/** Blocks of the scripts that tokenizers meet, bicameral and not, left to right and not, in and above the BMP. */
const SCRIPTS: readonly Range[] = [
  [0x41, 0x7a],
  [0xc0, 0x24f],
  [0x250, 0x2ff],
  [0x370, 0x3ff],
  [0x400, 0x52f],
  [0x531, 0x58a],
  [0x5d0, 0x5f4],
  [0x600, 0x6ff],
  [0x700, 0x74f],
  [0x900, 0x97f],
  [0x980, 0x9ff],
  [0xb80, 0xbff],
  [0xd00, 0xd7f],
  [0xe00, 0xe7f],
  [0xf00, 0xfff],
  [0x1000, 0x109f],
  [0x10a0, 0x10ff],
  [0x1100, 0x11ff],
  [0x1200, 0x137f],
  [0x13a0, 0x13ff],
  [0x1780, 0x17ff],
  [0x1800, 0x18af],
  [0x1c80, 0x1cbf],
  [0x1e00, 0x1fff],
  [0x2c00, 0x2dff],
  [0x3040, 0x30ff],
  [0x3400, 0x3420],
  [0x4e00, 0x9fff],
  [0xa640, 0xa7ff],
  [0xab30, 0xabbf],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfb00, 0xfb4f],
  [0xfe70, 0xfeff],
  [0xff00, 0xffef],
  [0x10400, 0x1044f],
  [0x1d400, 0x1d7ff],
  [0x1e900, 0x1e95f],
  [0x20000, 0x20100],
  [0x2f800, 0x2fa1d],
];

/** Blocks first filled by Unicode 14 to 17, where Node and the oracle are likeliest to differ. */
const RECENT: readonly Range[] = [
  [0x0870, 0x08ff],
  [0x0c5c, 0x0c5d],
  [0x0cdc, 0x0cdd],
  [0x1ac1, 0x1aeb],
  [0x1c89, 0x1c8a],
  [0x20c0, 0x20c1],
  [0xa7c0, 0xa7f4],
  [0x10570, 0x105bf],
  [0x105c0, 0x105f3],
  [0x10d40, 0x10d8f],
  [0x11380, 0x113ff],
  [0x11f00, 0x11f59],
  [0x16100, 0x16139],
  [0x1e290, 0x1e2ae],
  [0x1e4d0, 0x1e4f9],
  [0x1e5d0, 0x1e5ff],
  [0x1fa70, 0x1faff],
  [0x31350, 0x323af],
  [0x323b0, 0x33479],
];

const MARKS: readonly Range[] = [
  [0x300, 0x36f],
  [0x483, 0x489],
  [0x591, 0x5c7],
  [0x610, 0x61a],
  [0x64b, 0x65f],
  [0x93a, 0x94d],
  [0xe34, 0xe4e],
  [0xf71, 0xf84],
  [0x1ab0, 0x1ace],
  [0x1dc0, 0x1dff],
  [0x20d0, 0x20f0],
  [0x302a, 0x302f],
  [0x3099, 0x309a],
  [0xfe00, 0xfe2f],
  [0x1d165, 0x1d172],
];

const DIGITS: readonly Range[] = [
  [0x30, 0x39],
  [0x30, 0x39],
  [0xb2, 0xb3],
  [0xbc, 0xbe],
  [0x660, 0x669],
  [0x966, 0x96f],
  [0x2070, 0x2089],
  [0x2150, 0x218b],
  [0x2460, 0x249b],
  [0x3007, 0x3007],
  [0x3021, 0x3029],
  [0xff10, 0xff19],
  [0x1d7ce, 0x1d7ff],
];

const WHITESPACE = Array.from(
  '  \t\n\r\u000b\u000c\u0085\u00a0\u1680\u2000\u2003\u2009\u200a\u2028\u2029\u202f\u205f\u3000\u200b\u2060\ufeff\u180e\u001c\u001f',
);

const EMOJI = [
  '😀',
  '👍🏽',
  '👩‍👩‍👧‍👦',
  '🏳️‍🌈',
  '🇩🇪🇫🇷',
  '1️⃣',
  '❤️',
  '☺',
  '🫨',
  '🧑🏿‍💻',
  '\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e007f}',
];

const PROSE = [
  "I'll say it's DON'T, we'Re they'VE I'M he'D CAN'T y'all'd've",
  "l'\u017f 'ſ 'S's'T'LL'Ll",
  'The quick brown fox jumps over the lazy dog.',
  'HTTPServer getURLFor XMLHttpRequest iPhone McDonald ÉCOLE naïve',
  'for (let i = 0; i < n; i++) {\n\t\tx[i] += y / 2; // comment\n    }\n\n\n',
  'https://example.org/a/b?c=d&e=%20f#g',
  '<p class="x">a&amp;b</p>\r\n\r\n',
  '{"a": [1, 2.50, -3e10], "b": null}',
  'foo_bar __init__ $x->y::z !== === <<= //// ###### -----\n',
  '东京都是日本的首都，人口约1400万。ひらがなとカタカナ、한국어 문장입니다.',
  'สวัสดีชาวโลก नमस्ते दुनिया مرحبا بالعالم שלום עולם',
];

/** What stands among kana without being a letter, and what may touch it: deepseek splits between blocks and by class. */
const AMONG_KANA = [
  '・',
  '゠',
  '゛',
  '\u3099',
  '\u3040',
  '\u3098',
  'ー',
  'ア',
  '中',
  '龦',
  '\n',
  ' ',
  'a',
  '1',
  '。',
  '!',
];

function inRanges(ranges: readonly Range[]): fc.Arbitrary<string> {
  return fc
    .constantFrom(...ranges)
    .chain(([first, last]) => fc.integer({ min: first, max: last }))
    .map((code) => String.fromCodePoint(code));
}

function runOf(character: fc.Arbitrary<string>, most: number): fc.Arbitrary<string> {
  return fc.array(character, { minLength: 1, maxLength: most }).map((list) => list.join(''));
}

/** One script at a time, as words are. */
const scriptWord = fc.constantFrom(...SCRIPTS).chain((range) => runOf(inRanges([range]), 12));

const anyCharacter = fc
  .oneof(fc.integer({ min: 0, max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }))
  .map((code) => String.fromCodePoint(code));

const punctuation = fc.oneof(
  fc.constantFrom(...Array.from('!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~')),
  inRanges([
    [0xa1, 0xbf],
    [0x2010, 0x2027],
    [0x2030, 0x205e],
    [0x20a0, 0x20bf],
    [0x2190, 0x23ff],
    [0x2500, 0x25ff],
    [0x3001, 0x3003],
    [0xff01, 0xff0f],
  ]),
);

/** Runs long enough for the word cache to be passed by and for the heap to take over from the linear search. */
const longRun = fc
  .tuple(
    fc.oneof(
      fc.constantFrom(' ', 'a', '=', '\n', '\t', '中', 'é', '0', '\u0301', '😀', '▁', '가'),
      anyCharacter,
    ),
    fc.integer({ min: 17, max: 300 }),
  )
  .map(([character, count]) => character.repeat(count));

const contraction = fc
  .tuple(
    fc.constantFrom('', ' ', 'a', 'A', 'é', '1', '\n'),
    fc.constantFrom("'s", "'S", "'ſ", "'t", "'re", "'RE", "'ve", "'m", "'lL", "'d", "'", "''s", '’s'),
    fc.constantFrom('', 'x', ' ', 'S', '1', "'"),
  )
  .map((parts) => parts.join(''));

/** Token contents and what is left when they are cut: `<|im_`, `end|>`. */
function addedTokens(contents: readonly string[]): fc.Arbitrary<string> {
  const content = fc.constantFrom(...contents);
  const cut = content.chain((whole) => {
    const characters = Array.from(whole);
    return fc
      .tuple(fc.nat(characters.length), fc.nat(characters.length))
      .map(([a, b]) => characters.slice(Math.min(a, b), Math.max(a, b)).join(''));
  });
  const around = fc.constantFrom('', ' ', '  ', '\n', 'a', '_', '▁', '\u0301');
  return fc.oneof(
    content,
    cut,
    fc.tuple(around, content, around).map((parts) => parts.join('')),
  );
}

export type TextSources = {
  /** Contents of added tokens of the model under test. */
  readonly added: readonly string[];
  /** Words to bring its merges into play: texts of vocabulary entries. */
  readonly words: readonly string[];
};

/** A text as the stretches it was put together from. */
export function stretches({ added, words }: TextSources): fc.Arbitrary<Stretch[]> {
  const kinds: [kind: string, weight: number, text: fc.Arbitrary<string>][] = [
    ['prose and code', 4, fc.constantFrom(...PROSE)],
    [
      'part of prose',
      2,
      fc.constantFrom(...PROSE).chain((text) => fc.nat(text.length).map((end) => cutAt(text, end))),
    ],
    ['script', 6, scriptWord],
    ['mixed scripts', 2, runOf(inRanges(SCRIPTS), 10)],
    ['marks', 3, runOf(inRanges(MARKS), 6)],
    ['emoji', 2, runOf(fc.constantFrom(...EMOJI), 3)],
    ['whitespace', 5, runOf(fc.constantFrom(...WHITESPACE), 5)],
    ['digits', 3, runOf(inRanges(DIGITS), 8)],
    ['punctuation', 4, runOf(punctuation, 8)],
    ['contraction', 2, contraction],
    ['among kana', 2, runOf(fc.constantFrom(...AMONG_KANA), 6)],
    ['recently assigned', 2, runOf(inRanges(RECENT), 4)],
    ['any code point', 3, runOf(anyCharacter, 4)],
    ['long run', 1, longRun],
    ['space', 8, fc.constant(' ')],
  ];
  if (added.length > 0) kinds.push(['added token', 5, addedTokens(added)]);
  if (words.length > 0) kinds.push(['vocabulary', 6, runOf(fc.constantFrom(...words), 4)]);
  const stretch = fc.oneof(
    ...kinds.map(([kind, weight, text]) => ({
      weight,
      arbitrary: text.map((value): Stretch => ({ kind, text: value })),
    })),
  );
  return fc.array(stretch, { maxLength: 12, size: 'max' });
}

/** The first `end` UTF-16 units, or one more rather than half a surrogate pair. */
function cutAt(text: string, end: number): string {
  const code = text.charCodeAt(end);
  return text.slice(0, code >= 0xdc00 && code < 0xe000 ? end + 1 : end);
}
