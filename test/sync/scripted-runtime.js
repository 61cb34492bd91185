// A runtime without models, whose workers do what their calls' model names say: for the tests of the waiting side alone.
import { Worker, workerData } from 'node:worker_threads';

const { latch, port, settings } = workerData;
const [SIGNAL, STATE, HEARTBEAT, NEWS] = [0, 1, 2, 3];
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
const tell = (message, transfer) => {
  port.postMessage(message, transfer);
  Atomics.add(words, NEWS, 1);
  signal();
};

setInterval(() => Atomics.add(words, HEARTBEAT, 1), 25);

const acts = {
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

// A bundle of src/sync/line.ts, as no TypeScript runs in a thread whose parent is blocked.
const { makeLine } = settings.line ? await import(settings.line) : {};
let lines = 0;
const workers = new Set();
const startWorker = (ready) => {
  const line = ++lines;
  const { forCaller, forWorker } = makeLine();
  const worker = new Worker(new URL(settings.worker), {
    workerData: { latch, line: forWorker },
    transferList: [forWorker.port],
    execArgv: [],
  });
  workers.add(worker);
  worker.on('message', (act) => (act === 'ready' ? ready() : acts[act]()));
  worker.on('exit', () => {
    workers.delete(worker);
    tell({ type: 'line-lost', line, message: 'as scripted' });
    startWorker(() => {});
  });
  tell({ type: 'line', line, end: forCaller }, [forCaller.port]);
};

port.on('message', (message) => {
  if (message.type === 'close') process.exit(enter(CLOSED));
  // What was told of calls that no worker has answered.
  if (message.type === 'unserved') unserved.push(message);
  if (message.type === 'stats') {
    const text = JSON.stringify(unserved);
    setTimeout(() => tell({ type: 'stats', id: message.id, text }), settings.statsAfterMs ?? 0);
  }
});
const unserved = [];

if (settings.die) process.exit(0);
if (settings.fail) {
  tell({ type: 'failed', fault: { status: 'INIT_FAILED', message: 'as scripted' } });
  enter(2);
} else if (!settings.silent) {
  let starting = settings.workers ?? 1;
  const ready = () => --starting === 0 && enter(READY);
  for (let i = starting; i > 0; i--) startWorker(ready);
}
