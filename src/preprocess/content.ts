import { fail, type Outcome, succeed } from '../protocol/status.ts';
import { field, isList } from './body.ts';
import { isJsonObject, type JsonObject, type JsonValue, members, objectFrom } from './json/value.ts';

/** What a template is told of a part that is no text; the engine puts the rest in its place. */
export type Modality = 'image' | 'audio' | 'video';

/** A part of a message's content, as vLLM reads it. */
export type Part =
  | { readonly text: string; readonly extra: readonly [string, JsonValue][] }
  | {
      readonly modality: Modality;
      /** Its type and place in the request, for failures. */
      readonly type: string;
      readonly path: string;
      readonly extra: readonly [string, JsonValue][];
    };

/** Types of content parts that carry text, and the field that does. */
const TEXT_TYPES: Readonly<Record<string, string>> = {
  text: 'text',
  input_text: 'text',
  output_text: 'text',
  refusal: 'refusal',
  thinking: 'thinking',
};

const MEDIA_TYPES: Readonly<Record<string, Modality>> = {
  image_url: 'image',
  input_image: 'image',
  image_embeds: 'image',
  audio_url: 'audio',
  input_audio: 'audio',
  audio_embeds: 'audio',
  video_url: 'video',
};

/** Types that vLLM does not take, or puts into the prompt in ways that only it knows. */
const OTHER_TYPES = ['image', 'image_pil', 'audio', 'video', 'file', 'prompt_embeds', 'tool_reference'];

/** Fields that the types of parts declare; what a part has besides goes on to the template. */
const DECLARED = new Set([
  ...[
    'type',
    'text',
    'refusal',
    'thinking',
    'closed',
    'prompt_cache_breakpoint',
    'name',
    'data',
    'file',
    'url',
    'uuid',
  ],
  ...['image_url', 'image_pil', 'image_embeds', 'audio_url', 'input_audio', 'audio_embeds', 'video_url'],
]);

/** The parts of a content: none, one string, or a list. */
export function readContent(content: JsonValue | undefined, path: string): Outcome<readonly Part[]> {
  if (content === undefined) return succeed([]);
  if (typeof content === 'string') return succeed([{ text: content, extra: [] }]);
  if (!isList(content)) return fail('INVALID_REQUEST', `${path} must be a string or an array of parts`);
  const parts: Part[] = [];
  for (const [index, item] of content.entries()) {
    const part = readPart(item, `${path}[${index}]`);
    if (!part.ok) return part;
    if (part.value !== undefined) parts.push(part.value);
  }
  return succeed(parts);
}

/** A part as the dict that templates of content format `parts` loop over. */
export function partObject(part: Part): JsonObject {
  const own: [string, JsonValue][] =
    'text' in part
      ? [
          ['type', 'text'],
          ['text', part.text],
        ]
      : [['type', part.modality]];
  return objectFrom([...own, ...part.extra]);
}

function readPart(part: JsonValue, path: string): Outcome<Part | undefined> {
  if (typeof part === 'string') return succeed({ text: part, extra: [] });
  if (!isJsonObject(part)) return fail('INVALID_REQUEST', `${path} must be a string or an object`);
  const type = field(part, 'type') ?? untypedMedia(part);
  if (typeof type !== 'string') return fail('INVALID_REQUEST', `${path}.type must be a string`);
  const extra = members(part).filter(([name]) => !DECLARED.has(name));
  if (Object.hasOwn(MEDIA_TYPES, type)) {
    return succeed({ modality: MEDIA_TYPES[type] as Modality, type, path, extra });
  }
  if (OTHER_TYPES.includes(type)) {
    return fail('UNSUPPORTED', `${path} is a part of type ${type}, which is not supported`);
  }
  const name = Object.hasOwn(TEXT_TYPES, type) ? TEXT_TYPES[type] : undefined;
  if (name === undefined) return fail('INVALID_REQUEST', `${path}.type is not a known type of part`);
  const text = field(part, name);
  if (text === undefined && (type === 'text' || type === 'refusal')) return succeed(undefined);
  if (typeof text !== 'string') return fail('INVALID_REQUEST', `${path}.${name} must be a string`);
  return succeed({ text, extra });
}

/** A part without a type is told by the first of these that it has. */
const TELLING_FIELDS = [
  ...['image_url', 'image_pil', 'image_embeds', 'audio_embeds', 'prompt_embeds', 'audio_url', 'input_audio'],
  ...['video_url', 'tool_reference', 'image', 'audio', 'video', 'file'],
];

function untypedMedia(part: JsonObject): string | undefined {
  return TELLING_FIELDS.find((name) => field(part, name) !== undefined);
}
