import { SYSCALLS } from "../../abi/index.js";
import type { Effect } from "../../policy/effects.js";
import { compilePaths, matchPaths } from "../../policy/match/path.js";
import { isInternetAddress } from "../analyze/network.js";
import type { UsedSecrets } from "../analyze/secrets.js";
import { escapePattern, hashFolders } from "../analyze/shape.js";
import { commandShapes } from "./commands.js";
import { generalise, type KnownFolders, type PathPattern } from "./generalise.js";
import type { FileUse, Observations, PeerUse, ProgramUse } from "./observations.js";
import { pathClass } from "./path-class.js";
import { nothingYet, type Sighting, sumOf } from "./sighting.js";

/** One member of a rule's list, and what was seen of it. */
export interface RuleLine {
  readonly text: string;
  readonly files?: number;
  readonly seen: Sighting;
}

type Confidence = "high" | "medium" | "low";

/** A rule of a learned policy, before it is written down. */
export interface LearnedRule {
  readonly id: string;
  readonly action: "allow" | "deny";
  readonly words: readonly string[];
  readonly path?: readonly RuleLine[];
  readonly address?: readonly RuleLine[];
  readonly argv?: readonly string[];
  /** Only these programs. */
  readonly process?: readonly string[];
  readonly where?: Readonly<Record<string, readonly number[]>>;
  readonly errno?: string;
  readonly reason?: string;
  /** What a reader should think about. */
  readonly note?: string;
  readonly seen: Sighting;
  readonly confidence?: Confidence;
}

const EPHEMERAL_PORTS = "32768-60999";

/** Refused even where a learned pattern would include it. Rules for files that were seen in use come before. */
const SECRET_PATTERNS = [
  "**/.{ssh,gnupg,aws,azure,kube,docker,password-store,mozilla,thunderbird}/**",
  "**/.{env,envrc,netrc,npmrc,pypirc,git-credentials,pgpass,vault-token}",
  "**/.env.*",
  "**/.*_history",
  "**/id_{rsa,dsa,ecdsa,ed25519}",
  "**/*.{pem,key,p8,p12,pfx,ppk,jks,kdbx,keystore}",
  "**/*{secret,Secret,SECRET,password,Password,passwd,credential,Credential,token,Token,api_key,apikey,api-key}*",
  "/etc/{shadow,gshadow,sudoers}*",
  "/etc/ssl/private/**",
  "/proc/*/{environ,mem}",
  "/proc/*/task/*/{environ,mem}",
  "!/proc/self/**",
  "!/{usr,lib,lib32,lib64,bin,sbin}/**",
  "!/etc/{passwd,ssl/certs/**}",
  "!**/*.{py,pyc,js,mjs,cjs,ts,map,c,h,cc,cpp,o,so,go,rs,rb,pl,pm,java,md,html,css}",
];

/** What the C library and runtimes read in one run and not in the next. None of it is private. */
const EVERYDAY = [
  "/etc/ld.so.cache",
  "/usr/{lib,share}/locale/**",
  "/usr/share/zoneinfo/**",
  "/proc/{cpuinfo,meminfo,stat,loadavg}",
  "/sys/devices/system/cpu/{online,possible,present}",
];

/** Which processes were the callers' own is forgotten here; what they read of themselves is no secret. */
function ownProc(path: string): string {
  return path.replace(/^\/proc\/\d+\//, "/proc/self/");
}

/** Narrow words of files: permission to write a file includes them. */
const ATTRIBUTES = new Set<Effect>(["chmod", "chown", "touch", "xattr"]);
const ALONE = new Set<Effect>(["read", "list", "mkdir", "delete", "mount", ...ATTRIBUTES]);

/** The rules that let everything pass that was seen, and as little else as can be said in few lines. */
export function rulesOf(all: Observations, secrets: UsedSecrets): LearnedRule[] {
  const refused = compilePaths(SECRET_PATTERNS, (text) => [text]);
  const isSecret = ({ real }: FileUse) =>
    secrets.of(real) !== undefined || matchPaths(refused, ownProc(real));
  const files = [...all.files.values()];
  const sound = (rule: Omit<LearnedRule, "confidence">): LearnedRule => ({
    ...rule,
    ...(rule.action === "allow" && { confidence: confidenceOf(rule, all.runs.length) }),
  });
  const everyday = compilePaths(EVERYDAY, (text) => [text]);
  const isEveryday = ({ word, real }: FileUse) =>
    (word === "read" || word === "list") && matchPaths(everyday, real);
  return [
    ...programRules([...all.programs.values()]),
    ...secretRules(files.filter(isSecret)),
    SECRETS,
    everydayRule(files.filter(isEveryday)),
    ...fileRules(
      files.filter((use) => !isSecret(use) && !isEveryday(use)),
      {
        hashes: hashFolders(files.map(({ path }) => path)),
        temporaries: new Set(files.filter(({ temporary }) => temporary).map(({ path }) => path)),
      },
    ),
    ...peerRules([...all.peers.values()]),
    ...otherRules(all),
    ...neverSeen(all),
  ].map(sound);
}

const SECRETS: LearnedRule = {
  id: "secrets",
  action: "deny",
  words: ["read", "write"],
  path: SECRET_PATTERNS.map((text) => ({ text, seen: nothingYet() })),
  reason: "A secret that was not used while this policy was learned.",
  seen: nothingYet(),
};

// ---------------------------------------------------------------- programs

function programRules(uses: readonly ProgramUse[]): Omit<LearnedRule, "confidence">[] {
  const rules: Omit<LearnedRule, "confidence">[] = [];
  const present = new Map<string, ProgramUse[]>();
  for (const use of uses.filter(({ absent }) => !absent))
    present.set(programPattern(use.path), [...(present.get(programPattern(use.path)) ?? []), use]);
  const ids = new Names();
  for (const [path, known] of present)
    for (const { argv, seen } of commandShapes(known))
      rules.push({
        id: ids.unique(`run-${word(path)}`),
        action: "allow",
        words: ["exec"],
        path: [{ text: path, seen }],
        ...(argv && { argv }),
        seen,
      });
  const absent = uses.filter((use) => use.absent && !present.has(programPattern(use.path)));
  if (absent.length > 0) {
    const lines = unique(absent.map(({ path, seen }) => ({ text: programPattern(path), seen })));
    rules.push({
      id: "run-absent",
      action: "allow",
      words: ["exec"],
      path: lines,
      note: "Looked for, and not there.",
      seen: sumOf(lines.map((line) => line.seen)),
    });
  }
  return rules;
}

function programPattern(path: string): string {
  return generalise([
    { path, exact: path, word: "exec", real: path, temporary: false, seen: nothingYet() },
  ])[0]!.text;
}

// ---------------------------------------------------------------- files

/** Secrets that were used: one by one, and only for the programs that used them. */
function secretRules(uses: readonly FileUse[]): Omit<LearnedRule, "confidence">[] {
  return byWords(uses, (same) =>
    same.map(({ exact, seen }) => ({ text: quote(exact), place: pathClass(exact), files: 1, seen })),
  ).map(({ words, patterns }, i) => {
    const seen = sumOf(patterns.map((pattern) => pattern.seen));
    const users = [...seen.by].map((name) => `**/${escapePattern(name)}`);
    return {
      id: i === 0 ? "secrets-used" : `secrets-used-${i + 1}`,
      action: "allow",
      words,
      path: patterns,
      ...(users.length > 0 && { process: users }),
      note: "Secrets: does the program have to?",
      seen,
    };
  });
}

function everydayRule(uses: readonly FileUse[]): Omit<LearnedRule, "confidence"> {
  return {
    id: "everyday",
    action: "allow",
    words: ["read"],
    path: EVERYDAY.map((text) => ({ text, seen: nothingYet() })),
    note: "What the C library and runtimes look at as they please",
    seen: sumOf(uses.map(({ seen }) => seen)),
  };
}

function fileRules(uses: readonly FileUse[], known: KnownFolders): Omit<LearnedRule, "confidence">[] {
  const ids = new Names();
  return byWords(uses, (same) => generalise(same, known)).flatMap(({ words, patterns }) =>
    [...group(patterns, ({ place }) => place)].map(([place, lines]) => ({
      id: ids.unique(`${words.join("-")}-${place}`),
      action: "allow" as const,
      words,
      path: lines.sort((a, b) => (a.text < b.text ? -1 : 1)),
      seen: sumOf(lines.map(({ seen }) => seen)),
    })),
  );
}

/** Patterns with the same words, together. */
export function byWords<P extends PathPattern>(
  uses: readonly FileUse[],
  patternsOf: (uses: readonly FileUse[]) => P[],
): { words: string[]; patterns: P[] }[] {
  const found = new Map<string, { words: Set<string>; pattern: P }>();
  for (const [word, same] of group(coarse(uses), (use) => use.word))
    for (const pattern of patternsOf(same)) {
      const known = found.get(pattern.text);
      if (!known) found.set(pattern.text, { words: new Set([word]), pattern });
      else {
        known.words.add(word);
        known.pattern = {
          ...pattern,
          files: Math.max(pattern.files, known.pattern.files),
          seen: sumOf([pattern.seen, known.pattern.seen]),
        };
      }
    }
  const sorted = withoutCovered([...found.values()]).map(({ words, pattern }) => ({
    key: wordsOf(words).join(" "),
    pattern,
  }));
  return [...group(sorted, ({ key }) => key)].map(([key, members]) => ({
    words: key.split(" "),
    patterns: members.map(({ pattern }) => pattern),
  }));
}

/** Leaves out what lies below a folder of which everything may be done anyway. */
function withoutCovered<P extends PathPattern>(found: readonly { words: Set<string>; pattern: P }[]) {
  const wide = found.filter(({ pattern }) => pattern.text.endsWith("/**"));
  return found.filter(({ words, pattern }) =>
    wide.every(({ words: all, pattern: { text } }) => {
      const folder = text.slice(0, -3);
      const below =
        pattern.text !== text && (pattern.text === folder || pattern.text.startsWith(`${folder}/`));
      return !below || ![...words].every((word) => includes(all, word));
    }),
  );
}

function includes(words: ReadonlySet<string>, word: string): boolean {
  return words.has(word) || (word === "list" ? words.has("read") : word !== "read" && words.has("write"));
}

/** Files that were written in several ways are simply written. */
function coarse(uses: readonly FileUse[]): FileUse[] {
  const byPath = group(uses, ({ path }) => path);
  return [...byPath.values()].flatMap((same) => {
    const writes = same.some(({ word }) => !ALONE.has(word));
    return same.map((use) => {
      const word: Effect = use.word === "read" || use.word === "list" || !writes ? use.word : "write";
      return { ...use, word };
    });
  });
}

function wordsOf(words: ReadonlySet<string>): string[] {
  const all = words.has("write")
    ? [...words].filter((word) => ["read", "list", "write"].includes(word))
    : [...words];
  return (words.has("read") ? all.filter((word) => word !== "list") : all).sort();
}

// ---------------------------------------------------------------- network and processes

function peerRules(uses: readonly PeerUse[]): Omit<LearnedRule, "confidence">[] {
  const rules: Omit<LearnedRule, "confidence">[] = [];
  const ids = new Names();
  for (const [, same] of group(uses, ({ word, exe }) => `${word} ${word === "connect" ? exe : ""}`)) {
    const { word, exe } = same[0]!;
    const lines = unique(same.flatMap(addressLines));
    rules.push({
      id: ids.unique(word),
      action: "allow",
      words: [word],
      address: lines,
      ...(word === "connect" && exe !== "" && { process: [quote(exe)] }),
      seen: sumOf(lines.map(({ seen }) => seen)),
    });
  }
  return rules;
}

const HOST_NAME = /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])?$/;

/** A peer by its name, where a name server gave its address; else by its address. Always with its port. */
export function addressLines({ address, names, seen }: PeerUse): RuleLine[] {
  if (address.startsWith("unix:@")) return [{ text: escapePattern(address), seen }];
  if (address === "unix:") return [{ text: "unix", seen }];
  if (address.startsWith("unix:")) return [{ text: `unix:${quote(address.slice(5))}`, seen }];
  if (address.endsWith(":ephemeral")) return [{ text: address.replace("ephemeral", EPHEMERAL_PORTS), seen }];
  if (!isInternetAddress(address))
    return [{ text: ["netlink", "packet", "vsock"].includes(address) ? address : "other", seen }];
  const known = names.filter((name) => HOST_NAME.test(name));
  const port = address.slice(address.lastIndexOf(":"));
  return known.length > 0 ? known.map((name) => ({ text: name + port, seen })) : [{ text: address, seen }];
}

function otherRules({ others }: Observations): Omit<LearnedRule, "confidence">[] {
  return [...group([...others.values()], ({ word }) => word)].map(([effect, same]) => ({
    id: effect,
    action: "allow",
    words: [effect],
    ...(effect === "signal" && {
      where: { sig: same.map(({ detail }) => Number(detail)).sort((a, b) => a - b) },
    }),
    ...(effect !== "signal" && { note: "Not an everyday thing: does the program have to?" }),
    seen: sumOf(same.map(({ seen }) => seen)),
  }));
}

/** The default of a policy does not speak of these. */
function neverSeen({ others, calls }: Observations): LearnedRule[] {
  const effects = ["namespace", "setuid", "settime"].filter(
    (effect) => ![...others.values()].some(({ word }) => word === effect),
  );
  const classes = ["kernel", "keyring"].filter(
    (name) => !SYSCALLS.some((call) => call.classes.includes(name as never) && calls.has(call.name)),
  );
  const words = [...effects, ...classes];
  if (words.length === 0) return [];
  return [
    {
      id: "never-seen",
      action: "deny",
      words,
      errno: "EPERM",
      reason: "Was never seen while this policy was learned.",
      seen: nothingYet(),
    },
  ];
}

// ---------------------------------------------------------------- odds and ends

/** High: in every one of several runs. Medium: in some, or often. Low: a wildcard that rests on a single file. */
function confidenceOf({ seen, path = [] }: Omit<LearnedRule, "confidence">, runs: number): Confidence {
  if (runs > 1 && seen.runs.size === runs) return "high";
  const guessed = path.some(({ text, files = 1 }) => files === 1 && /(?<!\\)[*?[]/.test(text));
  return guessed && seen.runs.size === 1 ? "low" : "medium";
}

/** A placed path as a pattern that matches only it. */
function quote(path: string): string {
  const root = /^(?:\$\{\w+\}|~)/.exec(path)?.[0] ?? "";
  return root + escapePattern(path.slice(root.length));
}

function word(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1).replace(/[^\w.-]/g, "") || "program";
}

/** Ids that occur once. */
class Names {
  readonly #used = new Set<string>();

  unique(name: string): string {
    let id = name;
    for (let i = 2; this.#used.has(id); i++) id = `${name}-${i}`;
    this.#used.add(id);
    return id;
  }
}

function unique(lines: readonly RuleLine[]): RuleLine[] {
  return [...group(lines, ({ text }) => text)].map(([text, same]) => ({
    text,
    seen: sumOf(same.map(({ seen }) => seen)),
  }));
}

export function group<T, K>(items: readonly T[], key: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) {
    const known = groups.get(key(item));
    if (known) known.push(item);
    else groups.set(key(item), [item]);
  }
  return groups;
}
