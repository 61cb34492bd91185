import type { StatusName } from '../protocol/status.ts';

/** Thrown by an encoder that would otherwise return wrong ids; the message names the cause, never the text. */
export class EncodeError extends Error {
  readonly status: StatusName;

  constructor(message: string, status: StatusName = 'TOKENIZE_FAILED') {
    super(message);
    this.status = status;
  }
}
