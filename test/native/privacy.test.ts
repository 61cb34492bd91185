import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { statusName } from '../../src/protocol/status.ts';
import { type KIND, pluginTokenize } from '../doors/plugin.ts';
import { modelDirectory } from '../models.ts';
import { startSidecar } from '../support/sidecar.ts';
import { run } from '../support/subprocess.ts';
import { closeHandle, openHandle } from './library.ts';

const MODEL = modelDirectory('qwen3');
const user = (content: string) => `"messages":[{"role":"user","content":${content}}]`;

/** Prompts and ids that nobody else writes, in bodies that are served and in such as are refused at every stage. */
const CANARY = /zebrafish|314159/i;
const BODIES: { readonly kind: keyof typeof KIND; readonly text: string; readonly latin1?: boolean }[] = [
  { kind: 'text', text: 'zebrafish' },
  { kind: 'chat', text: `{${user('"zebrafish"')}}` },
  { kind: 'completion', text: '{"prompt":[314,159]}' },
  { kind: 'completion', text: '{"prompt":"zebrafish' },
  { kind: 'completion', text: '{"prompt":"zebrafish" zebrafish}' },
  { kind: 'completion', text: 'zebrafish' },
  { kind: 'completion', text: '{"prompt":"zebrafish\\q"}' },
  { kind: 'completion', text: '{"prompt":"zebrafish \\ud83d"}' },
  { kind: 'completion', text: '{"prompt":"zebrafish \xff"}', latin1: true },
  { kind: 'text', text: 'zebrafish \xff', latin1: true },
  { kind: 'auto', text: '{"zebrafish":"zebrafish"}' },
  { kind: 'completion', text: '{"prompt":["zebrafish",7]}' },
  { kind: 'completion', text: '{"prompt":{"zebrafish":1}}' },
  { kind: 'completion', text: '{"prompt":[314159265]}' },
  { kind: 'completion', text: '{"prompt":[314159265358979]}' },
  { kind: 'completion', text: '{"prompt":[3.14159]}' },
  { kind: 'completion', text: '{"prompt":[-314159]}' },
  { kind: 'embedding', text: '{"input":[["zebrafish"]]}' },
  { kind: 'chat', text: '{"messages":"zebrafish"}' },
  { kind: 'chat', text: '{"messages":[{"role":"zebrafish","content":7}]}' },
  { kind: 'chat', text: '{"messages":[{"role":"user","zebrafish":1}]}' },
  { kind: 'chat', text: `{${user('[{"type":"zebrafish"}]')}}` },
  { kind: 'chat', text: `{${user('[{"type":"image_url","image_url":{"url":"data:zebrafish"}}]')}}` },
  { kind: 'chat', text: `{${user('"zebrafish"')},"tools":"zebrafish"}` },
  { kind: 'chat', text: `{${user('"zebrafish"')},"chat_template_kwargs":"zebrafish"}` },
  {
    kind: 'chat',
    text: `{${user('"zebrafish"')},"chat_template":"{{ raise_exception(messages[0].content) }}"}`,
  },
  { kind: 'chat', text: `{${user('"zebrafish"')},"chat_template":"{{ messages[0].content.zebrafish() }}"}` },
  { kind: 'chat', text: `{${user('"zebrafish"')},"nvext":{"token_data":[314159265]}}` },
  {
    kind: 'chat',
    text: `{${user('"zebrafish"')},"nvext":{"annotations":["zebrafish"],"token_data":"zebrafish"}}`,
  },
];

interface Outcome {
  readonly door: string;
  readonly status: string;
  readonly message: string;
}

const folder = mkdtempSync(join(tmpdir(), 'epptok-privacy-'));
after(() => rmSync(folder, { recursive: true }));

describe('prompts and token ids, at the most talkative level', () => {
  const outcomes: Outcome[] = [];
  let hostLog = '';
  let sidecarLog = '';

  before(async () => {
    const host = join(import.meta.dirname, 'hosts/canary.ts');
    const args = ['--import', 'tsx', host, MODEL, JSON.stringify(BODIES)];
    const ended = await run(process.execPath, args, {
      env: { ...process.env, EPPTOK_LOG: 'trace', EPPTOK_NODE: process.execPath },
    });
    assert.equal(ended.code, 0, ended.stderr);
    for (const line of ended.stdout.trim().split('\n')) outcomes.push(JSON.parse(line) as Outcome);
    hostLog = ended.stderr;

    const args2 = ['--model', `qwen3=${MODEL}`, '--threads', '1', '--log', 'trace'];
    const sidecar = await startSidecar(join(folder, 'run/s.sock'), args2);
    const { handle } = openHandle({ socket: sidecar.socket });
    for (const { kind, text, latin1 } of BODIES) {
      const bytes = Buffer.from(text, latin1 ? 'latin1' : 'utf8');
      const { status, message } = pluginTokenize(handle, 'this thread', kind, bytes);
      outcomes.push({ door: 'sidecar', status: statusName(status), message });
    }
    closeHandle(handle);
    await sidecar.end('SIGTERM');
    sidecarLog = sidecar.log();
  });

  it('come by every door, and are served and refused there', () => {
    for (const door of ['AsyncTokenizer', 'Tokenizer', 'callback', 'direct', 'private child', 'sidecar']) {
      const statuses = outcomes.filter((one) => one.door === door).map(({ status }) => status);
      assert.ok(statuses.length >= BODIES.length, `${door}: ${statuses.length}`);
      assert.ok(statuses.filter((status) => status === 'OK').length >= 3, door);
      assert.ok(statuses.filter((status) => status !== 'OK').length >= 15, door);
      assert.ok(!statuses.includes('INTERNAL'), door);
    }
  });

  it('are in no message', () => {
    for (const { door, status, message } of outcomes) {
      assert.ok(!CANARY.test(message), `${door}, ${status}: ${message}`);
      if (status !== 'OK') assert.notEqual(message, '');
    }
  });

  it('are in no log, though there is one', () => {
    for (const log of [hostLog, sidecarLog]) {
      assert.match(log, /"msg":"ready"/);
      assert.ok(!CANARY.test(log), log);
    }
  });
});
