import { join } from 'node:path';

/** The folder of the project. */
export const ROOT = join(import.meta.dirname, '../..');

/** `epptok`, as `npm run build` leaves it. */
export const CLI = join(ROOT, 'dist/cli.js');

/** A program of native-test/, as `npm run build` leaves it. */
export function nativeProgram(name: string): string {
  return join(ROOT, 'build/native', name);
}

/** A shared library: of native-test/, or libepptok itself. */
export function nativeLibrary(name: string): string {
  return join(ROOT, 'build/native', `lib${name}.${process.platform === 'darwin' ? 'dylib' : 'so'}`);
}
