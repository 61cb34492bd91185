/**
 * A strict reader of JSON that keeps nothing: it says where a text stops being JSON, or which member stands at an
 * offset. It runs only for refusals, so that these name a place without quoting the body.
 */
export interface Place {
  /** UTF-16 offset of the fault, or the length of the text when it is JSON throughout. */
  readonly offset: number;
  /** Path of the innermost value being read there, as `$.messages[0].content`. */
  readonly path: string;
}

/** Follows `text` until it is not JSON any more, or until a value or key ends after `target`. */
export function locate(text: string, target: number, maximumDepth: number): Place {
  const path: (string | number)[] = [];
  let position = 0;

  function fault(): never {
    throw new Fault();
  }
  function space(): void {
    while (/[ \t\n\r]/.test(text.charAt(position)) && position < text.length) position++;
  }
  function string(): string {
    STRING.lastIndex = position;
    const match = STRING.exec(text);
    if (match === null) {
      PARTIAL_STRING.lastIndex = position;
      position += PARTIAL_STRING.exec(text)?.[0].length ?? 0;
      fault();
    }
    position += match[0].length;
    return match[0];
  }
  function value(depth: number): void {
    space();
    const start = text.charAt(position);
    if (start === '"') string();
    else if (start === '{' || start === '[') {
      if (depth >= maximumDepth) fault();
      position++;
      if (start === '{') object(depth + 1);
      else array(depth + 1);
    } else {
      SCALAR.lastIndex = position;
      const match = SCALAR.exec(text);
      if (match === null) fault();
      position += match[0].length;
    }
    if (position > target) fault();
    space();
  }
  function object(depth: number): void {
    space();
    if (text.charAt(position) === '}') {
      position++;
      return;
    }
    for (;;) {
      space();
      if (text.charAt(position) !== '"') fault();
      path.push(JSON.parse(string()) as string);
      if (position > target) fault();
      space();
      if (text.charAt(position) !== ':') fault();
      position++;
      value(depth);
      path.pop();
      const next = text.charAt(position);
      if (next !== ',' && next !== '}') fault();
      position++;
      if (next === '}') return;
    }
  }
  function array(depth: number): void {
    space();
    if (text.charAt(position) === ']') {
      position++;
      return;
    }
    for (let index = 0; ; index++) {
      path.push(index);
      value(depth);
      path.pop();
      const next = text.charAt(position);
      if (next !== ',' && next !== ']') fault();
      position++;
      if (next === ']') return;
    }
  }

  try {
    value(0);
    if (position < text.length) fault();
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
  }
  return { offset: position, path: pathText(path) };
}

class Fault extends Error {}

const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const PARTIAL_STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*/y;
const SCALAR = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const LONGEST_KEY = 64;
const LONGEST_PATH = 24;

/** `$.a[0]["b c"]`; keys that are long, or not plain names, are cut: the path names a place, it does not quote a body. */
export function pathText(path: readonly (string | number)[]): string {
  let text = '$';
  for (const step of path.slice(0, LONGEST_PATH)) {
    if (typeof step === 'number') text += `[${step}]`;
    else if (/^[A-Za-z_]\w*$/.test(step) && step.length <= LONGEST_KEY) text += `.${step}`;
    else
      text += `[${JSON.stringify(step.length <= LONGEST_KEY ? step : `${step.slice(0, LONGEST_KEY)}...`)}]`;
  }
  return path.length > LONGEST_PATH ? `${text}...` : text;
}
