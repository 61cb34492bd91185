import { type ModelSpec, openModel } from './core/model.ts';
import { prepareModel } from './core/prepare-model.ts';
import type { ChatTemplates } from './preprocess/prompt.ts';
import type { Fault } from './protocol/status.ts';

/** What `epptok doctor` found out about one model. */
export interface Diagnosis {
  readonly model: string;
  readonly directory: string;
  readonly verdict: 'exact' | Fault;
  readonly lines: readonly string[];
}

/** Text with what tokenizers trip over: scripts, marks, digits, runs, an added token's pieces, emoji, every kind of break. */
const SELF_TEST =
  'Hello, world! naïve cafe\u0301 ÅÄÖ 12345 3.14 日本語テキスト Привет עברית हिन्दी\u200d 👩‍👩‍👧 <|im_start|> aaaaaaaaaaaa\t\r\n\n  end';

/** Loads a model as the runtime does, says what it is and what was done exactly, and encodes and decodes a text. */
export function diagnose(spec: ModelSpec): Diagnosis {
  const head = { model: spec.name, directory: spec.directory };
  const before = performance.now();
  const prepared = prepareModel(spec);
  if (!prepared.ok) return { ...head, verdict: prepared.fault, lines: [] };
  const loaded = performance.now();
  const model = openModel(prepared.value);
  if (!model.ok) return { ...head, verdict: model.fault, lines: [] };
  const { encoder, templates, contextLength } = model.value;
  const ids = encoder.encode([SELF_TEST], false);
  const surrounded = encoder.encode([''], true);
  const decoded = encoder.decode(ids, false);
  const lines = [
    `encoder          compiled, ${encoder.vocabularySize} ids, loaded in ${Math.round(loaded - before)} ms`,
    `special tokens   ${surrounded.length === 0 ? 'none' : [...surrounded].join(' ')} around completions, embeddings and texts`,
    `context length   ${contextLength ?? 'not said by any file'}`,
    ...templateLines(templates.byName),
    `self-test        ${ids.length} ids, decoded to ${decoded === SELF_TEST ? 'the same text' : 'another text, as normalization or unknown characters make it'}`,
  ];
  return { ...head, verdict: 'exact', lines };
}

function templateLines(byName: ChatTemplates['byName']): string[] {
  if (byName.size === 0) return ['chat template    none: chat requests are UNSUPPORTED'];
  return [...byName].map(([name, template]) =>
    template.ok
      ? `chat template    ${name}, content as ${template.value.contentFormat}`
      : `chat template    ${name}: ${template.fault.status}: ${template.fault.message}`,
  );
}
