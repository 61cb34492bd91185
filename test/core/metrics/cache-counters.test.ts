import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CacheCounters, readCaches } from '../../../src/core/metrics/cache-counters.ts';
import { buildEngine, openEngine } from '../../../src/tokenizer/engine/index.ts';
import { modelFile } from '../../tokenizer/engine/oracle.ts';

const MODELS = ['qwen3', 'other'];

describe('counters of what caches find', () => {
  const verdict = buildEngine(JSON.parse(modelFile('qwen3')));
  assert.ok(verdict.ok);

  /** What encoding `text` adds, on an encoder that has encoded `before`. */
  function added(text: string, ...before: string[]): Record<string, [hits: number, misses: number]> {
    assert.ok(verdict.ok);
    const counters = new CacheCounters(MODELS);
    const engine = openEngine(verdict.tables, { lookups: counters.of(0) });
    for (const one of before) engine.encode([one], false);
    counters.clear();
    engine.encode([text], false);
    return Object.fromEntries(
      readCaches([counters]).map(({ cache, hits, misses }) => [cache, [hits, misses]]),
    );
  }

  it('tell words that had to be merged from those that were known', () => {
    // No section is longer than that without a passage being looked for.
    assert.deepEqual(added('hello'), { word: [0, 1] });
    assert.deepEqual(added('hello', 'hello'), { word: [1, 0] });
    assert.deepEqual(added('hello you', 'hello').word, [1, 1]);
  });

  it('take a long word for one, whatever pieces it is merged from', () => {
    const long = 'supercalifragilisticexpialidocious'.repeat(2);
    assert.deepEqual(added(long).word, [0, 1]);
    assert.deepEqual(added(`xq ${long}`, `yq ${long}`).word, [1, 1]);
  });

  it('count passages that come again, whose words are then not looked up', () => {
    const text = 'The quick brown fox jumps over the lazy dog, again and again.\n'.repeat(20);
    const fresh = added(text);
    const known = added(text, text, text, text);
    assert.ok(fresh.word![1] > 0 && fresh.passage![1] > 0);
    assert.equal(known.word?.[1] ?? 0, 0);
    assert.ok(known.passage![0] > known.passage![1], `${known.passage}`);
  });

  it('are added up over the threads of one model, and start again when cleared', () => {
    const [one, two] = [new CacheCounters(MODELS), new CacheCounters(MODELS)];
    one.of(1).set([1, 2, 3, 4]);
    new CacheCounters(MODELS, two.memory).of(1).set([10, 20, 30, 40]);
    assert.deepEqual(readCaches([one, two]), [
      { model: 'other', cache: 'word', hits: 11, misses: 22 },
      { model: 'other', cache: 'passage', hits: 33, misses: 44 },
    ]);
    one.clear();
    assert.deepEqual(readCaches([one]), []);
  });
});
