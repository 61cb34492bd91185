// The same from code that cannot await, and the text of the ids again: node blocking.js DIRECTORY
import { readFileSync } from 'node:fs';
import { Tokenizer } from 'epptok';

const tokenizer = new Tokenizer({ model: process.argv[2] });
const { ids } = tokenizer.tokenize({ body: readFileSync(0), timeoutMs: 2000 });
console.log(`${ids.length} ids: ${JSON.stringify(tokenizer.detokenize({ ids }).slice(-30))}`);
tokenizer.close();
