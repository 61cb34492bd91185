// The token ids of one request body, read from standard input: node tokenize.js DIRECTORY
import { readFileSync } from 'node:fs';
import { AsyncTokenizer, EpptokError } from 'epptok';

const tokenizer = await AsyncTokenizer.create({ model: process.argv[2], threads: 2 });
try {
  const { ids, provenance, prompt } = await tokenizer.tokenize({
    body: readFileSync(0),
    timeoutMs: 2000,
    prompt: true,
  });
  console.log(`${ids.length} ids, ${provenance}: ${ids.slice(0, 4).join(' ')} ...`);
  if (prompt !== undefined) console.log(JSON.stringify(prompt.slice(-30))); // none for a prompt of token ids
} catch (error) {
  if (!(error instanceof EpptokError)) throw error;
  console.error(error.code === 'BACKPRESSURE' ? 'saturated: route by load' : error.message);
  process.exitCode = 1;
} finally {
  await tokenizer.close();
}
