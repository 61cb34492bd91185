export { AsyncTokenizer } from './async-tokenizer.ts';
export { EpptokError } from './errors.ts';
export type { DetokenizeOptions, TokenizeOptions, TokenizerOptions } from './options.ts';
export type { Kind, Provenance, Timings } from './protocol/messages.ts';
export { STATUS, type StatusName } from './protocol/status.ts';
export type { RequestHook, RequestRecord } from './request-tracker.ts';
export type { TokenizeResult } from './result.ts';
export { Tokenizer } from './tokenizer.ts';
