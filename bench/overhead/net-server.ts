import { createServer, type Socket } from 'node:net';
import { Pool } from '../../src/core/pool.ts';
import { prepareModels } from '../../src/core/prepare-models.ts';
import { HEADER_BYTES } from '../../src/protocol/frame-layout.ts';
import { decodeRequest } from '../../src/protocol/frame-reader.ts';
import { FrameWriter } from '../../src/protocol/frame-writer.ts';
import { failure, type Response } from '../../src/protocol/messages.ts';
import { MODEL_DIRECTORY, MODEL_READER, POOL_WORKER } from '../paths.ts';

/**
 * The server that one would write first: a unix socket on the event loop, piscina behind it, the same worker, the same
 * frames (docs/protocol.md), the same C client. `net-server.ts SOCKET`.
 */
const FRAME_LENGTH_AT = 8;
const HELLO = 1;
const WELCOME = 2;

async function answer(socket: Socket, frame: Buffer): Promise<void> {
  if (frame.readUInt16LE(6) === HELLO) {
    socket.write(welcome());
    return;
  }
  socket.write(writer.response(await serve(frame), 0n).slice());
}

async function serve(frame: Buffer): Promise<Response> {
  const decoded = decodeRequest(frame);
  if (!decoded.ok) return failure(decoded.fault.status, decoded.fault.message);
  const { request } = decoded.value;
  if (request.operation === 'ready') return failure('OK', '');
  if (request.operation === 'stats') return failure('UNSUPPORTED', 'this server counts nothing');
  // A buffer of its own moves to the worker.
  return pool.run(request.operation === 'tokenize' ? { ...request, body: request.body.slice() } : request);
}

/** HELLO, answered: the same protocol version, ABI version 1, no features. */
function welcome(): Buffer {
  const frame = Buffer.alloc(HEADER_BYTES);
  frame.write('EPPK', 'latin1');
  frame.writeUInt16LE(1, 4);
  frame.writeUInt16LE(WELCOME, 6);
  frame.writeBigUInt64LE(BigInt(HEADER_BYTES), FRAME_LENGTH_AT);
  frame.writeUInt32LE(1, 32);
  return frame;
}

/** One call at a time on a connection, so that what has come is a frame or the start of one. */
function receive(socket: Socket): void {
  let chunks: Buffer[] = [];
  let size = 0;
  let expected = 0;
  socket.on('data', (chunk) => {
    chunks.push(chunk);
    size += chunk.length;
    if (size < HEADER_BYTES) return;
    expected ||= Number(joined(chunks).readBigUInt64LE(FRAME_LENGTH_AT));
    if (size < expected) return;
    void answer(socket, joined(chunks));
    chunks = [];
    size = 0;
    expected = 0;
  });
  // A client that leaves is done.
  socket.on('error', () => socket.destroy());
}

function joined(chunks: readonly Buffer[]): Buffer {
  const [only] = chunks;
  return chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks);
}

const writer = new FrameWriter();
const prepared = prepareModels([{ name: 'qwen3', directory: MODEL_DIRECTORY }], MODEL_READER);
const pool = new Pool(POOL_WORKER, 1, prepared);
const ready = await pool.ready();
if (!ready.ok) throw new Error(ready.fault.message);
createServer(receive).listen(process.argv[2], () => console.log('ready'));
