import type { CallSubject, Response } from '../protocol/messages.ts';
import type { Fault } from '../protocol/status.ts';
import type { LineEnd } from './line.ts';

/** From a blocking door to its secondary runtime. Calls do not go this way: they are posted on the lines to the workers. */
export type ToRuntime =
  /** For the metrics: a call that no worker has answered. */
  | { readonly type: 'unserved'; readonly call: CallSubject; readonly response: Response }
  | { readonly type: 'stats'; readonly id: number }
  /** Serve this native host from now on. Its service threads start now, or when somebody waits in its queue. */
  | { readonly type: 'serve-host'; readonly host: number; readonly startServices: boolean }
  | { readonly type: 'close' };

/** From the secondary runtime to the door. */
export type FromRuntime =
  /** A worker is there, or is starting: calls may be posted on this line. */
  | { readonly type: 'line'; readonly line: number; readonly end: LineEnd }
  /** The worker at the other end of a line has died. */
  | { readonly type: 'line-lost'; readonly line: number; readonly message: string }
  | { readonly type: 'stats'; readonly id: number; readonly text: string }
  | { readonly type: 'failed'; readonly fault: Fault };
