import { dirname } from "node:path";
import { counted } from "../../nouns/counted.js";
import { HermesError } from "../../nouns/errors.js";
import { isAtOrBelow } from "../../nouns/path.js";
import type { Policy, ReadRules } from "../../policy/policy.js";
import type { Mask } from "../binding/fence-plan.js";
import { rawDevices } from "./devices.js";
import { findFiles, namedPaths } from "./find-files.js";
import { ANY_NAME, type HiddenFile, hiddenFiles } from "./hidden-files.js";
import { type MaskedFile, masksOf } from "./masks.js";
import type { NameMemory } from "./name-scan.js";

/** What a program behind a fence sees of the files. */
export interface VisiblePlaces {
  /** Folders that are its own: they start empty. */
  readonly own: readonly string[];
  /** Folders that become its own where a rule refuses the files of others there. */
  readonly mayBeOwn?: readonly string[];
  /** Folders and files below those that it sees all the same. */
  readonly exposed: readonly string[];
  readonly home?: string;
  /** It sees the machine's own /dev. */
  readonly devices?: boolean;
  /** It is root with capabilities and can list every folder, so a mask may hold no names. */
  readonly listsAll?: boolean;
}

/** Each takes the kernel some ten microseconds at the start. */
const MAX_HIDDEN = 5000;
/** They are looked at every few milliseconds. */
const MAX_WATCHED = 500;
const MAX_WATCHED_FOLDERS = 20;

/** A file that the program looked for although a rule hides it. */
type LookedFor = Required<MaskedFile>;

/** A policy, with its rules on reading files if mounts can hold them. */
interface Examined {
  readonly policy: Policy;
  readonly rules: ReturnType<NonNullable<Policy["readRules"]>> | undefined;
}

/** Carries out orders about masks in the running program's namespaces. A byte for each: the program has looked for it. */
type ChangeMasks = (masks: readonly Mask[]) => Uint8Array;

/**
 * The part of the policies that mounts hold: rules that refuse to read files by path alone. Each file that they refuse
 * now is hidden before the program starts. So reading needs no stop, cannot be raced, and costs nothing.
 *
 * A file that another program creates or renames after that is not hidden. The program itself cannot make one: a call that
 * creates a name still stops, where the policies refuse to write to that name.
 */
export class View {
  /** Of the folders that may be its own, those that are. */
  readonly own: readonly string[];
  /** The launcher's orders at the start of the program. */
  readonly masks: readonly Mask[];
  readonly #masked: readonly MaskedFile[];
  readonly #places: VisiblePlaces;
  readonly #memory: NameMemory;
  #examined: readonly Examined[];
  #hidden: readonly HiddenFile[];
  #hasLinks: boolean;
  /** Those that were hidden after the start, and those of them that the program had looked for when they were taken away. */
  #later: readonly HiddenFile[] = [];
  readonly #lookedFor: LookedFor[] = [];

  private constructor(
    examined: readonly Examined[],
    { hidden, hasLinks }: Found,
    places: VisiblePlaces,
    memory: NameMemory,
  ) {
    this.#places = places;
    this.#memory = memory;
    this.#examined = examined;
    this.#hidden = hidden;
    this.#hasLinks = hasLinks;
    this.own = ownOf(examined, places);
    const devices = places.devices ? rawDevices().map((path): HiddenFile => ({ path })) : [];
    const { masks, files } = masksOf([...hidden, ...devices]);
    this.masks = masks;
    this.#masked = files;
  }

  /**
   * The view of these policies. Undefined where no rule on reading depends on the path alone (hermes policy explain --tiers);
   * or why the files cannot be found. Then every reading of a file is decided.
   */
  static of(
    policies: readonly Policy[],
    places: VisiblePlaces,
    memory: NameMemory,
  ): View | { readonly why: string } | undefined {
    const examined = policies.map((policy) => examine(policy, places));
    if (!examined.some(({ rules }) => isHeld(rules) && rules.patterns.length > 0)) return undefined;
    const found = find(examined, places, memory);
    return "why" in found ? found : new View(examined, found, places, memory);
  }

  /** The policies, without the stops that the view makes needless. */
  get policies(): readonly Policy[] {
    return this.#examined.map((one) => released(one, this.#hasLinks));
  }

  /** How many files and folders are hidden. */
  get size(): number {
    return this.#hidden.length;
  }

  /**
   * Policies that take over while the program runs, without the stops that the view makes needless. `hold` makes the view
   * theirs: all of it, or it throws and nothing has changed.
   */
  adopt(next: readonly Policy[]): { policies: readonly Policy[]; hold(change: ChangeMasks): void } {
    const examined = next.map((policy) => examine(policy, this.#places));
    if (ownOf(examined, this.#places).join() !== this.own.join())
      throw unavailable(`the folders ${this.#places.mayBeOwn} are or are not the run's own from its start`);
    const found = find(examined, this.#places, this.#memory);
    if ("why" in found) throw unavailable(found.why);
    const policies = examined.map((one) => released(one, found.hasLinks));
    return { policies, hold: (change) => this.#become(examined, found, change) };
  }

  #become(examined: readonly Examined[], { hidden, hasLinks }: Found, change: ChangeMasks): void {
    const fresh = hidden.filter((one) => !this.#hidden.some((old) => isSame(one, old)));
    const stale = this.#hidden.filter((old) => !hidden.some((one) => isSame(one, old)));
    this.#hasLinks = hasLinks;
    this.#examined = examined;
    if (fresh.length + stale.length === 0) return;
    // The mask of a file that was replaced went with the file.
    const orders = masksOf(stale.filter(({ path }) => !fresh.some((one) => one.path === path)));
    const taken = orders.masks.map((mask): Mask => ({ ...mask, order: "take" }));
    const seen = change(joined(taken, masksOf(fresh).masks));
    this.#lookedFor.push(...metOf(orders.files, seen));
    this.#later = [...this.#later.filter((one) => !stale.includes(one)), ...fresh];
    this.#hidden = [...this.#hidden.filter((old) => !stale.includes(old)), ...fresh];
  }

  /** Hides what has come since, or was put in the place of something hidden. Throws if that fails. */
  refresh(change: ChangeMasks): void {
    const found = find(this.#examined, this.#places, this.#memory);
    if ("why" in found) throw unavailable(found.why);
    if (found.hasLinks && !this.#hasLinks) throw unavailable("a link appeared that a rule is about");
    this.#become(this.#examined, { ...found, hasLinks: this.#hasLinks }, change);
  }

  /** A change at one of these paths is worth a refresh. */
  get watched(): readonly string[] {
    const { home, exposed } = this.#places;
    const folders = new Set([
      ...exposed,
      ...(home === undefined ? [] : [home]),
      ...this.#hidden.map(({ path }) => dirname(path)),
    ]);
    const patterns = this.#examined.flatMap(({ rules }) => (isHeld(rules) ? rules.patterns : []));
    const named = namedPaths(patterns, [...folders].slice(0, MAX_WATCHED_FOLDERS));
    return [...new Set([...this.#hidden.map(({ path }) => path), ...named])].slice(0, MAX_WATCHED);
  }

  /** The hidden files that the program looked for: `seen` has a byte for each mask of the start. */
  lookedFor(seen: Uint8Array, change: ChangeMasks): readonly LookedFor[] {
    const { masks, files } = masksOf(this.#later);
    const later =
      masks.length === 0 ? [] : metOf(files, change(masks.map((mask) => ({ ...mask, order: "look" }))));
    const all = [...metOf(this.#masked, seen), ...this.#lookedFor, ...later];
    return [...new Map(all.map((one) => [`${one.by.rule}\0${one.path}`, one])).values()];
  }
}

function unavailable(why: string): HermesError {
  return new HermesError("UNAVAILABLE", {
    what: "other rules on reading files",
    why: `${why}; start the run anew`,
  });
}

function isSame(one: HiddenFile, other: HiddenFile): boolean {
  return (
    one.path === other.path &&
    one.identity === other.identity &&
    one.by?.errno === other.by?.errno &&
    !one.files === !other.files
  );
}

/** Masks in folders name their folder by its place in the list. */
function joined(first: readonly Mask[], second: readonly Mask[]): Mask[] {
  const moved = second.map((mask) =>
    mask.folder === undefined ? mask : { ...mask, folder: mask.folder + first.length },
  );
  return [...first, ...moved];
}

function metOf(files: readonly MaskedFile[], seen: Uint8Array): LookedFor[] {
  return files.flatMap(({ path, by }, i) => (seen[i] === 1 && by ? [{ path, by }] : []));
}

interface Found {
  readonly hidden: readonly HiddenFile[];
  /** Rules refuse to read some symbolic link itself, which is decided at a door. */
  readonly hasLinks: boolean;
}

/** What is to be hidden now. */
function find(
  examined: readonly Examined[],
  places: VisiblePlaces,
  memory: NameMemory,
): Found | { readonly why: string } {
  const held = examined.flatMap(({ rules }) => (isHeld(rules) && rules.patterns.length > 0 ? [rules] : []));
  const seen = { ...places, own: [...places.own, ...ownOf(examined, places)] };
  const files = findFiles(
    held.flatMap(({ patterns }) => patterns),
    { ...seen, memory },
  );
  if ("why" in files) return files;
  const { hidden, hasLinks } = hiddenFiles(files.paths, {
    refusal: (path) => firstOf(held, ({ refusal }) => refusal(path)),
    refusesAll: (folder) =>
      firstOf(held, ({ refusal, excepts }) =>
        refusal(`${folder}/${ANY_NAME}`) && !excepts(folder) ? refusal(folder) : undefined,
      ),
    isVisible: (path) => isVisible(path, seen),
  });
  if (hidden.length > MAX_HIDDEN)
    return {
      why: `rules refuse ${counted(hidden.length, "file")}, more than the ${MAX_HIDDEN} that are hidden one by one`,
    };
  const shown = places.listsAll ? hidden.map((one) => (one.files ? { ...one, files: [] } : one)) : hidden;
  return { hidden: [...shown, ...files.unlisted.map((path): HiddenFile => ({ path, files: [] }))], hasLinks };
}

function examine(policy: Policy, { own, mayBeOwn = [], exposed }: VisiblePlaces): Examined {
  const isOwn = (path: string) =>
    [...own, ...mayBeOwn].some((folder) => isAtOrBelow(path, folder)) &&
    !exposed.some((shown) => isAtOrBelow(shown, path) || isAtOrBelow(path, shown));
  return { policy, rules: policy.readRules?.(isOwn) };
}

function ownOf(examined: readonly Examined[], { mayBeOwn = [] }: VisiblePlaces): string[] {
  const needed = examined.flatMap(({ rules }) => (isHeld(rules) ? rules.ownFolders : []));
  return mayBeOwn.filter((folder) => needed.some((path) => isAtOrBelow(path, folder)));
}

function isVisible(path: string, { own, exposed }: VisiblePlaces): boolean {
  return (
    !own.some((folder) => isAtOrBelow(path, folder)) || exposed.some((shown) => isAtOrBelow(path, shown))
  );
}

function isHeld(rules: Examined["rules"]): rules is ReadRules {
  return rules !== undefined && !("why" in rules);
}

function released({ policy, rules }: Examined, hasLinks: boolean): Policy {
  return isHeld(rules) ? rules.released(hasLinks) : policy;
}

function firstOf<T, R>(list: readonly T[], look: (one: T) => R | undefined): R | undefined {
  for (const one of list) {
    const found = look(one);
    if (found !== undefined) return found;
  }
  return undefined;
}
