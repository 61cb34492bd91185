import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { median } from '../statistics.ts';
import type { LoadStages } from './load-stages.ts';

/** Loading one model, without anything else. Milliseconds, medians of several processes that have just started. */
export interface LoadCost extends LoadStages {
  readonly model: string;
  /** All of it. */
  readonly whole: number;
  /** What `JSON.parse` takes of the same text, instead of `parse`. */
  readonly jsonParse: number;
}

export function loadCost(model: string, directory: string, rounds: number): LoadCost {
  const script = fileURLToPath(new URL('./load-stages.ts', import.meta.url));
  const run = (way: 'scan' | 'JSON.parse') =>
    JSON.parse(
      execFileSync(process.execPath, ['--import', 'tsx', script, directory, way], { encoding: 'utf8' }),
    ) as LoadStages;
  const all = Array.from({ length: rounds }, () => ({ ...run('scan'), jsonParse: run('JSON.parse').parse }));
  const stage = (name: keyof (typeof all)[0]) => median(all.map((stages) => stages[name]));
  return {
    model,
    read: stage('read'),
    parse: stage('parse'),
    tables: stage('tables'),
    templates: stage('templates'),
    caches: stage('caches'),
    warmUp: stage('warmUp'),
    whole: median(all.map(({ jsonParse: _, ...stages }) => Object.values(stages).reduce((a, b) => a + b))),
    jsonParse: stage('jsonParse'),
  };
}
