import { normalizeEach, scalarValues, type TokenizerClass } from './oracle-text.ts';

/** `<code>=<lower>[ <lower>]` in base 36, joined by `,`: every code point that the oracle's Lowercase changes. */
export function lowercaseTable(oracle: TokenizerClass): string {
  const codes = [...scalarValues()].filter((code) => code !== 10);
  const lowered = normalizeEach(
    oracle,
    { type: 'Lowercase' },
    codes.map((code) => String.fromCodePoint(code)),
  );
  const entries: string[] = [];
  for (const [index, code] of codes.entries()) {
    const lower = lowered[index]!;
    if (lower === String.fromCodePoint(code)) continue;
    const target = Array.from(lower, (character) => character.codePointAt(0)!.toString(36)).join(' ');
    entries.push(`${code.toString(36)}=${target}`);
  }
  return entries.join(',');
}
