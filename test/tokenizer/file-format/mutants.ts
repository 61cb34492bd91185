/** A number, a string or a key as it is to stand in the file, which JSON.stringify would not write so. */
export class Literal {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** An object as its members in order; a key may be there twice. */
export class Members {
  readonly list: readonly (readonly [key: string | Literal, value: Tree])[];
  constructor(list: Members['list']) {
    this.list = list;
  }
}

export type Tree = null | boolean | number | string | Literal | Members | readonly Tree[];

export function treeOf(value: unknown): Tree {
  if (Array.isArray(value)) return value.map(treeOf);
  if (typeof value !== 'object' || value === null) return value as Tree;
  return new Members(Object.entries(value).map(([key, member]) => [key, treeOf(member)]));
}

export function textOf(tree: Tree): string {
  if (tree instanceof Literal) return tree.text;
  if (tree instanceof Members)
    return `{${tree.list.map(([key, value]) => `${key instanceof Literal ? key.text : JSON.stringify(key)}:${textOf(value)}`).join()}}`;
  return Array.isArray(tree) ? `[${tree.map(textOf).join()}]` : JSON.stringify(tree);
}

/** A change of a file, in words, and the file that it makes. */
export interface Mutant {
  readonly change: string;
  readonly tree: Tree;
}

const LONE = new Literal('"\\ud800"');

/** What any value is replaced by. */
const REPLACEMENTS: readonly Tree[] = [
  null,
  true,
  false,
  0,
  1,
  -1,
  4294967295,
  4294967296,
  ...['1.0', '0e0', '-0', '1.5', '0.5', '1e400', '99999999999999999999'].map((text) => new Literal(text)),
  '',
  'x',
  'xy',
  '😀',
  LONE,
  new Literal('"\\ude00\\ud83d"'),
  [],
  ['x'],
  [[]],
  new Members([]),
  new Members([['x', 1]]),
];

/** Types of every kind of part. */
const TYPES = (
  'Sequence NFC NFD NFKC NFKD Nmt Lowercase StripAccents ByteLevel Strip Prepend Replace BertNormalizer Metaspace Split Whitespace ' +
  'WhitespaceSplit BertPreTokenizer UnicodeScripts Punctuation Digits CharDelimiterSplit FixedLength ByteFallback Fuse BPEDecoder ' +
  'WordPiece CTC BertProcessing RobertaProcessing TemplateProcessing WordLevel Unigram BPE Strange'
).split(' ');

/** Every file that differs from `tree` in one place at or below it. */
export function* mutantsOf(tree: Tree, where = ''): Generator<Mutant> {
  for (const value of replacementsOf(tree))
    yield { change: `${where} = ${textOf(value).slice(0, 60)}`, tree: value };
  if (tree instanceof Members) yield* mutantsOfMembers(tree.list, where);
  else if (Array.isArray(tree)) yield* mutantsOfList(tree as readonly Tree[], where);
}

function* replacementsOf(tree: Tree): Generator<Tree> {
  yield* REPLACEMENTS;
  yield [tree];
  yield new Members([['x', tree]]);
  if (typeof tree === 'number')
    for (const text of [`${tree}.0`, `${tree}e0`, `"${tree}"`, `-${tree}`]) yield new Literal(text);
  if (typeof tree === 'string') {
    yield tree.toLowerCase();
    yield tree.toUpperCase();
    yield `${tree} `;
    yield new Members([[tree, null]]);
  }
  if (tree instanceof Members) {
    yield tree.list.map(([, value]) => value);
    yield textOf(tree);
  }
}

function* mutantsOfMembers(list: Members['list'], where: string): Generator<Mutant> {
  const mutant = (change: string, members: Members['list']) => ({
    change: `${where} ${change}`,
    tree: new Members(members),
  });
  for (const added of ['unknown', 'type', '__proto__', 'sep'])
    if (!list.some(([key]) => key === added)) yield mutant(`and ${added}`, [...list, [added, 'x']]);
  yield mutant('and a float', [...list, ['unknown', new Literal('1e400')]]);
  yield mutant('and half a character', [...list, ['unknown', LONE]]);
  yield mutant('and a key of half a character', [...list, [LONE, 1]]);
  yield mutant('backwards', list.toReversed());
  for (const [index, member] of list.entries()) {
    const [key, value] = member;
    const name = key instanceof Literal ? key.text : key;
    yield mutant(`without ${name}`, list.toSpliced(index, 1));
    yield mutant(`${name} twice`, [...list, member]);
    yield mutant(`${name} twice, first null`, list.toSpliced(index, 0, [key, null]));
    yield mutant(`${name} renamed`, list.toSpliced(index, 1, [`${name}_`, value]));
    const types = name === 'type' ? TYPES : [];
    for (const type of types) yield mutant(`of type ${type}`, list.toSpliced(index, 1, [key, type]));
    for (const { change, tree } of mutantsOf(value, `${where}.${name}`))
      yield { change, tree: new Members(list.toSpliced(index, 1, [key, tree])) };
  }
}

function* mutantsOfList(list: readonly Tree[], where: string): Generator<Mutant> {
  yield { change: `${where} and null`, tree: [...list, null] };
  for (const [index, item] of list.entries()) {
    yield { change: `${where} without [${index}]`, tree: list.toSpliced(index, 1) };
    yield { change: `${where}[${index}] twice`, tree: [...list, item] };
    for (const { change, tree } of mutantsOf(item, `${where}[${index}]`))
      yield { change, tree: list.toSpliced(index, 1, tree) };
  }
}
