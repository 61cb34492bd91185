import { writeSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { Tokenizer } from 'tokenizers';
import type { Judgement } from './judge.ts';

const { files, texts } = JSON.parse(await text(process.stdin)) as { files: string[]; texts: string[] };

async function judgeOne(file: string): Promise<Judgement> {
  let tokenizer: Tokenizer;
  try {
    tokenizer = Tokenizer.fromString(file);
  } catch {
    return null;
  }
  tokenizer.disableTruncation();
  tokenizer.disablePadding();
  const ids: (number[] | null)[] = [];
  for (const addSpecialTokens of [false, true])
    for (const each of texts)
      ids.push(
        await tokenizer.encode(each, null, { addSpecialTokens }).then(
          (encoding) => encoding.getIds(),
          () => null,
        ),
      );
  return ids;
}

for (const file of files) writeSync(1, `${JSON.stringify(await judgeOne(file))}\n`);
writeSync(1, 'end\n');
