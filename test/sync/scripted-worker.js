// The worker's end of a line as src/sync/line.ts draws it, written a second time: it does what its calls' model names say.
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';

const { latch, line } = workerData;
const SIGNAL = 0;
const [STATE, QUEUE_US] = [0, 1];
const [FREE, POSTED, ANSWERED, ABANDONED] = [0, 1, 2, 3];
const latchWords = new Int32Array(latch);
const words = new Int32Array(line.memory);

const sleep = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
const signal = () => {
  Atomics.add(latchWords, SIGNAL, 1);
  Atomics.notify(latchWords, SIGNAL);
};
const answer = (message) => {
  line.port.postMessage(message);
  if (Atomics.compareExchange(words, STATE, POSTED, ANSWERED) === ABANDONED)
    Atomics.store(words, STATE, FREE);
  signal();
};
const reply = (...ids) =>
  answer({ status: 'OK', message: '', worker: 1, ids: Uint32Array.from(ids), counts: [ids.length] });

let calls = 0;
const acts = {
  echo: ([first]) => reply(first),
  late: ([first]) => {
    sleep(120);
    reply(first);
  },
  waited: () => reply(words[QUEUE_US]),
  'count, then rest': () => {
    reply(calls);
    sleep(150);
  },
  die: () => process.exit(0),
};

parentPort.postMessage('ready');
for (;;) {
  const state = Atomics.load(words, STATE);
  if (state === FREE || state === ANSWERED) {
    Atomics.wait(words, STATE, state);
    continue;
  }
  const { message: call } = receiveMessageOnPort(line.port);
  if (state === ABANDONED) {
    Atomics.store(words, STATE, FREE);
    signal();
    continue;
  }
  calls++;
  if (call instanceof Uint8Array) answer(call.slice().reverse());
  else if (acts[call.model]) acts[call.model](call.body);
  else {
    // What is the runtime's to do; the caller hears no more of this call.
    parentPort.postMessage(call.model);
    sleep(60_000);
  }
}
