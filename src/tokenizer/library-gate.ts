import { isObject, type TokenizerJson } from './tokenizer-json.ts';

/** Behaviors of a Split that the library treats as Isolated or drops. */
const INEXACT_BEHAVIORS = ['Removed', 'MergedWithPrevious', 'MergedWithNext', 'Contiguous'];

/** The first construct of a tokenizer.json that `@huggingface/tokenizers` is silently wrong on; undefined if there is none. */
export function inexactConstruct(tokenizer: TokenizerJson): string | undefined {
  const { model } = tokenizer;
  const single = tokenizer.added_tokens.find((token) => token.single_word);
  if (single !== undefined) return `added_tokens[${tokenizer.added_tokens.indexOf(single)}] with single_word`;
  // WordPiece and Unigram differ on a twentieth of the texts and up, by the character classes of the JavaScript engine.
  if (model.type !== 'BPE' && model.type !== undefined) return `model ${String(model.type)}`;
  for (const step of stepsOf(tokenizer.pre_tokenizer)) {
    if (step.type !== 'Split') continue;
    if (INEXACT_BEHAVIORS.includes(String(step.behavior))) return `Split with behavior ${step.behavior}`;
    const regex = isObject(step.pattern) ? step.pattern.Regex : undefined;
    if (typeof regex === 'string' && isPossessive(regex)) return 'Split by a possessive regex';
  }
  return undefined;
}

/** Whether a quantifier is followed by another '+'. Escapes and classes go first: the brace of \p{L}+ closes no count. */
function isPossessive(regex: string): boolean {
  const bare = regex.replaceAll(/\\(?:[pP]\{[^}]*\}|.)/gsu, 'x').replaceAll(/\[\^?\]?[^\]]*\]/g, 'x');
  return /[*+?}]\+/.test(bare);
}

function stepsOf(preTokenizer: unknown): Readonly<Record<string, unknown>>[] {
  if (!isObject(preTokenizer)) return [];
  const steps = preTokenizer.type === 'Sequence' ? preTokenizer.pretokenizers : [preTokenizer];
  return Array.isArray(steps) ? steps.filter(isObject) : [];
}
