import { type Logger, pino } from 'pino';
import { type LoopOwner, LoopWatch, type Stall } from '../core/event-loop/watch.ts';

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error'] as const;

/** To standard error, from `level` on; an unknown one is `warn`. Never a prompt, a token id or a body. */
export function openLog(level: string | undefined): Logger {
  const known = LOG_LEVELS.find((one) => one === level) ?? 'warn';
  return pino({ name: 'epptok', level: known }, pino.destination({ fd: 2, sync: true }));
}

/** Watches this thread's event loop and logs its stalls of at least `thresholdMs`; 0: it logs none. */
export function watchLoop(owner: LoopOwner, thresholdMs: number, log: Logger): LoopWatch {
  const report = ({ ms, ...what }: Stall) =>
    log.warn({ loop: owner, stallMs: ms, ...what }, 'the event loop stalled');
  return new LoopWatch(owner, { thresholdMs, report });
}
