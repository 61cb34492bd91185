import { mkdirSync, writeFileSync } from 'node:fs';
import { FrameWriter } from '../src/protocol/frame-writer.ts';
import { GOLDEN_REQUESTS, GOLDEN_RESPONSES } from '../test/protocol/golden-frames.ts';

const folder = new URL('../native-test/golden/', import.meta.url);
mkdirSync(folder, { recursive: true });
const writer = new FrameWriter();
const write = (name: string, frame: Uint8Array) => writeFileSync(new URL(`${name}.bin`, folder), frame);
for (const [name, frame] of Object.entries(GOLDEN_REQUESTS)) write(name, writer.request(frame));
for (const [name, { callId, response }] of Object.entries(GOLDEN_RESPONSES)) {
  write(name, writer.response(response, callId));
}
