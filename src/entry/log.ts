import { type Logger, pino } from 'pino';
import { type LoopOwner, LoopWatch, type Stall } from '../core/event-loop/watch.ts';

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error'] as const;

/** To standard error, from `level` on; an unknown one is `warn`. Never a prompt, a token id or a body. */
export function openLog(level: string | undefined): Logger {
  const known = LOG_LEVELS.find((one) => one === level) ?? 'warn';
  return pino({ name: 'epptok', level: known }, pino.destination({ fd: 2, sync: true }));
}

/** What is told of a thread that served and was lost. Of an error, its code or its name: a message may quote what was served. */
export function logLostThread(log: Logger): (error: unknown) => void {
  return (error) => {
    const { code, name } = error instanceof Error ? (error as NodeJS.ErrnoException) : {};
    log.warn({ error: code ?? name ?? 'unknown' }, 'a service thread was lost; another one takes its place');
  };
}

/** Watches this thread's event loop and logs its stalls of at least `thresholdMs`; 0: it logs none. */
export function watchLoop(owner: LoopOwner, thresholdMs: number, log: Logger): LoopWatch {
  const report = ({ ms, ...what }: Stall) =>
    log.warn({ loop: owner, stallMs: ms, ...what }, 'the event loop stalled');
  return new LoopWatch(owner, { thresholdMs, report });
}
