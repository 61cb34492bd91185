import { spawnSync } from 'node:child_process';

/**
 * On one core, where a handoff between threads is cheap and what is measured is what is done; or as the scheduler likes it, where
 * each handoff may have to wake another core.
 */
export type Mode = 'pinned' | 'unpinned';

/** `pinned` only where taskset is. */
export function modes(): readonly Mode[] {
  const canPin = spawnSync('taskset', ['-c', '0', 'true']).status === 0;
  if (!canPin) console.log('taskset is not here: unpinned only');
  return canPin ? ['pinned', 'unpinned'] : ['unpinned'];
}

/** The command line that runs `command`, and all that it starts, so. */
export function inMode(mode: Mode, command: readonly [string, ...string[]]): readonly [string, ...string[]] {
  return mode === 'pinned' ? ['taskset', '-c', '0', ...command] : command;
}
