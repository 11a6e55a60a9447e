/** How often something was seen, by whom, when, and in which runs. */
export interface Sighting {
  count: number;
  first: number;
  last: number;
  readonly by: Set<string>;
  readonly runs: Set<number>;
}

const MAX_USERS = 12;

export function nothingYet(): Sighting {
  return { count: 0, first: Number.POSITIVE_INFINITY, last: 0, by: new Set(), runs: new Set() };
}

export function addTo(sum: Sighting, other: Sighting): void {
  sum.count += other.count;
  sum.first = Math.min(sum.first, other.first);
  sum.last = Math.max(sum.last, other.last);
  for (const name of other.by) if (sum.by.size < MAX_USERS) sum.by.add(name);
  for (const run of other.runs) sum.runs.add(run);
}

export function sumOf(sightings: Iterable<Sighting>): Sighting {
  const sum = nothingYet();
  for (const sighting of sightings) addTo(sum, sighting);
  return sum;
}

/** As it is kept in a file. */
export type StoredSighting = readonly [
  count: number,
  first: number,
  last: number,
  by: readonly string[],
  runs: readonly number[],
];

export const store = ({ count, first, last, by, runs }: Sighting): StoredSighting => [
  count,
  first,
  last,
  [...by],
  [...runs],
];

export const restore = ([count, first, last, by, runs]: StoredSighting): Sighting => ({
  count,
  first,
  last,
  by: new Set(by),
  runs: new Set(runs),
});
