import { syscallByName, syscallByNumber } from "../../abi/index.js";
import { writingOpens } from "../effect-conditions.js";
import { type Glob, mayMatchBelow, split } from "../match/glob.js";
import { matchPaths, type PathList } from "../match/path.js";
import type { CallSubscription, IsOwn, NotStatic, ReadRefusal, ReadRules, Subscription } from "../policy.js";
import type { CallPlan, PlannedEffect } from "./call-plan.js";
import type { PolicyRule, RuleInput } from "./rule.js";
import type { RuleSet } from "./rule-set.js";

const numbers = (names: string) => names.split(" ").map((name) => syscallByName(name)!.nr);
/** Calls that only read, on one file. */
const READING = numbers("getxattr listxattr getdents getdents64");
/** Those that can be about a symbolic link itself, which no mount hides. */
const READING_LINKS = numbers("readlink readlinkat lgetxattr llistxattr getxattrat listxattrat");
/** Their flags say, in a register, whether they could change anything. */
const OPENS = numbers("open openat");
const MOUNT = syscallByName("mount")!.nr;

/**
 * The rules on reading files, if each of them only allows or refuses by path. Where a rule also looks at what the run has
 * made itself, or at the caller's own files in /proc, it must be about files of the run alone (`isOwn`).
 */
export function staticReads(
  policy: string,
  plans: ReadonlyMap<number, CallPlan>,
  isOwn: IsOwn,
): StaticReads | NotStatic {
  const sets = new Set<RuleSet>();
  const opening = new Set<RuleSet>();
  const mounting = plans
    .get(MOUNT)
    ?.effects.flatMap(({ rules }) => rules.all)
    .find(allowsToMount);
  if (mounting) return { why: `rule ${mounting.id} allows to mount` };
  for (const nr of [...READING, ...READING_LINKS, ...OPENS]) {
    const plan = plans.get(nr);
    if (!plan) continue;
    if (plan.whole) return { why: `rule ${plan.whole.rules.all[0]!.id} is about the call ${plan.call.name}` };
    for (const part of plan.effects.filter(onlyReads)) {
      const why = whyNotStatic(part, isOwn);
      if (why) return { why };
      sets.add(part.rules);
      if (OPENS.includes(nr) && part.effect!.does.includes("read")) opening.add(part.rules);
    }
  }
  const lists = [...sets].map((set) => set.all.filter((rule) => !isNeedless(rule, isOwn)));
  const refusing = [...new Set(lists.flat())].filter(({ key }) => key === "deny");
  return {
    ownFolders: [...sets].flatMap((set) =>
      set.all
        .filter((rule) => isAboutOthersFiles(rule, isOwn))
        .flatMap(({ paths }) => paths!.included.map(folderOf)),
    ),
    patterns: refusing.flatMap(({ paths }) => paths!.included.map(({ text }) => text)),
    refusal: (path) => {
      for (const rules of lists) {
        const first = rules.find(({ paths }) => !paths || matchPaths(paths, path));
        if (first?.key === "deny") return refusalBy(policy, first);
      }
      return undefined;
    },
    excepts: (folder) => lists.some((rules) => rules.some((rule) => mayPermitBelow(rule, split(folder)))),
    hides: (rule) => opening.size > 0 && [...opening].every(({ all }) => refusesAll(rule, all)),
  };
}

interface StaticReads extends Omit<ReadRules, "openFiles" | "released"> {
  /** The files that this rule refuses to read cannot be opened at all. */
  hides(rule: PolicyRule): boolean;
}

/** No other rule allows first what this one refuses. */
function refusesAll(rule: PolicyRule, all: readonly PolicyRule[]): boolean {
  const at = all.indexOf(rule);
  return rule.key === "deny" && at >= 0 && !all.slice(0, at).some(({ key }) => key === "allow");
}

/** A view cannot hold what the program may uncover. */
function allowsToMount({ spec }: PolicyRule): boolean {
  return [spec.allow ?? []].flat().includes("mount");
}

/** By an exception from a rule that refuses, or by a rule that allows. */
function mayPermitBelow({ key, paths }: PolicyRule, folder: readonly string[]): boolean {
  if (!paths) return key === "allow";
  const includes = paths.included.some((glob) => mayMatchBelow(glob, folder));
  return key === "allow" ? includes : includes && paths.excepted.some((glob) => mayMatchBelow(glob, folder));
}

function onlyReads({ effect }: PlannedEffect): boolean {
  return !effect!.does.includes("write");
}

function whyNotStatic({ rules, covered }: PlannedEffect, isOwn: IsOwn): string | undefined {
  if (covered) return "the default of the policy decides on reading";
  for (const rule of rules.all) {
    const { id, key, conditions, counters, paths } = rule;
    if (key !== "allow" && key !== "deny") return `rule ${id}: \`${key}\` needs a decision`;
    if (counters.length > 0) return `rule ${id} counts`;
    if (key === "deny" && (!paths || paths.included.length === 0)) return `rule ${id} names no path`;
    if (isNeedless(rule, isOwn)) continue;
    if (conditions.some((condition) => condition.key !== "path"))
      return `rule ${id} looks at more than the path`;
    if (key === "deny" && !HIDING.has(refusalBy("", rule).errno))
      return `rule ${id} gives another error than ENOENT or EACCES`;
    if (key === "deny" && paths!.included.some(mayBeOfProcess))
      return `rule ${id} is about files of processes`;
  }
  return undefined;
}

/** The errors that a hidden file can give. */
const HIDING = new Set(["ENOENT", "EACCES"]);

/** A rule that refuses nothing that the program behind a view could open. */
export function isNeedless(rule: PolicyRule, isOwn: IsOwn): boolean {
  return isAboutOthersFiles(rule, isOwn) || isAboutOtherProcesses(rule);
}

/** In these folders are files of the run alone, and the rule refuses those of others. */
function isAboutOthersFiles({ key, paths, conditions }: PolicyRule, isOwn: IsOwn): boolean {
  return (
    key === "deny" &&
    conditions.some((condition) => condition.key === "unless_made") &&
    paths !== undefined &&
    paths.included.length > 0 &&
    paths.included.every((glob) => isOwn(folderOf(glob), (folder) => exceptsAll(paths, folder)))
  );
}

/** The rule is not about the folder, nor about anything in it. */
function exceptsAll({ excepted }: PathList, folder: string): boolean {
  const list = { included: excepted, excepted: [] };
  return excepted.length > 0 && ["", "/a", "/a/b"].every((below) => matchPaths(list, `${folder}${below}`));
}

function folderOf({ literal }: Glob): string {
  return `/${literal.join("/")}`;
}

/** What the kernel shows of a process only to those that may trace it: none outside a view, for the program behind it. */
const TRACERS_ONLY = new Set([
  "environ",
  "mem",
  "auxv",
  "maps",
  "smaps",
  "smaps_rollup",
  "numa_maps",
  "pagemap",
]);

function isAboutOtherProcesses({ key, paths }: PolicyRule): boolean {
  return (
    key === "deny" &&
    paths !== undefined &&
    paths.included.length > 0 &&
    paths.included.every((glob) => mayBeOfProcess(glob) && TRACERS_ONLY.has(String(glob.parts.at(-1)))) &&
    paths.excepted.some(({ text }) => text === "/proc/self/**")
  );
}

/** /proc/NUMBER/…, /proc/self/… */
function mayBeOfProcess({ parts }: Glob): boolean {
  const [first, second] = parts;
  if (first !== "proc") return typeof first !== "string" && parts.length === 1;
  return typeof second !== "string" || /^(?:\d+|self|thread-self)$/.test(second);
}

function refusalBy(policy: string, rule: PolicyRule): ReadRefusal {
  // The answer of a rule without other conditions does not depend on the call.
  const { errno, reason } = rule.answer(undefined as unknown as RuleInput);
  return { policy, rule: rule.id, errno: String(errno ?? "EACCES"), ...(reason !== undefined && { reason }) };
}

/** Whether a call does nothing but what a view holds: it opens or looks at one file, and changes none. */
export function isHeldByView(nr: number, effect: PlannedEffect["effect"]): boolean {
  return [...READING, ...READING_LINKS, ...OPENS].includes(nr) && effect?.does.includes("write") === false;
}

/** The subscription without calls that could only read. */
export function withoutReads({ calls, constants }: Subscription, hasLinks: boolean): Subscription {
  const left = new Map<number, CallSubscription>(calls);
  for (const nr of hasLinks ? READING : [...READING, ...READING_LINKS]) left.delete(nr);
  for (const nr of OPENS) {
    const wanted = left.get(nr);
    if (wanted) left.set(nr, { ...wanted, when: writingOpens(syscallByNumber(nr)!) });
  }
  return { calls: left, constants };
}
