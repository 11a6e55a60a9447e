import { dirname } from "node:path";
import { counted } from "../../nouns/counted.js";
import { HermesError } from "../../nouns/errors.js";
import { isAtOrBelow } from "../../nouns/path.js";
import type { HeldByView, IsOwn, NotStatic, OpenFileRules, Policy, ReadRules } from "../../policy/policy.js";
import type { Mask, MountChange } from "../binding/fence-plan.js";
import { changeablePlaces, changesBetween } from "./changeable.js";
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
  /** The only folders outside its own that are not read-only; undefined: the view's rules on open files say which. */
  readonly writable?: readonly string[];
  /** Files that were opened outside and are handed over to the program. */
  readonly handedOver?: readonly string[];
  /** Files that the program may not change in any way. */
  readonly kept?: readonly string[];
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

/** Carries out orders in the running program's namespaces. A byte for each mask: the program has looked for it. */
type ChangeView = (masks: readonly Mask[], mounts?: readonly MountChange[]) => Uint8Array;

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
  #openFiles: OpenFileRules | NotStatic;
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
    this.#openFiles = this.#changeable(examined);
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
    return this.#examined.map((one) => released(one, this.#heldWith(this.#hasLinks)));
  }

  /** Folders and files from outside that lie in folders of the run's own, outer ones first. */
  get exposedInOwn(): readonly string[] {
    const isInside = (path: string) =>
      this.own.some((folder) => folder !== path && isAtOrBelow(path, folder));
    return [...new Set(this.#places.exposed)].filter(isInside).sort((a, b) => a.length - b.length);
  }

  /** How many files and folders are hidden, and which ones may be changed. */
  get report(): {
    readonly hiddenFiles: number;
    readonly changeable?: readonly string[];
    readonly openFilesDecided?: string;
  } {
    const hiddenFiles = this.#hidden.length;
    if ("why" in this.#openFiles) return { hiddenFiles, openFilesDecided: this.#openFiles.why };
    const { changeable } = this.#openFiles;
    return changeable ? { hiddenFiles, changeable } : { hiddenFiles };
  }

  /**
   * Policies that take over while the program runs, without the stops that the view makes needless. `hold` makes the view
   * theirs: all of it, or it throws and nothing has changed.
   */
  adopt(next: readonly Policy[]): { policies: readonly Policy[]; hold(change: ChangeView): void } {
    const examined = next.map((policy) => examine(policy, this.#places));
    if (ownOf(examined, this.#places).join() !== this.own.join())
      throw unavailable(`the folders ${this.#places.mayBeOwn} are or are not the run's own from its start`);
    const found = find(examined, this.#places, this.#memory);
    if ("why" in found) throw unavailable(found.why);
    const openFiles = this.#changeable(examined);
    const mounts = this.#changesFor(openFiles);
    const policies = examined.map((one) => released(one, this.#heldWith(found.hasLinks)));
    return {
      policies,
      hold: (change) => {
        this.#become(examined, found, change, mounts);
        if (!("why" in this.#openFiles)) this.#openFiles = openFiles;
      },
    };
  }

  /** Where files may be changed by their descriptors, or why that is decided at each call. */
  get openFiles(): OpenFileRules | NotStatic {
    return this.#openFiles;
  }

  #changeable(examined: readonly Examined[]): OpenFileRules | NotStatic {
    return changeablePlaces(examined, { ...this.#places, own: [...this.#places.own, ...this.own] });
  }

  #heldWith(hasLinks: boolean): HeldByView {
    return { hasLinks, openFiles: !("why" in this.#openFiles) };
  }

  /** The calls on open files do not stop: the mounts must change. */
  #changesFor(next: OpenFileRules | NotStatic): readonly MountChange[] {
    if ("why" in this.#openFiles) return [];
    if ("why" in next) throw unavailable(next.why);
    if (this.#places.writable) return []; // the fence's mounts are narrower than both
    const [before, after] = [this.#openFiles.changeable, next.changeable];
    if (!before && !after) return [];
    if (!before || !after) throw unavailable("files were, or were not, read-only from its start");
    const changes = changesBetween(before, after);
    const open = changes.find(({ kind, path }) => kind === "open" && this.#holdsKept(path));
    if (open) throw unavailable(`${open.path} holds files of HERMES`);
    return changes;
  }

  #holdsKept(folder: string): boolean {
    return this.#places.kept?.some((path) => isAtOrBelow(path, folder)) === true;
  }

  #become(
    examined: readonly Examined[],
    { hidden, hasLinks }: Found,
    change: ChangeView,
    mounts: readonly MountChange[] = [],
  ): void {
    const fresh = hidden.filter((one) => !this.#hidden.some((old) => isSame(one, old)));
    const stale = this.#hidden.filter((old) => !hidden.some((one) => isSame(one, old)));
    const isChanged = fresh.length + stale.length + mounts.length > 0;
    // The mask of a file that was replaced went with the file.
    const orders = masksOf(stale.filter(({ path }) => !fresh.some((one) => one.path === path)));
    const taken = orders.masks.map((mask): Mask => ({ ...mask, order: "take" }));
    const seen = isChanged ? change(joined(taken, masksOf(fresh).masks), mounts) : new Uint8Array(0);
    this.#hasLinks = hasLinks;
    this.#examined = examined;
    this.#lookedFor.push(...metOf(orders.files, seen));
    this.#later = [...this.#later.filter((one) => !stale.includes(one)), ...fresh];
    this.#hidden = [...this.#hidden.filter((old) => !stale.includes(old)), ...fresh];
  }

  /** Hides what has come since, or was put in the place of something hidden. Throws if that fails. */
  refresh(change: ChangeView): void {
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
  lookedFor(seen: Uint8Array, change: ChangeView): readonly LookedFor[] {
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
  const isOwn: IsOwn = (path, excepts = () => false) =>
    [...own, ...mayBeOwn].some((folder) => isAtOrBelow(path, folder)) &&
    !exposed.some((shown) => isAtOrBelow(path, shown) || (isAtOrBelow(shown, path) && !excepts(shown)));
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

function released({ policy, rules }: Examined, held: HeldByView): Policy {
  return isHeld(rules) ? rules.released(held) : policy;
}

function firstOf<T, R>(list: readonly T[], look: (one: T) => R | undefined): R | undefined {
  for (const one of list) {
    const found = look(one);
    if (found !== undefined) return found;
  }
  return undefined;
}
