import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { ROOT } from '../support/built.ts';
import { run } from '../support/subprocess.ts';

const folder = mkdtempSync(join(tmpdir(), 'epptok-header-'));
after(() => rmSync(folder, { recursive: true }));

// Alone, and twice; the initialisers are used, since macros are not compiled otherwise.
const SOURCE = `#include <epptok.h>
#include <epptok.h>
int main(void) {
    epptok_options options = EPPTOK_OPTIONS_INIT;
    epptok_request request = EPPTOK_REQUEST_INIT;
    return options.struct_size == sizeof options && request.struct_size == sizeof request ? 0 : 1;
}
`;

describe('include/epptok.h compiles alone, without a warning, as', () => {
  for (const [standard, compiler] of [
    ['c99', 'cc'],
    ['c11', 'cc'],
    ['c++11', 'c++'],
    ['c++20', 'c++'],
  ] as const) {
    const absent = spawnSync(compiler, ['--version']).status !== 0;
    it(standard, { skip: absent && `there is no ${compiler} on PATH` }, async () => {
      const name = join(folder, standard + (compiler === 'cc' ? '.c' : '.cpp'));
      writeFileSync(name, SOURCE);
      const flags = [`-std=${standard}`, '-Wall', '-Wextra', '-Wpedantic', '-Werror'];
      const program = join(folder, standard);
      const compiled = await run(compiler, [...flags, `-I${join(ROOT, 'include')}`, name, '-o', program]);
      assert.equal(compiled.code, 0, compiled.stderr);
      assert.equal((await run(program, [])).code, 0);
    });
  }
});
