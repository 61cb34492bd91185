/**
 * Every outcome of a call: one table feeds the names, the numbers and the texts. Append-only; 0 to 7 keep the numbers of
 * Dynamo's QueryRouterResult. A test holds it equal to include/epptok.h and to the library's own table.
 */
export const STATUS_TABLE = [
  ['OK', 0, 'success'],
  ['INVALID_HANDLE', 1, 'the handle is closed, stale, NULL, or belongs to the parent of a fork'],
  ['INVALID_ARGUMENT', 2, 'an argument or option of the call is not valid'],
  ['INIT_FAILED', 3, 'the runtime or a model could not be started'],
  ['TOKENIZE_FAILED', 4, 'the encoder failed on a valid request'],
  ['TIMEOUT', 6, 'the deadline passed before an answer came'],
  ['BACKPRESSURE', 7, 'a queue is full'],
  ['CANCELLED', 8, 'the call was cancelled'],
  ['UNSUPPORTED', 9, 'the request or model uses a construct that cannot be done exactly'],
  ['INVALID_REQUEST', 10, 'the body is not a valid request'],
  ['NOT_READY', 11, 'the models are still loading'],
  ['UNKNOWN_MODEL', 12, 'no model of that name is loaded'],
  ['CONTEXT_TOO_LONG', 13, 'the prompt does not fit the context length of the model'],
  ['UNAVAILABLE', 14, 'the runtime is lost; to retry is safe'],
  ['SHUTTING_DOWN', 15, 'the handle or the runtime is being closed'],
  ['ABI_MISMATCH', 16, 'header, library and runtime do not fit together'],
  ['OUT_OF_MEMORY', 17, 'memory ran out'],
  ['BUFFER_TOO_SMALL', 18, 'the buffer is too small for the ids'],
  ['INTERNAL', 19, 'a defect of epptok; please report it'],
] as const;

export type StatusName = (typeof STATUS_TABLE)[number][0];

/** Number of each status, by name. */
export const STATUS = Object.freeze(
  Object.fromEntries(STATUS_TABLE.map(([name, code]) => [name, code])),
) as Readonly<Record<StatusName, number>>;

const NAMES = new Map<number, StatusName>(STATUS_TABLE.map(([name, code]) => [code, name]));

/** Name of a status number; a number that is none is a defect of whoever sent it. */
export function statusName(code: number): StatusName {
  return NAMES.get(code) ?? 'INTERNAL';
}

/** A failure as a value: a status and a message that names the culprit, never quoting what the user typed. */
export interface Fault {
  readonly status: StatusName;
  readonly message: string;
}

export type Outcome<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly fault: Fault };

export function succeed<T>(value: T): Outcome<T> {
  return { ok: true, value };
}

export function fail(status: StatusName, message: string): { readonly ok: false; readonly fault: Fault } {
  return { ok: false, fault: { status, message } };
}
