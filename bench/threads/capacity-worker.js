import { Piscina } from 'piscina';
import serve from '../../dist/pool-worker.js';

/** The work of a worker as a function call, over and over: no queue, no message, no copy. Answers calls per second. */
function callFor({ bodies, kind, milliseconds }) {
  const start = performance.now();
  for (let calls = 1; ; calls++) {
    answer(bodies[calls % bodies.length], kind);
    const elapsed = performance.now() - start;
    if (elapsed >= milliseconds) return (calls * 1e3) / elapsed;
  }
}

/** Named task: the ids of each body, when all were served `passes` times. */
export function idsOf({ bodies, kind, passes }) {
  for (let pass = 1; pass < passes; pass++) for (const body of bodies) answer(body, kind);
  return bodies.map((body) => answer(body, kind).ids);
}

function answer(body, kind) {
  const served = serve({ operation: 'tokenize', kind, flags: 0, model: '', body });
  // A response with many ids comes wrapped, for a sender to move its buffer.
  const response = served[Piscina.valueSymbol] ?? served;
  if (response.status !== 'OK') throw new Error(response.message);
  return response;
}

// piscina asks for the default export of the file it is given.
// biome-ignore lint/style/noDefaultExport: the tool demands it
export default callFor;
