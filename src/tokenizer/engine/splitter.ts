import { SENTINEL } from './classes.ts';
import { type Crossings, nextCharacterCut } from './crossings.ts';
import { createRegexSplit, type RegexSplitStep } from './regex-split.ts';
import { type Cl100kShape, cl100kScanner } from './scanners/cl100k.ts';
import { deepseekScanner, hanScanner, thirdPass } from './scanners/deepseek.ts';
import { gpt2Scanner } from './scanners/gpt2.ts';
import { type O200kShape, o200kScanner } from './scanners/o200k.ts';
import type { Scanner } from './scanners/scanner.ts';
import { digitsScanner, metaspaceScanner, numberScanner, wholeScanner } from './scanners/splits.ts';
import type { SectionEncoder } from './section-encoder.ts';
import { findBytes, TextBuffer } from './text-buffer.ts';

/** A scanner by name, so that a table of steps can be posted to a worker. `crossings`: at every certain cut. */
export type ScannerName =
  | { readonly scan: 'gpt2' | 'han' | 'metaspace' | 'whole' | 'crossings' }
  /** The third pass of deepseek; all three where numbers are split by up to `digits`, other than 0. */
  | { readonly scan: 'deepseek'; readonly digits: number }
  | ({ readonly scan: 'cl100k' } & Cl100kShape)
  | ({ readonly scan: 'o200k' } & O200kShape)
  | { readonly scan: 'numbers'; readonly most: number }
  | { readonly scan: 'digits'; readonly individual: boolean };

/** One step of pretokenization. Each splits, or changes, what the step before it left. */
export type SplitterStep =
  | ScannerName
  | RegexSplitStep
  /** A space before a section that has none; `firstOnly`: only where the section starts the text. */
  | { readonly prepend: 'space'; readonly firstOnly: boolean }
  /** U+2581 becomes a space: from here on a space stands for both. */
  | { readonly fold: 'U+2581' };

/** Splits sections into words and gives them to the word encoder. */
export type Splitter = {
  /** `textStart`: the section starts the text. The text keeps its bytes; the one after `end` is lent to a sentinel. */
  split(text: TextBuffer, start: number, end: number, textStart: boolean): void;
};

/** `crossings` of the model, for the scanner of that name. */
export function createScanner(name: ScannerName, classes: Uint8Array, crossings: Crossings | null): Scanner {
  switch (name.scan) {
    case 'gpt2':
      return gpt2Scanner(classes);
    case 'cl100k':
      return cl100kScanner(classes, name);
    case 'o200k':
      return o200kScanner(classes, name);
    case 'numbers':
      return numberScanner(classes, name.most);
    case 'han':
      return hanScanner();
    case 'deepseek':
      return name.digits === 0 ? thirdPass(classes) : deepseekScanner(classes, name.digits);
    case 'digits':
      return digitsScanner(classes, name.individual);
    case 'metaspace':
      return metaspaceScanner();
    case 'whole':
      return wholeScanner();
    case 'crossings':
      if (crossings === null) return wholeScanner();
      return (bytes, at) => nextCharacterCut(crossings, bytes, at, bytes.length);
  }
}

/** The last step must be a scanner: its words are encoded. */
export function createSplitter(
  steps: readonly SplitterStep[],
  crossings: Crossings | null,
  classes: Uint8Array,
  sections: SectionEncoder,
): Splitter {
  const [step, ...rest] = steps;
  if (step === undefined) throw new TypeError('A splitter needs a scanner');
  if ('prepend' in step)
    return prependSpace(step.firstOnly, createSplitter(rest, crossings, classes, sections));
  if ('fold' in step) return foldSpaces(createSplitter(rest, crossings, classes, sections));
  if ('regex' in step) return splitByRegex(step, createSplitter(rest, crossings, classes, sections));
  const scan = createScanner(step, classes, crossings);
  if (rest.length === 0) return { split: (text, start, end) => sections.encode(text, scan, start, end) };
  const inner = createSplitter(rest, crossings, classes, sections);
  return {
    split(text, start, end, textStart) {
      const { bytes } = text;
      const saved = bytes[end]!;
      bytes[end] = SENTINEL;
      for (let at = start; at < end; ) {
        const next = scan(bytes, at);
        inner.split(text, at, next, textStart && at === start);
        at = next;
      }
      bytes[end] = saved;
    },
  };
}

function prependSpace(firstOnly: boolean, inner: Splitter): Splitter {
  const copy = new TextBuffer(1 << 10);
  return {
    split(text, start, end, textStart) {
      if (text.bytes[start] === 0x20 || (firstOnly && !textStart))
        return inner.split(text, start, end, textStart);
      copy.length = 0;
      copy.appendText(' ');
      copy.appendBytes(text.bytes.subarray(start, end));
      inner.split(copy, 0, copy.length, textStart);
    },
  };
}

function foldSpaces(inner: Splitter): Splitter {
  const copy = new TextBuffer(1 << 10);
  const marker = Buffer.from('\u2581');
  return {
    split(text, start, end, textStart) {
      let found = findBytes(text, marker, start, end);
      if (found < 0) return inner.split(text, start, end, textStart);
      copy.length = 0;
      let kept = start;
      for (; found >= 0; found = findBytes(text, marker, kept, end)) {
        copy.appendBytes(text.bytes.subarray(kept, found));
        copy.appendText(' ');
        kept = found + marker.length;
      }
      copy.appendBytes(text.bytes.subarray(kept, end));
      inner.split(copy, 0, copy.length, textStart);
    },
  };
}

function splitByRegex(step: RegexSplitStep, inner: Splitter): Splitter {
  const split = createRegexSplit(step);
  return {
    split(text, start, end, textStart) {
      const bounds = split(text, start, end);
      for (let k = 0; k < bounds.length; k += 2)
        inner.split(text, bounds[k]!, bounds[k + 1]!, textStart && bounds[k] === start);
    },
  };
}
