// A Node host whose threads have little heap: a body that is more than one can parse costs the thread that serves it. Prints, for
// each door, what became of that call and of the next one.
import { AsyncTokenizer, Tokenizer } from 'epptok';
import { CHAT, openPlugin } from './plugin.js';

const [, , model, pluginPath] = process.argv;
const huge = Buffer.from(`{"messages":[${'{"role":"user","content":[{"a":1}]},'.repeat(500_000)}{}]}`);
const small = Buffer.from('{"messages":[{"role":"user","content":"Hi"}]}');

const { tokenize } = openPlugin(pluginPath);
const asynchronous = await AsyncTokenizer.create({ model, threads: 1 });
const blocking = new Tokenizer({ model, threads: 1 });
const fromC = (inThread) => (body) => {
  const count = new BigUint64Array(1);
  const [ids, transport, message] = [new Uint32Array(64), new Uint32Array(1), Buffer.alloc(256)];
  const handle = blocking.nativeHandle;
  const status = tokenize(
    handle,
    inThread,
    CHAT,
    body,
    body.length,
    ids,
    64,
    count,
    transport,
    message,
    message.length,
  );
  return status === 0 ? [...ids.subarray(0, Number(count[0]))] : { status };
};
const doors = {
  AsyncTokenizer: async (body) => [...(await asynchronous.tokenize({ kind: 'chat', body })).ids],
  Tokenizer: (body) => [...blocking.tokenize({ kind: 'chat', body }).ids],
  callback: fromC(0),
  direct: fromC(1),
};

const timed = async (door, body) => {
  const start = performance.now();
  let answer;
  try {
    answer = await doors[door](body);
  } catch (error) {
    answer = { status: error.code };
  }
  return { answer, tookMs: performance.now() - start };
};
for (const door of Object.keys(doors)) {
  const before = await timed(door, small);
  const lost = await timed(door, huge);
  const after = await timed(door, small);
  console.log(JSON.stringify({ door, before, lost, after }));
}
blocking.close();
await asynchronous.close();
