import { type Fault, STATUS, type StatusName } from './protocol/status.ts';

/** The one error class. `code` is the status name (`'TIMEOUT'`), `status` its number as in include/epptok.h. */
export class EpptokError extends Error {
  override readonly name = 'EpptokError';
  readonly code: StatusName;
  readonly status: number;

  constructor({ status, message }: Fault) {
    super(message);
    this.code = status;
    this.status = STATUS[status];
  }
}
