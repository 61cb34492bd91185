import type { Bar } from '../results.ts';
import { type Measured, NO_BRIDGE } from './measured.ts';

/** Judged is `measured`, of whole calls. */
export interface OverheadBar extends Bar {
  readonly mode: string;
  /** The same of what is left when the work is taken off, which all but synckit do. */
  readonly bridges: number;
}

const JUDGED_AT = '4 kB, no encode';

export function judge(mode: string, { cases }: Measured): readonly OverheadBar[] {
  const designs = cases.find(({ name }) => name === JUDGED_AT)?.designs;
  if (designs === undefined) throw new Error(`there is no case ${JUDGED_AT}`);
  const whole = (design: string) => designs[design]!.p50;
  const bridge = (design: string) => whole(design) - whole(NO_BRIDGE);
  const bar = (
    what: string,
    demanded: string,
    measured: number,
    bridges: number,
    met: boolean,
  ): OverheadBar => ({
    what,
    mode,
    demanded,
    measured,
    bridges,
    met,
  });
  const socket = whole('net server') / whole('socket');
  const direct = whole('direct') / whole('net server');
  const callback = whole('callback') / whole('synckit');
  return [
    bar('net server / socket', '>= 4', socket, bridge('net server') / bridge('socket'), socket >= 4),
    bar('direct / net server', '< 0.1', direct, bridge('direct') / bridge('net server'), direct < 0.1),
    bar('callback / synckit', '<= 6', callback, bridge('callback') / whole('synckit'), callback <= 6),
  ];
}
