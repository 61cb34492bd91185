import { readFileSync, writeFileSync } from 'node:fs';

/** Request bodies in a file, one on each line: JSON as JSON.stringify writes it has no line end. */
export function writeBodies(file: string, bodies: readonly string[]): void {
  writeFileSync(file, bodies.join('\n'));
}

export function readBodies(file: string): readonly string[] {
  return readFileSync(file, 'utf8').split('\n');
}
