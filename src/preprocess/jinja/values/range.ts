import { MAXIMUM_RANGE } from './limits.ts';
import { fail } from './render-error.ts';
import { PyObject, type Value } from './types.ts';

/** range(start, stop, step), bounded in length as in Jinja2's sandbox. */
export class Range extends PyObject {
  readonly typeName = 'range';
  readonly start: number;
  readonly stop: number;
  readonly step: number;
  readonly size: number;

  constructor(start: number, stop: number, step: number) {
    super();
    if (step === 0) fail('range() arg 3 must not be zero');
    this.start = start;
    this.stop = stop;
    this.step = step;
    this.size = Math.max(0, Math.ceil((stop - start) / step));
    if (this.size > MAXIMUM_RANGE)
      fail(`Range too big. The sandbox blocks ranges larger than ${MAXIMUM_RANGE}.`);
  }

  at(index: number): number {
    return this.start + index * this.step;
  }

  /** Place of `value`, -1 when it is none of the range's. */
  indexOf(value: number): number {
    const index = (value - this.start) / this.step;
    return Number.isInteger(index) && index >= 0 && index < this.size ? index + 0 : -1;
  }

  override truth(): boolean {
    return this.size > 0;
  }

  override length(): number {
    return this.size;
  }

  override *iterate(): Iterator<Value> {
    for (let index = 0; index < this.size; index++) yield this.at(index);
  }

  override repr(): string {
    return this.step === 1
      ? `range(${this.start}, ${this.stop})`
      : `range(${this.start}, ${this.stop}, ${this.step})`;
  }

  override attribute(name: string): Value | undefined {
    return name === 'start' || name === 'stop' || name === 'step' ? this[name] : undefined;
  }
}
