import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Tokenizer } from 'epptok';
import koffi from 'koffi';
import { modelDirectory } from '../test/models.ts';

// One chat request with tools, from C, through every way in: `npm start`.
const root = new URL('../', import.meta.url).pathname;
const program = join(root, 'build/native/quickstart');
const cli = join(root, 'dist/cli.js');
const model = `qwen3=${modelDirectory('qwen3')}`;
const env = { ...process.env, EPPTOK_RUNTIME: join(root, 'dist/serve-process.js') };

function runProgram(...args: string[]): void {
  const { status } = spawnSync(program, args, { stdio: 'inherit', env });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${status}`);
}

async function throughSidecar(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'epptok-quickstart-'));
  const socket = join(folder, 'epptok.sock');
  const sidecar = spawn(
    process.execPath,
    [cli, 'serve', '--model', model, '--socket', socket, '--log', 'info'],
    {
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  try {
    for await (const line of sidecar.stderr) if (String(line).includes('ready')) break;
    runProgram('--socket', socket);
  } finally {
    sidecar.kill('SIGTERM');
    if (sidecar.exitCode === null) await once(sidecar, 'exit');
    rmSync(folder, { recursive: true });
  }
}

function insideNode(): void {
  const plugin = koffi.load(join(root, 'build/native/libquickstart_plugin.so'));
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
