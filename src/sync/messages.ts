import type { Deadline } from '../protocol/deadline.ts';
import type { Request, Response } from '../protocol/messages.ts';
import type { Fault } from '../protocol/status.ts';

/** From a blocking door to its secondary runtime. `id` names the call, so that a late reply is known as such. */
export type ToRuntime =
  | { readonly type: 'call'; readonly id: number; readonly request: Request; readonly deadline: Deadline }
  | { readonly type: 'abandon'; readonly id: number; readonly status: 'TIMEOUT' | 'CANCELLED' }
  | { readonly type: 'stats'; readonly id: number }
  /** Serve this native host from now on. Its service threads start now, or when somebody waits in its queue. */
  | { readonly type: 'serve-host'; readonly host: number; readonly startServices: boolean }
  | { readonly type: 'close' };

/** From the secondary runtime to the door. */
export type FromRuntime =
  | { readonly type: 'reply'; readonly id: number; readonly response: Response }
  | { readonly type: 'failed'; readonly fault: Fault };
