/**
 * Speed of the engine beside others on the same texts: `npm run bench:encode [-- --quick] [-- --models gptoss,qwen3]`.
 * Prints tables, and writes them to bench/results/encode.json. Leaves with 1 when a bar is missed or an id differs.
 * Bars are for each model and text. Encoders take turns round by round, times are processor time, and what is judged
 * is the median over the rounds of the ratio to the Rust library in the same round: a busy machine slows both alike.
 * `--quick`: three models, shorter texts, and no encoders but the engine and the Rust library.
 */
import { parseArgs } from 'node:util';
import { judge } from './encode/bars.ts';
import { corpora, pathologicalInputs } from './encode/corpora.ts';
import {
  ENCODERS,
  type Encode,
  type EncoderName,
  engineTables,
  MODELS,
  type ModelName,
  modelText,
  openEncoder,
} from './encode/encoders.ts';
import { type Cell, measureCorpus } from './encode/measure.ts';
import { memoryByWorkers } from './encode/memory.ts';
import { measurePathological } from './encode/pathological.ts';
import { printBars, writeResults } from './results.ts';

/** One of each kind: ignore_merges, a normalizer, no pretokenizer. */
const QUICK_MODELS = ['gptoss', 'qwen3', 'gemma3'] as const;

const { values: options } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, models: { type: 'string' } },
});
const quick = options.quick;
const models = (options.models?.split(',') ?? (quick ? QUICK_MODELS : MODELS)) as ModelName[];
const texts = corpora(quick ? 16_384 : 32_768, quick ? 8 : 12);

const speeds: Record<string, Record<string, Record<string, Cell | 'not installed'>>> = {};
for (const model of models) {
  const encoders = new Map<EncoderName, Encode>();
  speeds[model] = {};
  for (const name of ['rust', 'epptok', ...ENCODERS] as const) {
    if (encoders.has(name) || (quick && name !== 'rust' && name !== 'epptok')) continue;
    const encode = await openEncoder(name, model);
    if (encode !== undefined) encoders.set(name, encode);
    else if (model === 'gptoss')
      speeds[model][name] = Object.fromEntries(texts.map(({ name: text }) => [text, 'not installed']));
  }
  for (const corpus of texts)
    for (const [name, cell] of await measureCorpus(encoders, corpus)) {
      speeds[model][name] ??= {};
      speeds[model][name][corpus.name] = cell;
    }
  printSpeeds(model);
}

function printSpeeds(model: ModelName): void {
  const byEncoder = speeds[model]!;
  console.log(`\n${model}: MB/s fresh / warm (thousand tokens a second), times Rust, ids equal to Rust's`);
  for (const { name: text } of texts) {
    for (const [name, cells] of Object.entries(byEncoder)) {
      const cell = cells[text]!;
      if (cell === 'not installed') {
        console.log(`  ${text.padEnd(13)} ${name.padEnd(14)} not installed`);
        continue;
      }
      const { freshTimesRust: fresh, warmTimesRust: warm } = cell;
      const speed = `${cell.freshMBps.toFixed(1)} / ${cell.warmMBps.toFixed(1)}`;
      const tokens = `(${(cell.freshTokensPerSecond / 1e3).toFixed(0)} / ${(cell.warmTokensPerSecond / 1e3).toFixed(0)})`;
      const note = `${cell.equal}/${cell.compared}${cell.capped ? ' capped at 5 s' : ''}`;
      console.log(
        `  ${text.padEnd(13)} ${name.padEnd(14)} ${speed.padStart(15)} ${tokens.padStart(17)}  ` +
          `x${fresh.toFixed(1)} / x${warm.toFixed(1)}  ${note}`,
      );
    }
  }
}

const pathological: Record<string, Awaited<ReturnType<typeof measurePathological>>> = {};
for (const model of quick ? models.slice(0, 1) : models) {
  const inputs = pathologicalInputs(quick ? 100_000 : 1_000_000);
  // The peers are slow enough on these for one model to tell.
  const names: readonly EncoderName[] = model !== models[0] || quick ? ['epptok'] : ENCODERS;
  const results = await measurePathological(model, inputs, names);
  pathological[model] = results;
  console.log(`\n${model}: milliseconds of processor time on inputs without a break`);
  for (const [input, cells] of Object.entries(results)) {
    const shown = Object.entries(cells).map(
      ([name, { ms, equal }]) =>
        `${name} ${typeof ms === 'number' ? ms.toFixed(1) : ms}${equal === false ? ' (ids differ)' : ''}`,
    );
    console.log(`  ${input.padEnd(16)} ${shown.join(', ')}`);
  }
}

const started = process.cpuUsage();
const json = JSON.parse(modelText(models[0]!));
const parsing = process.cpuUsage(started).user / 1000;
const parsed = process.cpuUsage();
const tables = engineTables(json);
const building = process.cpuUsage(parsed).user / 1000;
const memory = await memoryByWorkers(tables, 4, texts[0]!.slices[0]!);
console.log(
  `\n${models[0]}: JSON.parse ${parsing.toFixed(0)} ms, tables ${building.toFixed(0)} ms of processor time`,
);
console.log(`resident MB by workers 0..4: ${memory.map((megabytes) => megabytes.toFixed(0)).join(', ')}`);

const bars = judge(speeds, pathological);
printBars('the engine and the Rust library', bars);
writeResults('encode', { quick, speeds, pathological, residentMBByWorkers: memory, bars });
process.exitCode = bars.every(({ met }) => met) ? 0 : 1;
