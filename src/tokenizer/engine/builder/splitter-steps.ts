import { rustPunctuationSource, rustWordSource, spaceSource } from '../regex/class-source.ts';
import { literalSource, translateRegex } from '../regex/translate.ts';
import type { SplitBehavior } from '../regex-split.ts';
import type { ScannerName, SplitterStep } from '../splitter.ts';
import { flattenSequence, isObject, type JsonObject, Refusal } from './json-shape.ts';
import { KNOWN_PATTERNS } from './known-patterns.ts';

export type SplitterPlan = {
  /** Without the last scanner of files that have none: the model knows where words may be cut. */
  readonly steps: readonly SplitterStep[];
  readonly unit: 'bytes' | 'characters';
  /** Whether the model sees U+2581 as a space. */
  readonly folded: boolean;
};

const MARKER = '\u2581';

/** Steps of the `pre_tokenizer` of a tokenizer.json. `folded`: the normalizer left no spaces, and U+2581 as a space. */
export function planSplitter(preTokenizer: unknown, folded: boolean): SplitterPlan | Refusal {
  const members = flattenSequence(preTokenizer, 'pretokenizers');
  if (members instanceof Refusal) return members;
  const steps: SplitterStep[] = [];
  let unit: SplitterPlan['unit'] = 'characters';
  let spaceless = folded;
  for (const member of members) {
    if (unit === 'bytes') return new Refusal(`pre_tokenizer ${String(member.type)} after ByteLevel`);
    const planned = planMember(member, spaceless);
    if (planned instanceof Refusal) return planned;
    steps.push(...planned);
    if (member.type === 'Metaspace') spaceless = true;
    if (member.type === 'ByteLevel') unit = 'bytes';
  }
  if (unit === 'bytes' && spaceless) return new Refusal('pre_tokenizer ByteLevel over text without spaces');
  return { steps: joinDeepseek(steps), unit, folded: spaceless };
}

/** The three passes of deepseek, done at once. */
function joinDeepseek(steps: readonly SplitterStep[]): SplitterStep[] {
  const joined: SplitterStep[] = [];
  for (const step of steps) {
    const numbers = joined.at(-2);
    const han = joined.at(-1);
    if (isScan(step, 'deepseek') && isScan(han, 'han') && isScan(numbers, 'numbers')) {
      joined.length -= 2;
      joined.push({ scan: 'deepseek', digits: numbers.most });
    } else joined.push(step);
  }
  return joined;
}

function isScan<Name extends ScannerName['scan']>(
  step: SplitterStep | undefined,
  scan: Name,
): step is Extract<ScannerName, { scan: Name }> {
  return step !== undefined && 'scan' in step && step.scan === scan;
}

function planMember(member: JsonObject, spaceless: boolean): readonly SplitterStep[] | Refusal {
  switch (member.type) {
    case 'ByteLevel': {
      const prefix: SplitterStep[] =
        member.add_prefix_space === false ? [] : [{ prepend: 'space', firstOnly: false }];
      return member.use_regex === false ? prefix : [...prefix, { scan: 'gpt2' }];
    }
    case 'Split':
      return planSplit(member, spaceless);
    case 'Whitespace':
      return spaceless
        ? new Refusal('pre_tokenizer Whitespace over text without spaces')
        : [
            {
              regex: `[${rustWordSource()}]+|[^${rustWordSource()}${spaceSource(false)}]+`,
              behavior: 'Removed',
              invert: true,
            },
          ];
    case 'WhitespaceSplit':
      return spaceless
        ? new Refusal('pre_tokenizer WhitespaceSplit over text without spaces')
        : [{ regex: `[${spaceSource(false)}]`, behavior: 'Removed', invert: false }];
    case 'Punctuation': {
      const { behavior = 'Isolated' } = member;
      if (spaceless || !isBehavior(behavior))
        return new Refusal(`pre_tokenizer Punctuation ${String(behavior)}`);
      return [{ regex: `[${rustPunctuationSource()}]`, behavior, invert: false }];
    }
    case 'Digits':
      return [{ scan: 'digits', individual: member.individual_digits === true }];
    case 'Metaspace':
      return planMetaspace(member, spaceless);
    default:
      return new Refusal(`pre_tokenizer ${String(member.type)}`);
  }
}

function planSplit(member: JsonObject, spaceless: boolean): readonly SplitterStep[] | Refusal {
  const { pattern, behavior } = member;
  const invert = member.invert === true;
  const named = `pre_tokenizer Split ${JSON.stringify(pattern)} ${String(behavior)}${invert ? ' inverted' : ''}`;
  if (!isObject(pattern) || !isBehavior(behavior)) return new Refusal(named);
  if (typeof pattern.String === 'string' && pattern.String !== '') {
    // A literal with a space finds nothing where no space is left.
    if (spaceless) return pattern.String.includes(' ') && !invert ? [] : new Refusal(named);
    return [{ regex: literalSource(pattern.String), behavior, invert }];
  }
  if (typeof pattern.Regex !== 'string' || spaceless) return new Refusal(named);
  const known = KNOWN_PATTERNS.get(pattern.Regex);
  const allPieces =
    (behavior === 'Isolated' && !invert) || (behavior === 'Removed' && invert && known?.covers === true);
  if (known !== undefined && allPieces) return [known.scanner];
  const regex = translateRegex(pattern.Regex);
  return regex === undefined ? new Refusal(named) : [{ regex, behavior, invert }];
}

const BEHAVIORS: ReadonlySet<unknown> = new Set<SplitBehavior>([
  'Isolated',
  'Removed',
  'MergedWithPrevious',
  'MergedWithNext',
  'Contiguous',
]);

function isBehavior(value: unknown): value is SplitBehavior {
  return BEHAVIORS.has(value);
}

function planMetaspace(member: JsonObject, spaceless: boolean): readonly SplitterStep[] | Refusal {
  const { replacement, prepend_scheme: scheme = 'always', add_prefix_space: prefix } = member;
  if (replacement !== MARKER)
    return new Refusal(`pre_tokenizer Metaspace with replacement ${JSON.stringify(replacement)}`);
  if (scheme !== 'always' && scheme !== 'first' && scheme !== 'never')
    return new Refusal(`pre_tokenizer Metaspace with prepend_scheme ${String(scheme)}`);
  if (prefix === false && scheme !== 'never')
    return new Refusal('pre_tokenizer Metaspace whose add_prefix_space contradicts its prepend_scheme');
  const steps: SplitterStep[] = spaceless ? [] : [{ fold: 'U+2581' }];
  if (scheme !== 'never') steps.push({ prepend: 'space', firstOnly: scheme === 'first' });
  if (member.split !== false) steps.push({ scan: 'metaspace' });
  return steps;
}
