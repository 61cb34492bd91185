// A runtime that does what its calls' model names say: for the tests of the waiting side alone.
import { workerData } from 'node:worker_threads';

const { latch, port, settings } = workerData;
const [SIGNAL, STATE, HEARTBEAT] = [0, 1, 2];
const READY = 1;
const CLOSED = 3;
const words = new Int32Array(latch);

const signal = () => {
  Atomics.add(words, SIGNAL, 1);
  Atomics.notify(words, SIGNAL);
};
const enter = (state) => {
  Atomics.store(words, STATE, state);
  signal();
};
const reply = (id, ids) => {
  const response = { status: 'OK', message: '', worker: 1, ids: Uint32Array.from(ids), counts: [ids.length] };
  port.postMessage({ type: 'reply', id, response });
  signal();
};

const beat = setInterval(() => Atomics.add(words, HEARTBEAT, 1), 25);

const acts = {
  echo: ({ id }) => reply(id, [id]),
  late: ({ id }) => setTimeout(() => reply(id, [id]), 600),
  never: () => {},
  hang: () => {
    for (;;);
  },
  exit: () => process.exit(0),
  'run out of heap': () => {
    const hoard = [];
    for (;;) hoard.push(new Array(1e5).fill(hoard.length));
  },
  'be closed': () => enter(CLOSED),
};

port.on('message', (message) => {
  if (message.type === 'call') acts[message.request.model](message);
  if (message.type === 'close') {
    enter(CLOSED);
    port.close();
    clearInterval(beat);
  }
});

if (settings.die) process.exit(0);
if (settings.fail) {
  port.postMessage({ type: 'failed', fault: { status: 'INIT_FAILED', message: 'as scripted' } });
  enter(2);
} else if (!settings.silent) {
  enter(READY);
}
