/** Filters of Jinja2 whose result is random, or HTML made of what looks like links. */
const REFUSED_FILTERS: ReadonlySet<string> = new Set(['random', 'urlize']);
const REFUSED_GLOBALS: ReadonlySet<string> = new Set(['lipsum', 'self', 'super']);

/** How to name the filter when it is one that Jinja2 has and this runtime does not. */
export function filterRefusal(name: string): string | undefined {
  return REFUSED_FILTERS.has(name) ? `filter ${name}` : undefined;
}

export function globalRefusal(name: string): string | undefined {
  return REFUSED_GLOBALS.has(name) ? `global ${name}` : undefined;
}
