import type { TextBuffer } from './text-buffer.ts';

/** What becomes of matches, and of what is between them. */
export type SplitBehavior = 'Isolated' | 'Removed' | 'MergedWithPrevious' | 'MergedWithNext' | 'Contiguous';

export type RegexSplitStep = {
  /** JavaScript pattern, flags `gu`. */
  readonly regex: string;
  readonly behavior: SplitBehavior;
  /** Matches and what is between them change places. */
  readonly invert: boolean;
};

type Span = { start: number; end: number; match: boolean };

/**
 * Splits by a regular expression, for patterns that have no scanner: several times slower, and the same pieces.
 * Returns the start and end of each piece, in bytes of `text`.
 */
export function createRegexSplit(
  step: RegexSplitStep,
): (text: TextBuffer, start: number, end: number) => number[] {
  const regex = new RegExp(step.regex, 'gu');
  return (text, start, end) => {
    const section = text.buffer.toString('utf8', start, end);
    const spans = pieces(matchSpans(regex, section, step.invert), step.behavior);
    const bounds: number[] = [];
    let at = start;
    let unit = 0;
    const advance = (to: number): number => {
      at += Buffer.byteLength(section.slice(unit, to));
      unit = to;
      return at;
    };
    for (const span of spans) bounds.push(advance(span.start), advance(span.end));
    return bounds;
  };
}

/** Matches and what is between them, in UTF-16 units, without empty ones. */
function matchSpans(regex: RegExp, section: string, invert: boolean): Span[] {
  const spans: Span[] = [];
  let last = 0;
  regex.lastIndex = 0;
  for (let found = regex.exec(section); found !== null; found = regex.exec(section)) {
    if (found.index > last) spans.push({ start: last, end: found.index, match: invert });
    last = found.index + found[0].length;
    spans.push({ start: found.index, end: last, match: !invert });
  }
  if (last < section.length) spans.push({ start: last, end: section.length, match: invert });
  return spans;
}

function pieces(spans: Span[], behavior: SplitBehavior): Span[] {
  switch (behavior) {
    case 'Isolated':
      return spans;
    case 'Removed':
      return spans.filter((span) => !span.match);
    case 'Contiguous':
      return merge(spans, (span, before) => span.match === before);
    case 'MergedWithPrevious':
      return merge(spans, (span, before) => span.match && !before);
    case 'MergedWithNext':
      return merge(spans.reverse(), (span, before) => span.match && !before).reverse();
  }
}

/** Joins a span to the one before it where `joins`; `before` tells whether that one was a match, false at first. */
function merge(spans: readonly Span[], joins: (span: Span, before: boolean) => boolean): Span[] {
  const result: Span[] = [];
  let before = false;
  for (const span of spans) {
    const last = result.at(-1);
    if (last !== undefined && joins(span, before)) {
      last.start = Math.min(last.start, span.start);
      last.end = Math.max(last.end, span.end);
    } else result.push({ ...span });
    before = span.match;
  }
  return result;
}
