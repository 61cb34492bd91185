/**
 * Returns where the word that starts at `at` ends. `bytes` is UTF-8 and holds SENTINEL where the section ends, so no
 * scanner tests for bounds; it is never called at the end itself, and always moves forward.
 */
export type Scanner = (bytes: Uint8Array, at: number) => number;
