import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { failure, type Response } from '../src/protocol/messages.ts';
import { tokenizeResult } from '../src/result.ts';

const record = { receivedAt: 1, elapsed: 2 };
const answered = (annotations?: string): Response => ({
  ...failure('OK', ''),
  ids: Uint32Array.of(5, 6, 7),
  counts: [2, 1],
  ...(annotations === undefined ? {} : { annotations }),
});

describe('annotations of a result', () => {
  it('are a property like the others', () => {
    const result = tokenizeResult(answered('{"token_ids":[5,6]}'), record);
    assert.deepEqual(result.annotations, { token_ids: [5, 6] });
    assert.equal(result.annotations, result.annotations);
    assert.deepEqual({ ...result }.annotations, { token_ids: [5, 6] });
    assert.match(JSON.stringify(result), /"annotations":\{"token_ids":\[5,6\]\}/);
  });

  it('are not parsed before they are read', () => {
    const result = tokenizeResult(answered('{'), record);
    assert.deepEqual([...result.ids], [5, 6]);
    assert.throws(() => result.annotations, SyntaxError);
  });

  it('are absent if none were asked for', () => {
    assert.ok(!('annotations' in tokenizeResult(answered(), record)));
  });
});
