import { modelDirectory } from '../test/models.ts';
import { nativeLibrary, nativeProgram } from '../test/support/built.ts';

export { CLI } from '../test/support/built.ts';
/** What `npm run build` makes. */
export const POOL_WORKER = new URL('../dist/pool-worker.js', import.meta.url);
export const MODEL_READER = new URL('../dist/model-reader.js', import.meta.url);
export const BENCH_CLIENT = nativeProgram('bench_client');
export const TIMINGS_CLIENT = nativeProgram('timings_client');
export const SOCKET_ECHO = nativeProgram('socket_echo');
export const COUNT_COPIES = nativeLibrary('count_copies');
export const PLUGIN = nativeLibrary('quickstart_plugin');

export const MODEL_DIRECTORY = modelDirectory('qwen3');
export const MODEL = `qwen3=${MODEL_DIRECTORY}`;
