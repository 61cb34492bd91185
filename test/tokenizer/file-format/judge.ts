import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** What the Rust library makes of a file: ids of each text, without and with special tokens; null where it refuses. */
export type Judgement = readonly (readonly number[] | null)[] | null;

/**
 * The Rust library's judgement of each file. It runs in a process of its own, since some files make it abort: such a file counts
 * as refused, and another process goes on with the next.
 */
export async function judge(files: readonly string[], texts: readonly string[]): Promise<Judgement[]> {
  const judgements: Judgement[] = [];
  let ends = 0;
  while (judgements.length < files.length) {
    const before = judgements.length;
    const child = spawn(
      process.execPath,
      ['--import', 'tsx', fileURLToPath(import.meta.resolve('./judge-process.ts'))],
      {
        stdio: ['pipe', 'pipe', 'ignore'],
      },
    );
    child.stdin.on('error', () => {});
    child.stdin.end(JSON.stringify({ files: files.slice(judgements.length), texts }));
    const exit = once(child, 'exit');
    let ended = false;
    for await (const line of createInterface({ input: child.stdout })) {
      if (line === 'end') ended = true;
      else judgements.push(JSON.parse(line) as Judgement);
    }
    await exit;
    // It may have ended for another reason: a file makes it abort if it does so twice.
    ends = ended ? 0 : judgements.length > before ? 1 : ends + 1;
    if (ends < 2) continue;
    judgements.push(null);
    ends = 0;
  }
  return judgements;
}
