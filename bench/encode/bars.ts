import type { Bar } from '../results.ts';
import type { Cell } from './measure.ts';
import { CELL_LIMIT_MS } from './measure.ts';
import type { PathologicalCell } from './pathological.ts';

/** By model, encoder and text. */
export type Speeds = Readonly<
  Record<string, Readonly<Record<string, Readonly<Record<string, Cell | 'not installed'>>>>>
>;

/** By model, input and encoder. */
export type Pathological = Readonly<
  Record<string, Readonly<Record<string, Readonly<Partial<Record<string, PathologicalCell>>>>>>
>;

/** How much faster than the Rust library the engine must be on text it has not seen, by kind of text. */
const FRESH: Readonly<Record<string, number>> = {
  prose: 5,
  code: 5,
  multilingual: 3,
  'unique words': 2,
  chinese: 2,
};
/** On text that it has seen. */
const WARM = 30;
/** How much slower it may be on inputs without a break. */
const PATHOLOGICAL = 1.3;

/** A figure of one model on one text. */
interface Figure {
  readonly of: string;
  readonly value: number;
}

/** Of each kind of bar the model and text that are nearest to missing it. */
export function judge(speeds: Speeds, pathological: Pathological): readonly Bar[] {
  const cells = Object.entries(speeds).flatMap(([model, encoders]) =>
    Object.entries(encoders.epptok ?? {}).flatMap(([text, cell]) =>
      cell === 'not installed' ? [] : [{ model, text, cell }],
    ),
  );
  const inputs = Object.entries(pathological).flatMap(([model, all]) =>
    Object.entries(all).map(([input, { epptok, rust }]) => ({ of: `${model}, ${input}`, epptok, rust })),
  );
  const fresh = Object.entries(FRESH).flatMap(([text, bar]) => {
    const figures = cells
      .filter((one) => one.text === text)
      .map(({ model, cell }) => ({ of: model, value: cell.freshTimesRust }));
    return atLeast(`new text, ${text}: times Rust, least of all`, bar, figures);
  });
  const warm = cells.map(({ model, text, cell }) => ({ of: `${model}, ${text}`, value: cell.warmTimesRust }));
  const slower = inputs.flatMap(({ of, epptok, rust }) =>
    typeof rust?.ms === 'number' && epptok !== undefined
      ? [{ of, value: (typeof epptok.ms === 'number' ? epptok.ms : CELL_LIMIT_MS) / rust.ms }]
      : [],
  );
  const differing = [
    ...cells.filter(({ cell }) => cell.equal < cell.compared).map(({ model, text }) => `${model}, ${text}`),
    ...inputs.filter(({ epptok }) => epptok?.equal === false).map(({ of }) => of),
  ];
  return [
    {
      what: "texts whose ids are not Rust's",
      demanded: '0',
      measured: differing.length,
      met: differing.length === 0,
      ...(differing.length > 0 ? { note: differing.join('; ') } : {}),
    },
    ...fresh,
    ...atLeast('text seen before: times Rust, least of all', WARM, warm),
    ...atMost('no break in the input: time / Rust, most of all', PATHOLOGICAL, slower),
  ];
}

function atLeast(what: string, bar: number, figures: readonly Figure[]): readonly Bar[] {
  const least = figures.toSorted((a, b) => a.value - b.value)[0];
  if (least === undefined) return [];
  const { of, value } = least;
  return [{ what: `${what} (${of})`, demanded: `>= ${bar}`, measured: value, met: value >= bar }];
}

function atMost(what: string, bar: number, figures: readonly Figure[]): readonly Bar[] {
  const most = figures.toSorted((a, b) => b.value - a.value)[0];
  if (most === undefined) return [];
  const { of, value } = most;
  return [{ what: `${what} (${of})`, demanded: `<= ${bar}`, measured: value, met: value <= bar }];
}
