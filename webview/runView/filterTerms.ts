/** Editing the terms of a filter (`RowsQuery.filter`) by click: what the histogram, the counts and the groups do. */

function terms(filter: string): string[] {
  return filter.match(/-?"[^"]*"?|[^\s"]+(?:"[^"]*"?)?/g) ?? [];
}

/** What a term is about: the part before `:`, `<`, `>` or `=`. Text to find is about itself. */
function subject(term: string): string {
  return /^-?([a-z]+)[:<>=]/i.exec(term)?.[1]?.toLowerCase() ?? term;
}

/** The term for exactly this cause. */
export function causeTerm(code: string): string {
  return /^[\w.-]+$/.test(code) ? `cause=${code}` : `cause="${code.replaceAll('"', '')}"`;
}

/** Whether the filter has all of these terms. */
export function hasTerms(filter: string, wanted: readonly string[]): boolean {
  const present = terms(filter);
  return wanted.every((term) => present.includes(term));
}

/** The filter with these terms in place of others about the same; without them, if it had them all. */
export function toggleTerms(filter: string, wanted: readonly string[]): string {
  const subjects = new Set(wanted.map(subject));
  const rest = terms(filter).filter((term) => !subjects.has(subject(term)));
  return [...rest, ...(hasTerms(filter, wanted) ? [] : wanted)].join(' ');
}
