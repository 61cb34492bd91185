import { flattenSequence, isObject, type JsonObject, Refusal } from './json-shape.ts';

/** Ids that stand around a text when special tokens are added. */
export type Surroundings = { readonly prefix: readonly number[]; readonly suffix: readonly number[] };

/** What the `post_processor` of a tokenizer.json puts around one text. */
export function planSurroundings(postProcessor: unknown): Surroundings | Refusal {
  const members = flattenSequence(postProcessor, 'processors');
  if (members instanceof Refusal) return members;
  let result: Surroundings | undefined;
  for (const member of members) {
    // ByteLevel moves offsets only.
    if (member.type === 'ByteLevel') continue;
    const around = planProcessor(member);
    if (around instanceof Refusal) return around;
    if (result !== undefined) return new Refusal('post_processor with more than one template');
    result = around;
  }
  return result ?? { prefix: [], suffix: [] };
}

function planProcessor(member: JsonObject): Surroundings | Refusal {
  switch (member.type) {
    case 'TemplateProcessing':
      return planTemplate(member);
    case 'RobertaProcessing':
    case 'BertProcessing': {
      const before = pairId(member.cls);
      const after = pairId(member.sep);
      if (before === undefined || after === undefined)
        return new Refusal(`post_processor ${member.type} without ids of cls and sep`);
      return { prefix: [before], suffix: [after] };
    }
    default:
      return new Refusal(`post_processor ${String(member.type)}`);
  }
}

function pairId(pair: unknown): number | undefined {
  return Array.isArray(pair) && typeof pair[1] === 'number' ? pair[1] : undefined;
}

/** `single` is a list of `{"SpecialToken": {"id"}}`, looked up in `special_tokens`, around one `{"Sequence": "A"}`. */
function planTemplate(member: JsonObject): Surroundings | Refusal {
  const wrong = new Refusal(`post_processor TemplateProcessing with single ${JSON.stringify(member.single)}`);
  if (!Array.isArray(member.single) || !isObject(member.special_tokens)) return wrong;
  const prefix: number[] = [];
  const suffix: number[] = [];
  let texts = 0;
  for (const part of member.single) {
    if (!isObject(part)) return wrong;
    if (isObject(part.Sequence)) {
      if (part.Sequence.id !== 'A') return wrong;
      texts++;
      continue;
    }
    if (!isObject(part.SpecialToken) || typeof part.SpecialToken.id !== 'string') return wrong;
    const special = member.special_tokens[part.SpecialToken.id];
    if (!isObject(special) || !Array.isArray(special.ids)) return wrong;
    (texts === 0 ? prefix : suffix).push(...(special.ids as number[]));
  }
  return texts === 1 ? { prefix, suffix } : wrong;
}
