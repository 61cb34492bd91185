import { connect } from 'node:net';
import { LoopWatch } from './event-loop.ts';

/**
 * Eight workers as a frontend sees them: sockets on which each line is answered with itself, at once. `workers.ts SOCKET`.
 * This process has nothing else to do, so that its own event loop shows what the machine alone does to one; a line on
 * standard input starts the watch anew and prints what was seen.
 */
const COUNT = 8;
let watch = new LoopWatch();
let connected = 0;
for (let i = 0; i < COUNT; i++) {
  const socket = connect(process.argv[2]!, () => {
    if (++connected === COUNT) console.log('ready');
  });
  socket.on('data', (lines) => socket.write(lines));
  socket.on('error', () => socket.destroy());
}
process.stdin.on('data', () => {
  console.log(JSON.stringify({ control: watch.report() }));
  watch = new LoopWatch();
});
