import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Tokenizer } from '@huggingface/tokenizers';
import { Piscina, workerData } from 'piscina';

const read = (name) => JSON.parse(readFileSync(join(workerData, name), 'utf8'));
const library = new Tokenizer(read('tokenizer.json'), read('tokenizer_config.json'));

// piscina asks for the default export of the file it is given.
// biome-ignore lint/style/noDefaultExport: the tool demands it
export default (text) =>
  Piscina.move(Uint32Array.from(library.encode(Buffer.from(text).toString('utf8')).ids));
