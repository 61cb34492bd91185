import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { FLAGS, KINDS, PROVENANCES } from '../../src/protocol/messages.ts';
import { STATUS_TABLE, statusName } from '../../src/protocol/status.ts';

const header = readFileSync(new URL('../../include/epptok.h', import.meta.url), 'utf8');

/** `EPPTOK_<prefix>NAME = n` or `#define EPPTOK_<prefix>NAME nu`, in the order of the header. */
function numbers(pattern: RegExp): [string, number][] {
  return [...header.matchAll(pattern)].map(([, name, number]) => [name!, Number(number)]);
}

describe('the status table', () => {
  it('has the names and numbers of include/epptok.h', () => {
    const block = header.slice(
      header.indexOf('typedef enum epptok_status'),
      header.indexOf('} epptok_status;'),
    );
    const inHeader = [...block.matchAll(/EPPTOK_(\w+) = (\d+)/g)].map(([, name, number]) => [
      name,
      Number(number),
    ]);
    assert.deepEqual(
      STATUS_TABLE.map(([name, code]) => [name, code]),
      inHeader,
    );
  });

  it("keeps the numbers 0 to 7 of Dynamo's QueryRouterResult, 5 reserved", () => {
    const codes = STATUS_TABLE.map(([, code]) => code).filter((code) => code < 8);
    assert.deepEqual(codes, [0, 1, 2, 3, 4, 6, 7]);
  });

  it('has the texts of the C table', () => {
    const table = readFileSync(new URL('../../src/native/status.h', import.meta.url), 'utf8');
    for (const [name, code, text] of STATUS_TABLE) {
      assert.match(
        table,
        new RegExp(`${name}\\b[^\\n]*\\b${code}\\b[^\\n]*"${text.replace(/[;,]/g, '\\$&')}"`),
      );
    }
  });

  it('is what the Go package takes its constants from, each under its own name', () => {
    const go = readFileSync(new URL('../../examples/go/epptok/epptok.go', import.meta.url), 'utf8');
    const block = go.slice(go.indexOf('const ('), go.indexOf('func (s Status)'));
    const constants = [...block.matchAll(/^\t(\w+)\s+Status = (.+)$/gm)];
    assert.ok(constants.length >= 9);
    for (const [, name, value] of constants) {
      const upper = name!.replace(/(?<=[a-z])[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
      assert.equal(value, `C.EPPTOK_${upper}`);
      assert.ok(STATUS_TABLE.some(([known]) => known === upper));
    }
  });

  it('names an unknown number INTERNAL', () => assert.equal(statusName(5), 'INTERNAL'));
});

describe('numbers on the wire', () => {
  it('of kinds', () => {
    const expected = KINDS.map((kind, index) => [kind.toUpperCase(), index]);
    assert.deepEqual(numbers(/EPPTOK_KIND_(\w+) = (\d+)/g), expected);
  });

  it('of provenances', () => {
    const expected = PROVENANCES.map((provenance, index) => [provenance.toUpperCase(), index]);
    assert.deepEqual(numbers(/EPPTOK_PROVENANCE_(\w+) = (\d+)/g), expected);
  });

  it('of flags', () => {
    const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
    const flags = numbers(/#define EPPTOK_((?:WANT|ADD|NO|SKIP)_\w+) (\d+)u/g);
    assert.deepEqual(
      Object.entries(FLAGS).map(([name, bit]) => [snake(name), bit]),
      flags,
    );
  });
});
