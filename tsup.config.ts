import { defineConfig } from 'tsup';

// Every entry lands flat in dist/, so that `new URL('./worker.js', import.meta.url)` is right from any chunk.
export default defineConfig({
  entry: {
    index: 'src/index.ts',
    cli: 'src/cli.ts',
    worker: 'src/entry/worker.ts',
    'service-thread': 'src/entry/service-thread.ts',
    'runtime-thread': 'src/entry/runtime-thread.ts',
    'serve-process': 'src/entry/serve-process.ts',
  },
  format: 'esm',
  target: 'node20',
  dts: { entry: { index: 'src/index.ts' } },
  splitting: true,
  sourcemap: true,
  // Not dist/native, where the library is.
  clean: ['!native/**'],
});
