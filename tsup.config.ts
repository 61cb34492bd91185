import { cpSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig, type Options } from 'tsup';

// Every entry lands flat in its folder, so that `new URL('./pool-worker.js', import.meta.url)` is right from any chunk.
const THREADS = {
  'model-reader': 'src/entry/model-reader.ts',
  'pool-worker': 'src/entry/pool-worker.ts',
  'service-thread': 'src/entry/service-thread.ts',
  'serve-process': 'src/entry/serve-process.ts',
};

// Silent: but for errors, which are shown all the same.
const shared: Options = { format: 'esm', target: 'node20', splitting: true, silent: true };

const library = { index: 'src/index.ts' };

/** The npm package's command and threads: its dependencies come with it. */
const npm: Options = {
  ...shared,
  entry: {
    ...THREADS,
    cli: 'src/cli.ts',
    'runtime-thread': 'src/entry/runtime-start.ts',
  },
  sourcemap: true,
};

/**
 * What is imported and required is one file, and so one instance of the library, whose classes and koffi types must not exist
 * twice in a process; import gets it through an ES module of one line.
 */
const doors: Options = {
  ...shared,
  format: 'cjs',
  splitting: false,
  entry: library,
  sourcemap: true,
  // Not tsup's shim, which makes a URL of a path without escaping what a path may hold.
  define: { 'import.meta.url': 'urlOfThisFile' },
  banner: { js: "'use strict'; const urlOfThisFile = require('node:url').pathToFileURL(__filename).href;" },
  async onSuccess() {
    const names = Object.keys(createRequire(import.meta.url)('./dist/index.cjs') as object);
    writeFileSync('dist/index.js', `export { ${names.join(', ')} } from './index.cjs';\n`);
  },
};

const types: Options = { ...shared, format: ['esm', 'cjs'], entry: library, dts: { only: true } };

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

// Builds into one folder run at the same time, so that none of them may be the one that clears it. dist/native is CMake's.
mkdirSync('dist', { recursive: true });
for (const name of readdirSync('dist'))
  if (name !== 'native') rmSync(join('dist', name), { recursive: true });

export default defineConfig([npm, doors, types, runtime]);
