/** Of small calls, in microseconds. */
export interface Latency {
  readonly calls: number;
  readonly p50: number;
  readonly p99: number;
  readonly longest: number;
}

export const DOORS = ['socket', 'direct', 'AsyncTokenizer', 'Tokenizer'] as const;
export type DoorName = (typeof DOORS)[number];

/** How the one caller of small prompts makes its calls. */
export const PACES = { '500/s': 500, 'back to back': 0 } as const;
export type Pace = keyof typeof PACES;

/** What goes on meanwhile: nothing, a foreign process that computes without end on one core, or the stream of large prompts. */
export const COMPANIES = ['alone', 'busy core', 'large prompts'] as const;
export type Company = (typeof COMPANIES)[number];

export interface Measured {
  readonly door: DoorName;
  readonly pace: Pace;
  readonly company: Company;
  readonly round: number;
  readonly latency: Latency;
}
