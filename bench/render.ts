import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Template as PeerTemplate } from '@huggingface/jinja';
import { parseBody } from '../src/preprocess/body.ts';
import { compileTemplate } from '../src/preprocess/jinja/template.ts';
import { parseJson } from '../src/preprocess/json/parse.ts';
import type { JsonValue } from '../src/preprocess/json/value.ts';
import { modelDirectory, type RealModel } from '../test/models.ts';
import { FIVE_TURNS, MANY_TURNS, ONE_TURN, TOOL } from './render/conversations.ts';
import { batchOf, compare, QUICK, THOROUGH } from './render/rounds.ts';
import { measureRequests } from './render/whole-requests.ts';
import { type Bar, printBars, writeResults } from './results.ts';
import { digits, printTable } from './tables.ts';

/**
 * Warm renders of the chat templates of the development dependencies, ours against @huggingface/jinja in one run, our JSON
 * reader against JSON.parse, and whole requests from bytes to ids with the share of each stage. `npm run
 * bench:render [-- --quick]`. Leaves with 1 when the bar is missed.
 */
const { values: options } = parseArgs({ options: { quick: { type: 'boolean', default: false } } });
const rounds = options.quick ? QUICK : THOROUGH;
/** How many times faster than @huggingface/jinja. */
const BAR = 15;
const MODELS: readonly RealModel[] = ['qwen3', 'llama3', 'deepseek_v3', 'gemma3'];
const CONVERSATIONS = [ONE_TURN, FIVE_TURNS, MANY_TURNS];

interface Row {
  readonly template: string;
  readonly conversation: string;
  readonly tools: boolean;
  readonly oursUs: number;
  readonly peerUs: number;
  readonly ratio: number;
}

function templateOf(name: RealModel): string {
  const config = join(modelDirectory(name), 'tokenizer_config.json');
  return (JSON.parse(readFileSync(config, 'utf8')) as { chat_template: string }).chat_template;
}

/** Keeps the optimizer from dropping what nobody reads. */
let sink = 0;

interface Pair {
  readonly template: string;
  readonly conversation: string;
  readonly tools: boolean;
  readonly ours: () => void;
  readonly theirs: () => void;
}

/** The two renderers of one template on one conversation, once found to agree. */
function pairOf(template: RealModel, conversation: string, messages: object[], tools: boolean): Pair {
  const source = templateOf(template);
  const compiled = compileTemplate(source);
  if (!compiled.ok) throw new Error(compiled.message);
  const peer = new PeerTemplate(source);
  const body = JSON.stringify({
    messages,
    tools: tools ? [TOOL, TOOL, TOOL] : null,
    bos_token: '<s>',
    eos_token: '</s>',
    add_generation_prompt: true,
  });
  const parsed = parseJson(Buffer.from(body));
  if (!parsed.ok) throw new Error(parsed.message);
  const context = parsed.value as Record<string, JsonValue>;
  const peerContext = JSON.parse(body) as Record<string, unknown>;
  const first = compiled.template.render(context);
  if (!first.ok) throw new Error(first.message);
  if (first.pieces.join('') !== peer.render(peerContext)) throw new Error(`${template}: the renders differ`);
  return {
    template,
    conversation,
    tools,
    ours: () => {
      const result = compiled.template.render(context);
      if (result.ok) sink += result.pieces.length;
    },
    theirs: () => {
      sink += peer.render(peerContext).length;
    },
  };
}

const pairs = MODELS.flatMap((template) =>
  CONVERSATIONS.flatMap(({ name, messages }) =>
    [false, true].map((tools) => pairOf(template, name, messages, tools)),
  ),
);
// All run warm before any is measured: what V8 compiles in the background counts as CPU time too.
for (const { ours, theirs } of pairs) {
  batchOf(ours, rounds);
  batchOf(theirs, rounds);
}
const rows: Row[] = pairs.map(({ template, conversation, tools, ours, theirs }) => {
  const [oursUs, peerUs] = compare([ours, theirs], rounds) as [number, number];
  return { template, conversation, tools, oursUs, peerUs, ratio: peerUs / oursUs };
});

interface ParseRow {
  readonly body: string;
  readonly bytes: number;
  readonly oursUs: number;
  readonly nativeUs: number;
}

const parseRows: ParseRow[] = [];
for (const { name, messages } of CONVERSATIONS) {
  for (const [kind, extra] of [
    ['common', ''],
    ['a temperature of 1.0 and a bias for "10"', ',"temperature":1.0,"logit_bias":{"10":1,"2":-1}'],
    ['a maximum of 1.0 in a tool', ',"tools":[{"function":{"name":"f","parameters":{"maximum":1.0}}}]'],
  ] as const) {
    const text = `{"model":"m","messages":${JSON.stringify(messages)}${extra}}`;
    const bytes = Buffer.from(text);
    const [oursUs, nativeUs] = compare(
      [
        () => {
          sink += parseBody(bytes).ok ? 1 : 0;
        },
        () => {
          sink += Object.keys(JSON.parse(bytes.toString('utf8')) as object).length;
        },
      ],
      rounds,
    ) as [number, number];
    parseRows.push({ body: `${name}, ${kind}`, bytes: bytes.length, oursUs, nativeUs });
  }
}

const requestRows = measureRequests(MODELS, rounds);

printTable({
  head: ['chat template, conversation', 'ours us', '@huggingface/jinja us', 'times'],
  rows: rows.map(({ template, conversation, tools, oursUs, peerUs, ratio }) => [
    `${template}, ${conversation}${tools ? ', tools' : ''}`,
    ...[oursUs, peerUs, ratio].map(digits),
  ]),
});
printTable({
  head: ['reading a body', 'bytes', 'ours us', 'toString and JSON.parse us'],
  rows: parseRows.map(({ body, bytes, oursUs, nativeUs }) => [
    body,
    String(bytes),
    digits(oursUs),
    digits(nativeUs),
  ]),
});
console.log('');
const share = (part: number) => `${Math.round(part * 100)} %`;
printTable({
  head: ['whole request', 'bytes', 'tokens', 'serve us', 'parse', 'render', 'encode'],
  rows: requestRows.map(({ template, body, bytes, tokens, totalUs, parse, render, encode }) => [
    `${template}, ${body}`,
    String(bytes),
    String(tokens),
    digits(totalUs),
    ...[parse, render, encode].map(share),
  ]),
});
const slowest = rows.reduce((a, b) => (a.ratio < b.ratio ? a : b));
const bars: readonly Bar[] = [
  {
    what: `times @huggingface/jinja, least of all (${slowest.template}, ${slowest.conversation})`,
    demanded: `>= ${BAR}`,
    measured: slowest.ratio,
    met: slowest.ratio >= BAR,
  },
];
printBars('render', bars);
writeResults('render', { quick: options.quick, bars, rows, parse: parseRows, requests: requestRows, sink });
process.exitCode = bars.every(({ met }) => met) ? 0 : 1;
