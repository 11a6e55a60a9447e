import { createHash } from "node:crypto";
import { realpathSync } from "node:fs";
import type { Access } from "../../../intent/guard/files/access.js";
import { type Action, type Finding, strictest } from "../../../intent/guard/finding.js";
import type { Judgement } from "../../../intent/guard/guard.js";
import { expandHome, isWithin, lexical } from "../../../intent/guard/paths/components.js";
import type { Subject } from "../../../intent/guard/subject.js";
import { escapeControl } from "../../../nouns/text.js";
import { type ToolCall, type ToolContext, type ToolIntent, ToolRefusal } from "../tool.js";
import { agentErrorFor, type Pin, pinFile } from "./pin.js";

/** What a tool works on: the name that the agent gave, and the object that it reaches. */
export interface FileTarget {
  readonly real: string;
  readonly judgement: Judgement;
  /** Undefined: no such file, or the name alone is refused. */
  readonly pin?: Pin;
  /** Why there is no pin although the name is not refused. */
  readonly problem?: unknown;
}

/** Absolute, and not normalised: the kernel resolves `..`. */
export function absolute(path: string, { home, workspace }: ToolContext): string {
  const whole = expandHome(path, home);
  return whole.startsWith("/") ? whole : `${workspace}/${whole}`;
}

/** Pins the object of a path, has the guard judge both the name and the object, and releases the pin afterwards. */
export async function withTarget<T>(
  path: string,
  access: Access,
  world: ToolContext,
  act: (target: FileTarget) => Promise<T>,
): Promise<T> {
  const named = world.guard.check(pathSubject(path, access));
  const real = lexical(absolute(path, world), "/");
  if (named.action === "deny") return act({ real, judgement: named });
  let held: Pin;
  try {
    held = await pinFile(absolute(path, world), { folder: access === "list" });
  } catch (error) {
    return act({ real, judgement: named, problem: agentErrorFor(error, path) });
  }
  try {
    const judgement = mergeJudgements(named, judgeReal(held.path, access, world));
    return await act({ real: held.path, judgement, pin: held });
  } catch (error) {
    throw agentErrorFor(error, path);
  } finally {
    await held.close();
  }
}

/** A workspace reached through a link has another real path: files below that real path are in the workspace too. */
export function judgeReal(real: string, access: Access, world: ToolContext): Judgement {
  const workspace = realpathSync.native(world.workspace);
  const input = isWithin(real, workspace) ? world.workspace + real.slice(workspace.length) : real;
  return world.guard.check(pathSubject(input, access));
}

/** The findings on the name and on the object, without duplicates. */
export function mergeJudgements(a: Judgement, b: Judgement): Judgement {
  const known = new Set(a.findings.map(({ rule, action }) => `${rule} ${action}`));
  return judgementOf([
    ...a.findings,
    ...b.findings.filter(({ rule, action }) => !known.has(`${rule} ${action}`)),
  ]);
}

export function judgementOf(findings: readonly Finding[]): Judgement {
  return { findings, action: findings.reduce<Action>((action, f) => strictest(action, f.action), "allow") };
}

/** Digest of the tool, its target, and its new content. */
export function operationDigest(
  tool: string,
  real: string,
  ...content: readonly (string | Uint8Array)[]
): string {
  const hash = createHash("sha256").update(JSON.stringify([tool, real]));
  for (const part of content) hash.update(`\n${Buffer.byteLength(part)}\n`).update(part);
  return hash.digest("hex");
}

interface IntentParts {
  readonly what: string;
  readonly subject: Subject;
  readonly judgement: Judgement;
  readonly digest: string;
  readonly detail?: NonNullable<ToolIntent["detail"]>;
}

export function intentOf({ what, judgement, ...about }: IntentParts): ToolIntent {
  return { ...judgement, ...about, what: escapeControl(what) };
}

export function pathSubject(path: string, access: Access): Subject {
  return { kind: "path", input: path, fields: { access } };
}

/** Only what was allowed may run: the same action on the same object, with no finding that the approver has not seen. */
export function requireApproved(call: ToolCall, { action, findings }: Judgement, digest: string): void {
  const refused = findings.find((finding) => finding.action === "deny");
  if (refused) throw new ToolRefusal(refused.rule, said(refused));
  const unseen = findings.find(({ action: its, rule }) => its === "ask" && !call.approved.includes(rule));
  if (action === "ask" && unseen)
    throw new ToolRefusal(unseen.rule, `This finding was not approved: ${said(unseen)}`);
  if (digest !== call.digest)
    throw new ToolRefusal("changed-since-judged", "The target changed after the call was judged: try again.");
}

function said({ reason, instead }: Finding): string {
  return instead ? `${reason} ${instead}` : reason;
}

/** The path for people and agents: relative to the workspace, as the agent would write it. */
export function nameIn(world: ToolContext, real: string): string {
  const inside = real !== world.workspace && isWithin(real, world.workspace);
  return inside && world.workspace !== "/" ? real.slice(world.workspace.length + 1) : real;
}
