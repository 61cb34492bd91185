import { basename, resolve } from 'node:path';
import { fail, type Outcome, succeed } from '../protocol/status.ts';
import type { ModelSpec } from './model.ts';

/**
 * `directory` or `name=directory`, as command lines and options give models. Without a name, the directory's last part is the
 * name. A path that holds '=' needs a name in front. No two models may have one name.
 */
export function modelSpecs(
  models: readonly string[],
  shared: Omit<ModelSpec, 'name' | 'directory'>,
): Outcome<readonly ModelSpec[]> {
  const specs = new Map<string, ModelSpec>();
  for (const model of models) {
    const equals = model.indexOf('=');
    const path = model.slice(equals + 1);
    if (path === '' || equals === 0) {
      return fail('INVALID_ARGUMENT', `model "${model}" is neither a directory nor name=directory`);
    }
    const directory = resolve(path);
    const name = equals > 0 ? model.slice(0, equals) : basename(directory);
    if (specs.has(name)) {
      return fail('INVALID_ARGUMENT', `two models are named "${name}": give names, as in other=${path}`);
    }
    specs.set(name, { ...shared, name, directory });
  }
  return specs.size > 0 ? succeed([...specs.values()]) : fail('INVALID_ARGUMENT', 'no model is given');
}
