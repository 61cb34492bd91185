import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openModels } from '../../src/core/model.ts';
import { prepareModel } from '../../src/core/prepare-model.ts';
import { warmUp } from '../../src/core/warm-up.ts';
import { openTemplate } from '../../src/preprocess/template.ts';
import { buildEngine } from '../../src/tokenizer/engine/index.ts';
import { readTokenizerText } from '../../src/tokenizer/file-format/read-text.ts';

/** Milliseconds of each thing that is done to load a model, in this order. */
export interface LoadStages {
  /** The bytes of tokenizer.json. */
  readonly read: number;
  /** Its text, its vocabulary and its merges. */
  readonly parse: number;
  /** The flat tables that all workers share. */
  readonly tables: number;
  /** Compiling its chat templates; as all that follows, in each worker. */
  readonly templates: number;
  /** Opening an encoder, with caches whose pages are touched: what is left of opening the model. */
  readonly caches: number;
  readonly warmUp: number;
}

function timed<T>(work: () => T): [number, T] {
  const start = performance.now();
  const value = work();
  return [performance.now() - start, value];
}

function readChecked(text: string): unknown {
  const tokenizer = readTokenizerText(text, 'tokenizer.json');
  if (!tokenizer.ok) throw new Error(tokenizer.fault.message);
  return tokenizer.value;
}

/** `load-stages.ts DIRECTORY scan|JSON.parse`: a process that has run nothing yet, for code is slow the first time. */
const [directory, way] = process.argv.slice(2);
const [read, bytes] = timed(() => readFileSync(join(directory!, 'tokenizer.json')));
const parseText = way === 'scan' ? readChecked : JSON.parse;
const [parse, parsed] = timed(() => parseText(new TextDecoder('utf-8', { fatal: true }).decode(bytes)));
const [tables, built] = timed(() => buildEngine(parsed));
if (!built.ok) throw new Error(built.construct);
const prepared = prepareModel({ name: 'model', directory: directory! });
if (!prepared.ok) throw new Error(prepared.fault.message);
const [templates] = timed(() =>
  Object.values(prepared.value.chatTemplates).map((source) => openTemplate(source, 'the template')),
);
const [opening, models] = timed(() => openModels([prepared.value]));
if (!models.ok) throw new Error(models.fault.message);
const [warming] = timed(() => warmUp(models.value));
const caches = opening - templates;
const stages: LoadStages = { read, parse, tables, templates, caches, warmUp: warming };
console.log(JSON.stringify(stages));
