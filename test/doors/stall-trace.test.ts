import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { Tokenizer } from 'epptok';
import { modelDirectory } from '../models.ts';
import { run } from '../support/subprocess.ts';

const HOST = join(import.meta.dirname, 'hosts/stalling.js');
const MODEL = modelDirectory('qwen3');

interface LoggedStall {
  readonly stallMs: number;
  readonly operation: string;
  readonly spent: Readonly<Record<string, number>>;
}

async function stallsOf(args: readonly string[], variable?: string) {
  const { EPPTOK_STALL_TRACE_MS: _, ...rest } = process.env;
  const env = variable === undefined ? rest : { ...rest, EPPTOK_STALL_TRACE_MS: variable };
  const ended = await run(process.execPath, [HOST, MODEL, ...args], { env });
  assert.equal(ended.code, 0, ended.stderr);
  assert.doesNotMatch(ended.stderr, /canary/);
  return ended.stderr
    .split('\n')
    .filter((line) => line.includes('the event loop stalled'))
    .map((line) => JSON.parse(line) as LoggedStall);
}

/** A stall of the host's own loop, then one in a call of ours. A busy machine may add others. */
function assertBothAreNamed(stalls: readonly LoggedStall[]): void {
  const own = stalls.find(({ stallMs, operation }) => stallMs >= 650 && operation === 'host');
  assert.ok(own, JSON.stringify(stalls));
  const ours = stalls.find(({ operation }) => operation === 'accept');
  assert.ok(ours && ours.spent.accept! >= 890, JSON.stringify(stalls));
}

describe('the stall trace of a host that uses AsyncTokenizer', () => {
  it('names its own code and our operations apart, without a word of the prompt', async () => {
    assertBothAreNamed(await stallsOf(['400']));
  });

  it('is turned on by the environment, too', async () => {
    assertBothAreNamed(await stallsOf([], '400'));
  });

  it('is off unless asked for, and 0 turns it off', async () => {
    assert.deepEqual(await stallsOf([]), []);
    assert.deepEqual(await stallsOf(['0'], '400'), []);
  });
});

describe('stallTraceMs', () => {
  it('is refused when it is no number of milliseconds', () => {
    for (const stallTraceMs of [-1, 0.5, '100' as unknown as number]) {
      assert.throws(() => new Tokenizer({ model: MODEL, stallTraceMs }), {
        code: 'INVALID_ARGUMENT',
        message: /stallTraceMs/,
      });
    }
  });

  it('refuses an environment that means nothing', () => {
    process.env.EPPTOK_STALL_TRACE_MS = 'soon';
    try {
      assert.throws(() => new Tokenizer({ model: MODEL }), {
        code: 'INVALID_ARGUMENT',
        message: /EPPTOK_STALL_TRACE_MS/,
      });
    } finally {
      delete process.env.EPPTOK_STALL_TRACE_MS;
    }
  });
});
