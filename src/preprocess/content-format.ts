/** A node of a template's syntax tree: `type` and children under any other key. */
interface Node {
  readonly type: string;
  readonly [key: string]: unknown;
}

/**
 * Whether a template loops over the content of a message, as in `{% for part in message['content'] %}`. vLLM hands such a
 * template content as a list of parts, and every other one as a string.
 */
export function iteratesOverContent(program: unknown): boolean {
  const loops: Node[] = [];
  const assignments: Node[] = [];
  collect(program, loops, assignments);
  const messageLists = aliases(['messages'], assignments, (value, names) => readsName(value, names));
  const loopNames = loops
    .filter((loop) => readsName(loop.iterable, messageLists))
    .map((loop) => nameOf(loop.loopvar))
    .filter((name) => name !== undefined);
  if (loopNames.length === 0) return false;
  const messages = new Set(loopNames);
  const contents = aliases(
    [],
    assignments,
    (value, names) => readsContent(value, messages) || readsName(value, names),
  );
  return loops.some((loop) => readsContent(loop.iterable, messages) || readsName(loop.iterable, contents));
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof (value as Node).type === 'string';
}

function collect(value: unknown, loops: Node[], assignments: Node[]): void {
  if (Array.isArray(value)) {
    for (const item of value) collect(item, loops, assignments);
  } else if (isNode(value)) {
    if (value.type === 'For') loops.push(value);
    if (value.type === 'Set') assignments.push(value);
    for (const child of Object.values(value)) collect(child, loops, assignments);
  }
}

/** Names that an assignment makes stand for what `reads` recognises, until no more are found. */
function aliases(
  names: readonly string[],
  assignments: readonly Node[],
  reads: (value: unknown, names: ReadonlySet<string>) => boolean,
): ReadonlySet<string> {
  const found = new Set(names);
  let before = -1;
  while (before !== found.size) {
    before = found.size;
    for (const { assignee, value } of assignments) {
      const name = nameOf(assignee);
      if (name !== undefined && reads(value, found)) found.add(name);
    }
  }
  return found;
}

/** Filters, tests and slices change which elements there are, not what they are. */
function unwrap(value: unknown): unknown {
  if (!isNode(value)) return value;
  if (value.type === 'FilterExpression' || value.type === 'TestExpression') return unwrap(value.operand);
  if (value.type === 'SelectExpression') return unwrap(value.lhs);
  if (
    value.type === 'MemberExpression' &&
    isNode(value.property) &&
    value.property.type === 'SliceExpression'
  ) {
    return unwrap(value.object);
  }
  return value;
}

function nameOf(value: unknown): string | undefined {
  return isNode(value) && value.type === 'Identifier' ? String(value.value) : undefined;
}

function readsName(value: unknown, names: ReadonlySet<string>): boolean {
  const name = nameOf(unwrap(value));
  return name !== undefined && names.has(name);
}

function readsContent(value: unknown, messages: ReadonlySet<string>): boolean {
  const node = unwrap(value);
  if (!isNode(node) || node.type !== 'MemberExpression' || !isNode(node.property)) return false;
  return node.property.value === 'content' && readsName(node.object, messages);
}
