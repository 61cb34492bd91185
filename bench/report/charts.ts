import * as vega from 'vega';
import { compile, type TopLevelSpec } from 'vega-lite';
import { type AllResults, heaviest } from './results.ts';

/** The bucket of bench/stall's timeline, s. */
const BUCKET = 0.1;
/** A logarithmic axis has no zero; a delay below this is the timer's own. */
const LEAST_DELAY_MS = 1;

const CONFIG = {
  background: 'white',
  padding: 10,
  config: {
    font: 'sans-serif',
    title: { anchor: 'start', fontSize: 14 },
    headerRow: { labelFontSize: 12, labelAnchor: 'start', labelAngle: 0, labelOrient: 'top' },
    legend: { labelLimit: 400 },
  },
} as const;

async function svg(spec: object): Promise<string> {
  const full = { $schema: 'https://vega.github.io/schema/vega-lite/v6.json', ...CONFIG, ...spec };
  const { spec: compiled } = compile(full as TopLevelSpec);
  return new vega.View(vega.parse(compiled), { renderer: 'none' }).toSVG();
}

/** Event-loop delay over time: each block is a stall, as wide as it lasted. */
export function stallChart(stall: NonNullable<AllResults['stall']>): Promise<string> {
  const designs = heaviest(stall).filter(({ design }) => !design.endsWith('bare piscina'));
  const values = designs.flatMap(({ design, loop }) =>
    loop.timeline.map((delay, i) => {
      const end = (i + 1) * BUCKET;
      const width = Math.max(BUCKET, delay / 1e3);
      return { design, from: Math.max(0, end - width), to: end, delay: Math.max(delay, LEAST_DELAY_MS) };
    }),
  );
  return svg({
    title: 'Event-loop delay while 64 prompts of ~40k tokens are in flight (ms, logarithmic)',
    data: { values },
    facet: {
      row: { field: 'design', type: 'nominal', title: null, sort: designs.map(({ design }) => design) },
    },
    spec: {
      width: 640,
      height: 90,
      layer: [
        {
          mark: { type: 'rect', opacity: 0.85 },
          encoding: {
            x: { field: 'from', type: 'quantitative', title: 'seconds', scale: { nice: false } },
            x2: { field: 'to' },
            y: {
              field: 'delay',
              type: 'quantitative',
              title: null,
              scale: { type: 'log', domain: [LEAST_DELAY_MS, 10_000], clamp: true },
              axis: { values: [1, 10, 100, 1_000, 10_000] },
            },
            y2: { datum: LEAST_DELAY_MS },
            color: { field: 'design', type: 'nominal', legend: null },
          },
        },
        {
          mark: { type: 'rule', strokeDash: [4, 3], color: '#666' },
          encoding: { y: { datum: 50, type: 'quantitative' } },
        },
      ],
    },
  });
}

/** Medians of whole calls at 4 kB, nothing encoded. */
export function overheadChart({ modes }: NonNullable<AllResults['overhead']>): Promise<string> {
  const values = Object.entries(modes).flatMap(([mode, { cases }]) =>
    Object.entries(cases.find(({ name }) => name === '4 kB, no encode')?.designs ?? {}).map(
      ([design, { p50 }]) => ({ mode, design, p50 }),
    ),
  );
  // The same order in every mode.
  const designs = [...new Set(values.sort((a, b) => a.p50 - b.p50).map(({ design }) => design))];
  return svg({
    title: 'One call of 4 kB without encode, by way in (p50, microseconds)',
    data: { values },
    facet: { row: { field: 'mode', type: 'nominal', title: null } },
    spec: {
      width: 560,
      encoding: {
        y: { field: 'design', type: 'nominal', title: null, sort: designs },
        x: { field: 'p50', type: 'quantitative', title: 'us' },
      },
      layer: [
        { mark: 'bar' },
        {
          mark: { type: 'text', align: 'left', dx: 4 },
          encoding: { text: { field: 'p50', type: 'quantitative', format: '.1f' } },
        },
      ],
    },
  });
}

/** MB/s of the first model that was measured, the one on which most encoders can be compared. */
export function encodeChart({ speeds }: NonNullable<AllResults['encode']>): Promise<string> {
  const [model, encoders] = Object.entries(speeds)[0]!;
  const values = Object.entries(encoders).flatMap(([encoder, texts]) =>
    Object.entries(texts).flatMap(([text, cell]) =>
      cell === 'not installed'
        ? []
        : [
            { encoder, text, seen: 'new text', speed: cell.freshMBps },
            { encoder, text, seen: 'text seen before', speed: cell.warmMBps },
          ],
    ),
  );
  return svg({
    title: `Encode, ${model} (MB/s on one thread, logarithmic)`,
    data: { values },
    facet: { row: { field: 'seen', type: 'nominal', title: null } },
    spec: {
      width: 640,
      height: 180,
      mark: 'bar',
      encoding: {
        x: { field: 'text', type: 'nominal', title: null, axis: { labelAngle: 0 } },
        xOffset: { field: 'encoder', sort: Object.keys(encoders) },
        y: { field: 'speed', type: 'quantitative', title: 'MB/s', scale: { type: 'log' } },
        y2: { datum: 0.01 },
        color: { field: 'encoder', type: 'nominal', sort: Object.keys(encoders), title: null },
      },
    },
  });
}

/** Calls a second by C threads, beside what the same workers do without callers. */
export function threadsChart({ cells }: NonNullable<AllResults['threads']>): Promise<string> {
  const bytes = Math.max(...cells.map((cell) => cell.bytes));
  const values = cells
    .filter((cell) => cell.bytes === bytes)
    .flatMap(({ workers, threads, callsPerSecond, capacityPerSecond }) => [
      { workers: `${workers} workers`, threads, perSecond: callsPerSecond, of: 'C threads' },
      { workers: `${workers} workers`, threads, perSecond: capacityPerSecond, of: 'no callers, no bridge' },
    ]);
  return svg({
    title: 'Calls per second by C threads, prompts of ~40k tokens',
    data: { values },
    width: 560,
    height: 260,
    mark: { type: 'line', point: true },
    encoding: {
      x: { field: 'threads', type: 'ordinal', title: 'C threads', axis: { labelAngle: 0 } },
      y: { field: 'perSecond', type: 'quantitative', title: 'calls/s', scale: { zero: true } },
      color: { field: 'workers', type: 'nominal', title: null },
      strokeDash: {
        field: 'of',
        type: 'nominal',
        title: null,
        legend: { symbolType: 'stroke', symbolStrokeColor: '#333' },
      },
    },
  });
}

/** Where a call of a thread goes: what grows when there are more threads than workers. */
export function waitChart({ cells, cores }: NonNullable<AllResults['threads']>): Promise<string> {
  const bytes = Math.max(...cells.map((cell) => cell.bytes));
  const values = cells
    .filter((cell) => cell.workers === cores && cell.bytes === bytes)
    .flatMap(({ threads, queue, encode, total, roundTrip }) => [
      { threads, part: '1 waiting in the queue', ms: queue.mean / 1e3 },
      { threads, part: '2 encode', ms: encode.mean / 1e3 },
      { threads, part: '3 parse and render', ms: (total.mean - queue.mean - encode.mean) / 1e3 },
      { threads, part: '4 bridge', ms: (roundTrip.mean - total.mean) / 1e3 },
    ]);
  return svg({
    title: `Where the time of a call goes, ${cores} workers, prompts of ~40k tokens (means)`,
    data: { values },
    width: 560,
    height: 260,
    mark: 'bar',
    encoding: {
      x: { field: 'threads', type: 'ordinal', title: 'C threads', axis: { labelAngle: 0 } },
      y: { field: 'ms', type: 'quantitative', title: 'ms' },
      color: { field: 'part', type: 'nominal', title: null },
      order: { field: 'part' },
    },
  });
}
