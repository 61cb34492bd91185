// A C plugin in this process, given the same tokenizer as an `epptok *`: node plugin.js PLUGIN DIRECTORY
import { Tokenizer } from 'epptok';
import koffi from 'koffi';

const tokenizer = new Tokenizer({ model: process.argv[3] });
const handle = tokenizer.nativeHandle; // loads libepptok, which the plugin then finds
const plugin = koffi.load(process.argv[2]);
const countTokens = plugin.func('int64_t count_tokens(uint64_t handle, const char *text)');
console.log(`${countTokens(handle, 'Grüezi mitenand')} tokens`);
tokenizer.close();
