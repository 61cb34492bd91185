import type { DecoderStep, DecoderTables } from '../decoder.ts';
import { flattenSequence, isObject, type JsonObject, Refusal } from './json-shape.ts';

/** Steps of the `decoder` of a tokenizer.json. */
export function planDecoder(decoder: unknown): DecoderTables['steps'] | Refusal {
  if (decoder === null || decoder === undefined) return null;
  const members = flattenSequence(decoder, 'decoders');
  if (members instanceof Refusal) return members;
  const steps: DecoderStep[] = [];
  for (const member of members) {
    const step = planStep(member);
    if (step instanceof Refusal) return step;
    steps.push(step);
  }
  return steps.length === 1 && steps[0]!.kind === 'byteLevel' ? 'bytes' : steps;
}

function planStep(member: JsonObject): DecoderStep | Refusal {
  switch (member.type) {
    case 'ByteLevel':
      return { kind: 'byteLevel' };
    case 'ByteFallback':
      return { kind: 'byteFallback' };
    case 'Fuse':
      return { kind: 'fuse' };
    case 'Replace': {
      const pattern = isObject(member.pattern) ? member.pattern.String : undefined;
      if (typeof pattern !== 'string' || pattern === '' || typeof member.content !== 'string')
        return new Refusal(`decoder Replace with pattern ${JSON.stringify(member.pattern)}`);
      return { kind: 'replace', pattern, content: member.content };
    }
    case 'Strip':
      if (
        typeof member.content !== 'string' ||
        typeof member.start !== 'number' ||
        typeof member.stop !== 'number'
      )
        return new Refusal('decoder Strip without content, start and stop');
      return { kind: 'strip', content: member.content, start: member.start, stop: member.stop };
    case 'Metaspace':
      if (typeof member.replacement !== 'string') return new Refusal('decoder Metaspace without replacement');
      return {
        kind: 'metaspace',
        replacement: member.replacement,
        dropsFirst: member.prepend_scheme !== 'never',
      };
    case 'BPEDecoder': {
      const suffix = member.suffix ?? '</w>';
      if (typeof suffix !== 'string' || suffix === '')
        return new Refusal('decoder BPEDecoder with an empty suffix');
      return { kind: 'suffix', suffix };
    }
    default:
      return new Refusal(`decoder ${String(member.type)}`);
  }
}
