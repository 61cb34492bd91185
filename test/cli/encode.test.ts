import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { modelDirectory } from '../models.ts';
import { CLI } from '../support/built.ts';
import { run } from '../support/subprocess.ts';
import { epptok } from './cli.ts';

const MODEL = modelDirectory('qwen3');
const CHAT = '{"messages":[{"role":"user","content":"Hi"}]}';
// As transformers' apply_chat_template renders and encodes it.
const CHAT_IDS = [151644, 872, 198, 13048, 151645, 198, 151644, 77091, 198];
const CHAT_PROMPT = '<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n';

const folder = mkdtempSync(join(tmpdir(), 'epptok-cli-'));
after(() => rmSync(folder, { recursive: true }));

describe('epptok encode prints', () => {
  it('the ids of a text on standard input', async () => {
    const ended = await epptok(['encode', '--model', MODEL, '--kind', 'text'], { input: 'hello world' });
    assert.deepEqual(ended, { code: 0, stdout: '14990 1879\n', stderr: '' });
  });

  it('the ids of a request in a file', async () => {
    const file = join(folder, 'chat.json');
    writeFileSync(file, CHAT);
    const ended = await epptok(['encode', '--model', MODEL, file]);
    assert.deepEqual(ended, { code: 0, stdout: `${CHAT_IDS.join(' ')}\n`, stderr: '' });
  });

  it('a line per sequence of a batch, empty for a prompt without tokens', async () => {
    const ended = await epptok(['encode', '--model', MODEL], { input: '{"prompt":["a","","b c"]}' });
    assert.deepEqual(ended, { code: 0, stdout: '64\n\n65 272\n', stderr: '' });
  });

  it('one JSON object with --json, and the prompt with --prompt', async () => {
    const args = ['encode', '--model', `qwen=${MODEL}`, '--json', '--prompt'];
    const ended = await epptok(args, { input: CHAT });
    assert.equal(ended.code, 0, ended.stderr);
    const { timings, receivedAt, elapsed, ...rest } = JSON.parse(ended.stdout) as Record<string, unknown>;
    assert.deepEqual(rest, {
      ids: CHAT_IDS,
      sequences: [CHAT_IDS],
      provenance: 'tokenized',
      model: 'qwen',
      worker: 1,
      prompt: CHAT_PROMPT,
    });
    const stages = timings as Record<string, number>;
    assert.deepEqual(Object.keys(stages), ['queue', 'parse', 'template', 'encode', 'total']);
    assert.ok(stages.total! > 0 && stages.total! >= stages.encode!);
    assert.ok((elapsed as number) >= stages.total!);
    assert.ok(Math.abs((receivedAt as number) - Date.now()) < 60_000);
  });

  it('the ids of a template of the request with --allow-chat-template alone', async () => {
    const input = JSON.stringify({
      ...JSON.parse(CHAT),
      chat_template: '{{ messages[0].content }} {{ messages[0].role }}',
    });
    const allowed = await epptok(['encode', '--model', MODEL, '--allow-chat-template'], { input });
    assert.deepEqual(allowed, { code: 0, stdout: '13048 1196\n', stderr: '' });
    const refused = await epptok(['encode', '--model', MODEL], { input });
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /^epptok: UNSUPPORTED: chat_template is not allowed here/);
  });

  it('no prompt without --prompt', async () => {
    const ended = await epptok(['encode', '--model', MODEL, '--json'], { input: CHAT });
    assert.equal('prompt' in (JSON.parse(ended.stdout) as object), false);
  });

  it('special tokens as the engine has them', async () => {
    const args = ['encode', '--model', modelDirectory('deepseek_v3'), '--kind', 'text'];
    const vllm = await epptok(args, { input: 'hello' });
    const dynamo = await epptok([...args, '--engine', 'dynamo'], { input: 'hello' });
    assert.equal(vllm.stdout, '0 33310\n');
    assert.equal(dynamo.stdout, '33310\n');
  });

  it('what was odd on standard error, and the ids all the same', async () => {
    const input = '{"prompt":"hello world","nvext":{"backend_instance_id":7}}';
    const ended = await epptok(['encode', '--model', MODEL], { input });
    assert.equal(ended.code, 0);
    assert.equal(ended.stdout, '14990 1879\n');
    assert.match(ended.stderr, /^warning: .*backend_instance_id/);
  });
});

describe('epptok encode ends with 1 and names the culprit', () => {
  const MODEL_GIVEN = ['encode', '--model', MODEL];
  const CASES: [what: string, args: string[], input: string, stderr: RegExp][] = [
    ['no model', ['encode'], CHAT, /--model/],
    [
      'a directory that is missing',
      ['encode', '--model', '/nowhere'],
      CHAT,
      /^epptok: INIT_FAILED: .*\/nowhere/,
    ],
    [
      'a directory without tokenizer.json',
      ['encode', '--model', '/tmp'],
      CHAT,
      /INIT_FAILED: tokenizer\.json/,
    ],
    ['an unknown kind', [...MODEL_GIVEN, '--kind', 'prose'], CHAT, /--kind.*prose.*chat, completion/],
    ['an unknown engine', [...MODEL_GIVEN, '--engine', 'sglang'], CHAT, /--engine.*sglang.*vllm, dynamo/],
    ['a number that is none', [...MODEL_GIVEN, '--threads', 'two'], CHAT, /--threads.*two/],
    ['too many threads', [...MODEL_GIVEN, '--threads', '2000'], CHAT, /INVALID_ARGUMENT: .*threads/],
    ['an unknown option', [...MODEL_GIVEN, '--thread', '2'], CHAT, /--thread\b/],
    ['a file that is missing', [...MODEL_GIVEN, 'nofile.json'], '', /INVALID_ARGUMENT: .*nofile\.json/],
    ['no body', MODEL_GIVEN, '', /INVALID_REQUEST: the body: not JSON at byte 0/],
    ['a body of no kind', MODEL_GIVEN, '{}', /INVALID_REQUEST: .*messages, prompt and input/],
    ['a message without a role', MODEL_GIVEN, '{"messages":[{}]}', /INVALID_REQUEST: messages\[0\]\.role/],
    [
      'a prompt that fills the context',
      [...MODEL_GIVEN, '--kind', 'text', '--context-length', '2'],
      'hello world',
      /CONTEXT_TOO_LONG: .*\b2\b.*\b2\b/,
    ],
    [
      'a model of another name',
      [...MODEL_GIVEN, '--model', `other=${MODEL}`],
      '{"model":"third","prompt":"x"}',
      /UNKNOWN_MODEL: .*third.*loaded: .*other/,
    ],
    [
      'two models of one name',
      [...MODEL_GIVEN, '--model', MODEL],
      CHAT,
      /INVALID_ARGUMENT: option model: two models are named "models"/,
    ],
    [
      'a model without a directory',
      ['encode', '--model', 'qwen3='],
      CHAT,
      /INVALID_ARGUMENT: option model: .*qwen3=/,
    ],
    ['--prompt without --json', [...MODEL_GIVEN, '--prompt'], CHAT, /--prompt.*--json/],
  ];
  for (const [what, args, input, stderr] of CASES) {
    it(what, async () => {
      const ended = await epptok(args, { input });
      assert.equal(ended.code, 1);
      assert.equal(ended.stdout, '');
      assert.match(ended.stderr, stderr);
      assert.doesNotMatch(ended.stderr, /\n +at /, 'a stack is no message');
    });
  }

  it('and quotes nothing of a malformed body', async () => {
    const ended = await epptok(MODEL_GIVEN, { input: '{"prompt":"canary' });
    assert.match(ended.stderr, /^epptok: INVALID_REQUEST: /);
    assert.doesNotMatch(ended.stderr, /canary/);
  });

  it('but a reader that goes away is not worth a word', async () => {
    const input = JSON.stringify({ prompt: 'word '.repeat(100_000) });
    const pipeline = '"$0" "$1" encode --model "$2" | head -c 4';
    const ended = await run('bash', ['-c', pipeline, process.execPath, CLI, MODEL], { input });
    assert.deepEqual(ended, { code: 0, stdout: '1158', stderr: '' });
  });
});

describe('epptok', () => {
  it('--help names every command, with examples', async () => {
    const ended = await epptok(['--help']);
    assert.equal(ended.code, 0);
    for (const word of ['serve', 'encode', 'Examples:', '--version'])
      assert.ok(ended.stdout.includes(word), word);
  });

  it('encode --help and serve --help describe every option', async () => {
    for (const [command, options] of [
      ['encode', ['--model', '--kind', '--json', '--prompt', '--engine', '--threads', '--context-length']],
      ['serve', ['--model', '--socket', '--socket-group', '--max-queue-calls', '--max-queue-bytes', '--log']],
    ] as const) {
      const ended = await epptok([command, '--help']);
      assert.equal(ended.code, 0);
      for (const option of options) assert.match(ended.stdout, new RegExp(`${option} .*\\w`), option);
    }
  });

  it('alone prints its help and ends with 1, an unknown command too', async () => {
    const alone = await epptok([]);
    assert.equal(alone.code, 1);
    assert.match(alone.stderr, /Usage: epptok/);
    const unknown = await epptok(['frobnicate']);
    assert.equal(unknown.code, 1);
    assert.match(unknown.stderr, /unknown command 'frobnicate'/);
  });

  it('--version is that of the package', async () => {
    const { version } = (await import('../../package.json', { with: { type: 'json' } })).default;
    assert.equal((await epptok(['--version'])).stdout, `${version}\n`);
  });
});
