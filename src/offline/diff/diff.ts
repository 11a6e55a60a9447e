import { BEHAVIOUR_KINDS, type Behaviour, type BehaviourItem, type BehaviourKind } from "./behaviour.js";

/** How one kind of behaviour differs between two runs. */
export interface Changes {
  /** Only in the second. */
  readonly added: readonly BehaviourItem[];
  /** Only in the first. */
  readonly gone: readonly BehaviourItem[];
  /** In both, but in other ways: read before, written now. */
  readonly changed: readonly {
    readonly name: string;
    readonly before: readonly string[];
    readonly after: readonly string[];
    readonly detail: string;
  }[];
}

export type Difference = Readonly<Record<BehaviourKind, Changes>>;

/** What the second run did that the first did not, and the other way round. */
export function compare(before: Behaviour, after: Behaviour): Difference {
  return Object.fromEntries(
    BEHAVIOUR_KINDS.map((kind) => [kind, changesOf(before[kind], after[kind])]),
  ) as Difference;
}

function changesOf(
  before: ReadonlyMap<string, BehaviourItem>,
  after: ReadonlyMap<string, BehaviourItem>,
): Changes {
  const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1);
  return {
    added: [...after.values()].filter(({ name }) => !before.has(name)).sort(byName),
    gone: [...before.values()].filter(({ name }) => !after.has(name)).sort(byName),
    changed: [...after.values()]
      .flatMap(({ name, ways, detail }) => {
        const known = before.get(name);
        const fresh = known && ways.some((way) => !known.ways.includes(way));
        return fresh ? [{ name, before: known.ways, after: ways, detail }] : [];
      })
      .sort(byName),
  };
}

export function isEmpty(difference: Difference): boolean {
  return BEHAVIOUR_KINDS.every((kind) => {
    const { added, gone, changed } = difference[kind];
    return added.length + gone.length + changed.length === 0;
  });
}
