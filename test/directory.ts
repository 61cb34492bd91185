import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A temporary directory with these files: text as it is, anything else as JSON. Gone when `use` returns. */
export function withDirectory<T>(files: Readonly<Record<string, unknown>>, use: (directory: string) => T): T {
  const directory = mkdtempSync(join(tmpdir(), 'epptok-'));
  try {
    for (const [name, content] of Object.entries(files)) {
      const bytes =
        content instanceof Uint8Array || typeof content === 'string' ? content : JSON.stringify(content);
      writeFileSync(join(directory, name), bytes);
    }
    return use(directory);
  } finally {
    rmSync(directory, { recursive: true });
  }
}
