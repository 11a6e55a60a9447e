import { createHash } from "node:crypto";
import { realpathSync } from "node:fs";
import type { Access } from "../../guard/files/access.js";
import { type Action, type Finding, strictest } from "../../guard/finding.js";
import type { Judgement } from "../../guard/guard.js";
import { expandHome, isInside, lexical } from "../../guard/paths/components.js";
import type { Subject } from "../../guard/subject.js";
import { harmless } from "../../text.js";
import { type Call, type Intent, ToolError, type World } from "../tool.js";
import { inWords, type Pin, pin } from "./pin.js";

/** What a tool would work on: the name that the agent gave, and what it really reaches. */
export interface Target {
  readonly real: string;
  readonly judgement: Judgement;
  /** Nothing is there, or the name alone is refused already. */
  readonly pin?: Pin;
  /** Why there is no pin although the name is not refused. */
  readonly problem?: unknown;
}

/** Absolute, and not tidied: what `..` means is up to the kernel. */
export function absolute(path: string, { home, workspace }: World): string {
  const whole = expandHome(path, home);
  return whole.startsWith("/") ? whole : `${workspace}/${whole}`;
}

/** Pins what a path reaches, has the guard judge the name and what it reached, and lets go of it in the end. */
export async function withTarget<T>(
  path: string,
  access: Access,
  world: World,
  act: (target: Target) => Promise<T>,
): Promise<T> {
  const named = world.guard.check(pathSubject(path, access));
  const real = lexical(absolute(path, world), "/");
  if (named.action === "deny") return act({ real, judgement: named });
  let held: Pin;
  try {
    held = await pin(absolute(path, world), { folder: access === "list" });
  } catch (error) {
    return act({ real, judgement: named, problem: inWords(error, path) });
  }
  try {
    const judgement = both(named, judgeReal(held.path, access, world));
    return await act({ real: held.path, judgement, pin: held });
  } catch (error) {
    throw inWords(error, path);
  } finally {
    await held.close();
  }
}

/** A workspace that is reached by a link has a real name of its own: what lies in it lies in the workspace. */
export function judgeReal(real: string, access: Access, world: World): Judgement {
  const workspace = realpathSync.native(world.workspace);
  const input = isInside(real, workspace) ? world.workspace + real.slice(workspace.length) : real;
  return world.guard.check(pathSubject(input, access));
}

/** What is said of the name and of what it reached, each once. */
export function both(a: Judgement, b: Judgement): Judgement {
  const known = new Set(a.findings.map(({ rule, action }) => `${rule} ${action}`));
  return judged([...a.findings, ...b.findings.filter(({ rule, action }) => !known.has(`${rule} ${action}`))]);
}

export function judged(findings: readonly Finding[]): Judgement {
  return { findings, action: findings.reduce<Action>((action, f) => strictest(action, f.action), "allow") };
}

/** Of the tool, what it works on, and what it would put there. */
export function digestOf(tool: string, real: string, ...content: readonly (string | Uint8Array)[]): string {
  const hash = createHash("sha256").update(JSON.stringify([tool, real]));
  for (const part of content) hash.update(`\n${Buffer.byteLength(part)}\n`).update(part);
  return hash.digest("hex");
}

export interface About {
  readonly what: string;
  readonly subject: Subject;
  readonly judgement: Judgement;
  readonly digest: string;
  readonly detail?: NonNullable<Intent["detail"]>;
}

export function intentOf({ what, judgement, ...about }: About): Intent {
  return { ...judgement, ...about, what: harmless(what) };
}

export function pathSubject(path: string, access: Access): Subject {
  return { kind: "path", input: path, fields: { access } };
}

/** What may run is what was allowed: the same deed on the same object, for no reason that nobody has seen. */
export function hold(call: Call, { action, findings }: Judgement, digest: string): void {
  const refused = findings.find((finding) => finding.action === "deny");
  if (refused) throw new ToolError(refused.rule, said(refused));
  const unseen = findings.find(({ action: its, rule }) => its === "ask" && !call.approved.includes(rule));
  if (action === "ask" && unseen) throw new ToolError(unseen.rule, `This was not approved: ${said(unseen)}`);
  if (digest !== call.digest)
    throw new ToolError(
      "changed-since-judged",
      "What this would do has changed since it was judged: try again.",
    );
}

function said({ reason, instead }: Finding): string {
  return instead ? `${reason} ${instead}` : reason;
}

/** For a person and an agent: as the agent would name it. */
export function nameIn(world: World, real: string): string {
  const inside = real !== world.workspace && isInside(real, world.workspace);
  return inside && world.workspace !== "/" ? real.slice(world.workspace.length + 1) : real;
}
