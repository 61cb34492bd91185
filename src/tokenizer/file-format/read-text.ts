import { fail, type Outcome } from '../../protocol/status.ts';
import { scanTokenizer } from '../engine/index.ts';
import { JsonFault, type JsonReading } from '../json-reader.ts';
import { readTokenizerJson, type TokenizerJson } from '../tokenizer-json.ts';
import { findFormatFault } from './tokenizer-file.ts';

/**
 * Reads the text of a tokenizer.json. What the Rust library refuses is refused, with the place of the fault: to serve such a file
 * would be to give ids of a model that no engine can load. `where` names the file in a failure, which is INIT_FAILED.
 */
export function readTokenizerText(text: string, where: string): Outcome<TokenizerJson> {
  let reading: JsonReading;
  try {
    reading = scanTokenizer(text);
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error;
    if (error.path === undefined) return fail('INIT_FAILED', `${where} is ${error.message}`);
    return fail('INIT_FAILED', `${where}: ${placeText(error.path)} ${error.message}`);
  }
  const found = findFormatFault(reading);
  if (found === undefined) return readTokenizerJson(reading.value, where);
  return fail(
    'INIT_FAILED',
    found.path.length === 0
      ? `${where}: not a JSON object`
      : `${where}: ${placeText(found.path)} ${found.what}`,
  );
}

const LONGEST_KEY = 40;

/** `"model.vocab"`, `"added_tokens[3].id"`; of a long key only the start. */
function placeText(path: readonly (string | number)[]): string {
  const steps = path.map((step, index) => {
    if (typeof step === 'number') return `[${step}]`;
    const key = step.length > LONGEST_KEY ? `${step.slice(0, LONGEST_KEY).toWellFormed()}...` : step;
    return index === 0 ? key : `.${key}`;
  });
  return path.length === 0 ? 'it' : JSON.stringify(steps.join(''));
}
