import type { Measured } from './measure.ts';

/** A promise that the project makes about its own cost, and what this run says of it. */
export interface Bar {
  readonly what: string;
  readonly mode: string;
  readonly demanded: string;
  readonly measured: number;
  readonly met: boolean;
}

const JUDGED_AT = '4 kB, no encode';

export function judge(mode: string, { cases }: Measured): readonly Bar[] {
  const designs = cases.find(({ name }) => name === JUDGED_AT)?.designs;
  if (designs === undefined) throw new Error(`there is no case ${JUDGED_AT}`);
  const p50 = (design: string) => designs[design]!.p50;
  const times = (a: string, b: string) => p50(a) / p50(b);
  const socket = times('net server', 'socket');
  const direct = times('direct', 'net server');
  const callback = times('callback', 'synckit');
  return [
    { what: 'net server / socket', mode, demanded: '>= 4', measured: socket, met: socket >= 4 },
    { what: 'direct / net server', mode, demanded: '< 0.1', measured: direct, met: direct < 0.1 },
    { what: 'callback / synckit', mode, demanded: '<= 6', measured: callback, met: callback <= 6 },
  ];
}
