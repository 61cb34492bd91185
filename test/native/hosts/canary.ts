import { AsyncTokenizer, EpptokError, Tokenizer } from 'epptok';
import { statusName } from '../../../src/protocol/status.ts';
import { type KIND, pluginTokenize } from '../../doors/plugin.ts';
import { closeHandle, openHandle } from '../library.ts';

/**
 * A host that sends each body, read as JSON from its arguments, through every door, and prints how each call ended: a status and
 * a message. Its standard error is that of its private child too.
 */
interface Body {
  readonly kind: keyof typeof KIND;
  readonly text: string;
  readonly latin1?: boolean;
}
const [, , model = '', given = ''] = process.argv;
const bodies = (JSON.parse(given) as Body[]).map(({ kind, text, latin1 }) => ({
  kind,
  bytes: Buffer.from(text, latin1 ? 'latin1' : 'utf8'),
}));
const report = (door: string, status: string, message: string) =>
  console.log(JSON.stringify({ door, status, message }));
const options = { model: `qwen3=${model}`, threads: 1 };
const asynchronous = await AsyncTokenizer.create(options);
const blocking = new Tokenizer(options);
const child = openHandle({ model, threads: 1 });
report('private child opens', child.status, child.message);

async function thrown(door: string, call: () => unknown): Promise<void> {
  try {
    await call();
    report(door, 'OK', '');
  } catch (error) {
    if (error instanceof EpptokError) report(door, error.code, `${error.message} ${error.stack}`);
    else report(door, 'INTERNAL', String(error));
  }
}

for (const { kind, bytes } of bodies) {
  await thrown('AsyncTokenizer', () => asynchronous.tokenize({ kind, body: bytes }));
  await thrown('Tokenizer', () => blocking.tokenize({ kind, body: bytes }));
  for (const [door, handle, where] of [
    ['callback', blocking.nativeHandle, 'this thread'],
    ['direct', blocking.nativeHandle, 'another thread'],
    ['private child', child.handle, 'this thread'],
  ] as const) {
    const { status, message } = pluginTokenize(handle, where, kind, bytes);
    report(door, statusName(status), message);
  }
}
const absent = Uint32Array.of(314159265);
await thrown('AsyncTokenizer', () => asynchronous.detokenize({ ids: absent }));
await thrown('Tokenizer', () => blocking.detokenize({ ids: absent }));
closeHandle(child.handle);
blocking.close();
await asynchronous.close();
