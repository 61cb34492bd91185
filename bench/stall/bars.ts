import type { Bar } from '../results.ts';
import type { Measured } from './measured.ts';

/** What the project promises, of 64 prompts of ~40k tokens in flight. */
export function judge(all: readonly Measured[]): readonly Bar[] {
  const judged = all.filter(({ prompt, concurrency }) => prompt === '40k' && concurrency === 64);
  const of = (design: string) => judged.find((one) => one.design === design);
  const incident = of('library, on the loop');
  return [
    ...(incident === undefined ? [] : incidentBars(incident)),
    ...['library', 'compiled'].flatMap((encoder) => {
      const ours = of(`${encoder}, AsyncTokenizer`);
      return ours === undefined ? [] : offloadedBars(ours, of(`${encoder}, bare piscina`));
    }),
  ];
}

/** The fault must be there, or its absence elsewhere shows nothing. */
function incidentBars({ design, loop, heartbeats }: Measured): readonly Bar[] {
  const late = heartbeats.late + heartbeats.missed;
  return [
    {
      what: `${design}: stalls over 1 s`,
      demanded: '>= 1',
      measured: loop.stalls[1000],
      met: loop.stalls[1000] >= 1,
    },
    { what: `${design}: ACKs late or missed`, demanded: '>= 1', measured: late, met: late >= 1 },
  ];
}

/**
 * A machine that is busy with other things keeps an idle process waiting too; where it did so for as long, that is said. How
 * long the loop was on a core at most is the stall of the frontend's own making.
 */
function offloadedBars(
  { design, loop, control, ...ours }: Measured,
  bare: Measured | undefined,
): readonly Bar[] {
  const { missed } = ours.heartbeats;
  const work = loop.longestWork === undefined ? '' : `, on a core at most ${loop.longestWork.toFixed(0)} ms`;
  const share = ours.requestsPerSecond / (bare?.requestsPerSecond ?? Number.NaN);
  return [
    {
      what: `${design}: longest stall, ms`,
      demanded: '<= 50',
      measured: loop.monitorMax,
      met: loop.monitorMax <= 50,
      note: `an idle process meanwhile ${control.monitorMax.toFixed(0)} ms${work}`,
    },
    { what: `${design}: ACKs missed`, demanded: '0', measured: missed, met: missed === 0 },
    ...(bare === undefined
      ? []
      : [
          {
            what: `${design}: throughput / ${bare.design}`,
            demanded: '>= 0.95',
            measured: share,
            met: share >= 0.95,
          },
        ]),
  ];
}
