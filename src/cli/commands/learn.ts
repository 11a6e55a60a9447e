import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { basename, join } from "node:path";
import { seccompProfile } from "../../abi/seccomp-profile.js";
import { HermesError } from "../../nouns/errors.js";
import { HOME } from "../../nouns/home.js";
import { counted } from "../../nouns/text.js";
import { UsedSecrets } from "../../offline/analyze/secrets.js";
import { landlockConfig } from "../../offline/learn/landlock.js";
import { LearnedFile } from "../../offline/learn/learned-file.js";
import { Observations } from "../../offline/learn/observations.js";
import { type LearnedRule, rulesOf } from "../../offline/learn/rules.js";
import { policyText } from "../../offline/learn/write-policy.js";
import { readTrace } from "../../record/trace/reader.js";
import { unknownOrigin } from "../run/origin.js";
import { print, say } from "../views/output.js";

export interface LearnFlags {
  output?: string;
  from?: string[];
  repair?: string;
  name?: string;
  format: string;
  force?: boolean;
  contained?: boolean;
  yes?: boolean;
  json?: boolean;
  quiet?: boolean;
}

const FORMATS = ["yaml", "landlock", "oci"];
/** Long enough to find names in answers of name servers. */
const TRACE_BYTES = "512";

/** Runs a program and writes a minimal policy for what it did. Exits with the program's status. */
export async function learnCommand(words: string[], flags: LearnFlags): Promise<number> {
  if (flags.repair !== undefined) {
    // For other commands, options after the first word belong to the program; here there is no program.
    const behind = { json: words.includes("--json"), yes: words.includes("--yes") || words.includes("-y") };
    const traces = words.filter((word) => !["--json", "--yes", "-y"].includes(word));
    const given = { ...flags, json: flags.json || behind.json, yes: flags.yes || behind.yes };
    return (await import("./learn-repair.js")).repairCommand(flags.repair, traces, given);
  }
  if (!FORMATS.includes(flags.format))
    throw usage(`--format takes ${FORMATS.join(", ")}, not "${flags.format}"`);
  if (words.length === 0 && !flags.from?.length)
    throw usage("learn needs a program or a trace: hermes learn -o p.yaml -- COMMAND, or --from TRACE");
  const learned =
    flags.format === "yaml" && flags.output !== undefined ? new LearnedFile(flags.output) : undefined;
  const observations = learned?.load(flags.force === true) ?? new Observations();
  const before = observations.runs.length;
  for (const file of flags.from ?? []) await observe(observations, file);
  const status = words.length > 0 ? await watch(observations, words, containment(words, flags)) : 0;
  if (observations.runs.length === before + (flags.from?.length ?? 0) && words.length > 0) return status;
  const rules = rulesOf(observations, await UsedSecrets.load());
  const name =
    flags.name ?? (flags.output === undefined ? "learned" : basename(flags.output).replace(/\.\w+$/, ""));
  const text = formatted(flags.format, name, rules, observations);
  if (learned) learned.save(text, observations);
  else if (flags.output !== undefined) writeFileSync(flags.output, text);
  else print(text);
  if (flags.output !== undefined) report(flags, rules, observations, flags.output);
  return status;
}

function formatted(
  format: string,
  name: string,
  rules: readonly LearnedRule[],
  observations: Observations,
): string {
  if (format === "oci") return seccompProfile(observations.calls);
  if (format === "landlock")
    return landlockConfig(rules, { workspace: process.cwd(), home: homedir(), kindOf });
  return policyText(name, rules, observations.runs);
}

async function observe(observations: Observations, trace: string): Promise<void> {
  const observer = observations.begin();
  await readTrace(trace, (record) => observer.take(record));
  if (observer.denied > 0)
    say(
      `hermes: ${trace}: ${counted(observer.denied, "refused call")} not learned (use --repair to add them)\n`,
    );
}

/** Its own processes and /tmp, no network but what is tried there, no secrets; without these protections it is not started. */
const CONTAINED = [
  ...["--fence", "strict", "--network", "own", "-p", "secrets"],
  ...["--require", "mount_namespace,net_namespace"],
];

/** A program that the administrator has not installed is not run with all rights of its user just to see what it does. */
function containment(words: readonly string[], { contained, quiet }: LearnFlags): readonly string[] {
  const origin = contained === undefined ? unknownOrigin(words) : undefined;
  if (!contained && origin === undefined) return [];
  if (origin !== undefined && !quiet)
    say(`hermes: ${origin}: it runs contained, without network and secrets (--no-contained: as you)\n`);
  return CONTAINED;
}

/** Runs the program like `hermes run`, with a temporary trace. */
async function watch(
  observations: Observations,
  words: readonly string[],
  fence: readonly string[],
): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "hermes-learn-"));
  const trace = join(folder, "trace");
  const ignore = () => {};
  for (const signal of ["SIGINT", "SIGQUIT"] as const) process.on(signal, ignore); // the program handles them
  try {
    const options = ["run", "--quiet", "--trace", trace, "--trace-bytes", TRACE_BYTES, ...fence];
    const child = spawn(join(HOME, "hermes"), [...options, "--", ...words], { stdio: "inherit" });
    const status = await new Promise<number>((resolve, reject) => {
      child.on("error", reject);
      child.on("close", (code) => resolve(code ?? 125));
    });
    if ([125, 126, 127].includes(status) && isEmpty(trace)) return status;
    await observe(observations, trace);
    return status;
  } finally {
    for (const signal of ["SIGINT", "SIGQUIT"] as const) process.off(signal, ignore);
    rmSync(folder, { recursive: true, force: true });
  }
}

function report(
  flags: LearnFlags,
  rules: readonly LearnedRule[],
  { runs }: Observations,
  file: string,
): void {
  if (flags.quiet) return;
  if (flags.json) {
    say(
      `${JSON.stringify({ file, runs: runs.length, rules: rules.map(({ id, confidence }) => ({ id, ...(confidence && { confidence }) })) })}\n`,
    );
    return;
  }
  const secrets = rules
    .filter(({ id }) => id.startsWith("secrets-used"))
    .flatMap(({ path = [] }) => path.map(({ text }) => text));
  say(`hermes: ${file}: ${counted(rules.length, "rule")} from ${counted(runs.length, "run")}\n`);
  for (const text of secrets)
    say(`hermes: warning: the policy allows a secret, because the program used it: ${text}\n`);
}

function kindOf(path: string): "folder" | "file" | "absent" {
  const info = statSync(path, { throwIfNoEntry: false });
  return info === undefined ? "absent" : info.isDirectory() ? "folder" : "file";
}

function isEmpty(file: string): boolean {
  return (statSync(file, { throwIfNoEntry: false })?.size ?? 0) === 0;
}

function usage(message: string): HermesError {
  return new HermesError("USAGE", { message });
}
