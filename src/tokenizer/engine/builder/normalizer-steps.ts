import type { NormalizerStep } from '../normalizer.ts';
import { translateRegex } from '../regex/translate.ts';
import { type Form, type UnstableTables, unstableUnder } from '../unicode-forms.ts';
import { flattenSequence, isObject, type JsonObject, Refusal } from './json-shape.ts';

export type NormalizerPlan = {
  readonly steps: readonly NormalizerStep[];
  /**
   * The text after these steps has no space, only U+2581, and so the steps leave it folded: each U+2581 as a space.
   * That is one byte for three, and no copy of a text that had none.
   */
  readonly folded: boolean;
};

const MARKER = '\u2581';
const utf8 = new TextEncoder();
const FORMS: ReadonlySet<unknown> = new Set(['NFC', 'NFD', 'NFKC', 'NFKD']);
const unstableByForm = new Map<Form, UnstableTables>();

/** Steps of the `normalizer` of a tokenizer.json. */
export function planNormalizer(normalizer: unknown): NormalizerPlan | Refusal {
  const members = flattenSequence(normalizer, 'normalizers');
  if (members instanceof Refusal) return members;
  const fold = members.findLastIndex(replacesSpaces);
  const folded = fold >= 0 && members.slice(fold + 1).every(keepsSpaceless);
  const steps: NormalizerStep[] = [];
  for (const [index, member] of members.entries()) {
    if (folded && index === fold) {
      // Folding commutes with a Prepend before it, and done first it seldom has anything to copy.
      const trailing = steps.findLastIndex((step) => step.kind !== 'prepend') + 1;
      const prepends = steps.splice(trailing).map((step) => foldPrepend(step));
      steps.push({ kind: 'replace', pattern: utf8.encode(MARKER), content: utf8.encode(' ') }, ...prepends);
      continue;
    }
    const step = planStep(member);
    if (step instanceof Refusal) return step;
    steps.push(folded && index > fold ? foldPrepend(step) : step);
  }
  return { steps, folded };
}

function replacesSpaces(member: JsonObject): boolean {
  return (
    member.type === 'Replace' &&
    isObject(member.pattern) &&
    member.pattern.String === ' ' &&
    member.content === MARKER
  );
}

function keepsSpaceless(member: JsonObject): boolean {
  return member.type === 'Prepend' && typeof member.prepend === 'string' && !member.prepend.includes(' ');
}

function foldPrepend(step: NormalizerStep): NormalizerStep {
  if (step.kind !== 'prepend') return step;
  return {
    kind: 'prepend',
    content: utf8.encode(new TextDecoder().decode(step.content).replaceAll(MARKER, ' ')),
  };
}

function planStep(member: JsonObject): NormalizerStep | Refusal {
  const { type } = member;
  if (FORMS.has(type)) return { kind: 'form', form: type as Form, unstable: unstableOnce(type as Form) };
  switch (type) {
    case 'Lowercase':
      return { kind: 'lowercase' };
    case 'Strip':
      return { kind: 'strip', left: member.strip_left === true, right: member.strip_right === true };
    case 'Prepend':
      if (typeof member.prepend !== 'string') return new Refusal('normalizer Prepend without a string');
      return { kind: 'prepend', content: utf8.encode(member.prepend) };
    case 'Replace': {
      const pattern = isObject(member.pattern) ? member.pattern.String : undefined;
      const regex = isObject(member.pattern) ? member.pattern.Regex : undefined;
      const translated = typeof regex === 'string' ? translateRegex(regex) : undefined;
      if (translated !== undefined && typeof member.content === 'string')
        return { kind: 'replaceRegex', regex: translated, content: member.content };
      if (typeof pattern !== 'string' || pattern === '' || typeof member.content !== 'string')
        return new Refusal(`normalizer Replace with pattern ${JSON.stringify(member.pattern)}`);
      return { kind: 'replace', pattern: utf8.encode(pattern), content: utf8.encode(member.content) };
    }
    default:
      return new Refusal(`normalizer ${String(type)}`);
  }
}

function unstableOnce(form: Form): UnstableTables {
  const unstable = unstableByForm.get(form) ?? unstableUnder(form);
  unstableByForm.set(form, unstable);
  return unstable;
}
