import { cpSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig, type Options } from 'tsup';

// Every entry lands flat in its folder, so that `new URL('./pool-worker.js', import.meta.url)` is right from any chunk.
const THREADS = {
  'model-reader': 'src/entry/model-reader.ts',
  'pool-worker': 'src/entry/pool-worker.ts',
  'service-thread': 'src/entry/service-thread.ts',
  'serve-process': 'src/entry/serve-process.ts',
};

const shared: Options = { format: 'esm', target: 'node20', splitting: true };

/** The npm package: its dependencies come with it. */
const npm: Options = {
  ...shared,
  entry: {
    ...THREADS,
    index: 'src/index.ts',
    cli: 'src/cli.ts',
    'runtime-thread': 'src/entry/runtime-start.ts',
  },
  dts: { entry: { index: 'src/index.ts' } },
  sourcemap: true,
  // Not dist/native, where the library is.
  clean: ['!native/**'],
};

/**
 * The runtime of a private child as one folder without node_modules, for trees that `cmake --install` makes. piscina starts
 * the `worker.js` beside it; koffi looks for its binary under process.resourcesPath.
 */
const runtime: Options = {
  ...shared,
  entry: { ...THREADS, worker: 'node_modules/piscina/dist/worker.js' },
  outDir: 'build/runtime',
  // Everything but what piscina does without: it asks for @napi-rs/nice to change a thread's priority, and we do not.
  noExternal: [/^(?!@napi-rs\/nice$)/],
  external: ['@napi-rs/nice'],
  clean: true,
  banner: {
    js: [
      "import { createRequire as createRequireOfBundle } from 'node:module';",
      'const require = createRequireOfBundle(import.meta.url);',
      'const __dirname = import.meta.dirname;',
      'const __filename = import.meta.filename;',
      'process.resourcesPath ??= __dirname;',
    ].join(' '),
  },
  async onSuccess() {
    const binaries = `@koromix/koffi-${process.platform}-${process.arch}`;
    writeFileSync('build/runtime/package.json', '{ "type": "module" }\n');
    cpSync(dirname(fileURLToPath(import.meta.resolve(binaries))), 'build/runtime/koffi', { recursive: true });
  },
};

export default defineConfig([npm, runtime]);
