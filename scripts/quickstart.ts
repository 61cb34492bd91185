import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Tokenizer } from 'epptok';
import koffi from 'koffi';
import { modelDirectory } from '../test/models.ts';
import { nativeLibrary, nativeProgram, ROOT } from '../test/support/built.ts';
import { startSidecar } from '../test/support/sidecar.ts';

// One chat request with tools, from C, through every way in: `npm start`.
const program = nativeProgram('quickstart');
const model = `qwen3=${modelDirectory('qwen3')}`;
const env = { ...process.env, EPPTOK_RUNTIME: join(ROOT, 'dist/serve-process.js') };

function runProgram(...args: string[]): void {
  const { status } = spawnSync(program, args, { stdio: 'inherit', env });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${status}`);
}

async function throughSidecar(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'epptok-quickstart-'));
  try {
    const sidecar = await startSidecar(join(folder, 'epptok.sock'), ['--model', model]);
    try {
      runProgram('--socket', sidecar.socket);
    } finally {
      await sidecar.end('SIGTERM');
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function insideNode(): void {
  const plugin = koffi.load(nativeLibrary('quickstart_plugin'));
  const tokenizer = new Tokenizer({ model });
  for (const [run, door] of [
    ['plugin_run', 'C plugin inside Node, on the JavaScript thread'],
    ['plugin_run_in_thread', 'C plugin inside Node, on a thread of its own'],
  ] as const) {
    const call = plugin.func(run, 'int32_t', ['uint64_t', 'str']);
    const status = call(tokenizer.nativeHandle, door);
    if (status !== 0) throw new Error(`${run} ended with status ${status}`);
  }
  tokenizer.close();
}

runProgram('--model', model);
await throughSidecar();
insideNode();
