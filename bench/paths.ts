import { fileURLToPath } from 'node:url';
import { modelDirectory } from '../test/models.ts';

const built = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url));

/** What `npm run build` makes. */
export const CLI = built('dist/cli.js');
export const POOL_WORKER = new URL('../dist/pool-worker.js', import.meta.url);
export const MODEL_READER = new URL('../dist/model-reader.js', import.meta.url);
export const BENCH_CLIENT = built('build/native/bench_client');
export const TIMINGS_CLIENT = built('build/native/timings_client');
export const COUNT_COPIES = built('build/native/libcount_copies.so');
export const PLUGIN = built(
  `build/native/libquickstart_plugin.${process.platform === 'darwin' ? 'dylib' : 'so'}`,
);

export const MODEL_DIRECTORY = modelDirectory('qwen3');
export const MODEL = `qwen3=${MODEL_DIRECTORY}`;
