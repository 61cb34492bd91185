import { basename, resolve } from 'node:path';
import type { ModelSpec } from './model.ts';

/**
 * `directory` or `name=directory`, as command lines and options give models. Without a name, the directory's last part is the
 * name. A path that holds '=' needs a name in front.
 */
export function modelSpecs(
  models: readonly string[],
  shared: Omit<ModelSpec, 'name' | 'directory'>,
): ModelSpec[] {
  return models.map((model) => {
    const equals = model.indexOf('=');
    const directory = resolve(model.slice(equals + 1));
    return { ...shared, name: equals > 0 ? model.slice(0, equals) : basename(directory), directory };
  });
}
