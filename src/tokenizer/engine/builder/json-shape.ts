/** A construct that the engine does not do: the message names it as it stands in the file. */
export class Refusal {
  readonly construct: string;
  constructor(construct: string) {
    this.construct = construct;
  }
}

export type JsonObject = { readonly [key: string]: unknown };

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `{"type": X, "<list>": [...]}` flattened to its members, of any depth; a null value has none. */
export function flattenSequence(value: unknown, list: string): JsonObject[] | Refusal {
  if (value === null || value === undefined) return [];
  if (!isObject(value)) return new Refusal(`${list} that is no object`);
  if (value.type !== 'Sequence') return [value];
  if (!Array.isArray(value[list])) return new Refusal(`a Sequence without ${list}`);
  const members: JsonObject[] = [];
  for (const member of value[list]) {
    const inner = flattenSequence(member, list);
    if (inner instanceof Refusal) return inner;
    members.push(...inner);
  }
  return members;
}
