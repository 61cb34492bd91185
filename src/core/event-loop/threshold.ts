import { fail, type Outcome, succeed } from '../../protocol/status.ts';

/** The environment variable that turns the stall trace on, in every process that runs this library. */
const STALL_TRACE_VARIABLE = 'EPPTOK_STALL_TRACE_MS';

/** Milliseconds from the environment; 0, without the variable: no trace. */
export function stallThreshold(environment: NodeJS.ProcessEnv): Outcome<number> {
  const text = environment[STALL_TRACE_VARIABLE] ?? '';
  return /^\d{0,9}$/.test(text)
    ? succeed(Number(text))
    : fail('INVALID_ARGUMENT', `${STALL_TRACE_VARIABLE} must be a whole number of milliseconds`);
}
