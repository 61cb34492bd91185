import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Server } from 'node:http';
import { it } from 'node:test';
import { MetricsServer } from '../../src/entry/metrics-server.ts';

it('a metrics server outlives connections that it could not accept', async () => {
  const listening = await MetricsServer.listen(
    { host: '127.0.0.1', port: 0 },
    { metrics: async () => 'epptok_ready 1\n', whyNotReady: () => undefined },
  );
  assert.ok(listening.ok);
  const { url } = listening.value;
  let server: Server | undefined;
  const see = (message: unknown) => {
    ({ server } = message as { server: Server });
  };
  subscribe('http.server.request.start', see);
  try {
    assert.equal((await fetch(`${url}/readyz`)).status, 200);
    // As Node tells of a process that is out of descriptors, once for each connection that waits.
    for (let i = 0; i < 2; i++) server?.emit('error', new Error('accept EMFILE'));
    const metrics = await fetch(`${url}/metrics`);
    assert.match(await metrics.text(), /^epptok_ready 1$/m);
  } finally {
    unsubscribe('http.server.request.start', see);
    listening.value.close();
  }
  assert.ok(server);
});
