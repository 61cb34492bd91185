import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../support/built.ts';

export const README = readFileSync(join(ROOT, 'README.md'), 'utf8');

/** A fenced block of README.md. */
export interface Block {
  readonly language: string;
  /** The comment on the line before it: the file that it shows, or what it needs. */
  readonly label: string | undefined;
  readonly content: string;
  /** The `text` block right after it. */
  readonly output: string | undefined;
}

const FENCED = /(?:^<!-- (.*) -->\n)?^```(\w+)\n([\s\S]*?)^```\n(?:```text\n([\s\S]*?)^```\n)?/gm;

export const BLOCKS: readonly Block[] = [...README.matchAll(FENCED)].map(
  ([, label, language, content, output]) => ({
    label,
    language: language!,
    content: content!,
    output,
  }),
);

export interface Command extends Block {
  /** `export` lines of the blocks before it. */
  readonly environment: string;
}

/** The shell blocks, in order. */
export function commands(): Command[] {
  let environment = '';
  const found: Command[] = [];
  for (const block of BLOCKS) {
    if (block.language !== 'sh') continue;
    found.push({ ...block, environment });
    environment += block.content
      .split('\n')
      .filter((line) => line.startsWith('export '))
      .map((line) => `${line}\n`)
      .join('');
  }
  return found;
}
