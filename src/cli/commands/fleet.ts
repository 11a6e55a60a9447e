import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, extname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { diff } from "../../agents/tools/files/diff.js";
import { dropPartitionsBefore } from "../../fleet/audit-partitions.js";
import { Fleet } from "../../fleet/fleet.js";
import { enroll, type Host, hosts, revoke, setLabels } from "../../fleet/hosts.js";
import { labelsOf, shownLabels } from "../../fleet/labels.js";
import { releaseText } from "../../fleet/release-text.js";
import {
  advance,
  assignments,
  pinHost,
  push,
  ROLLBACK_LIMITS,
  rollBack,
  settleRelease,
  tryRelease,
} from "../../fleet/releases.js";
import { traceStorageAt } from "../../fleet/trace-storage.js";
import { download, traces } from "../../fleet/traces.js";
import type { PolicyTrial } from "../../fleet/trial.js";
import { HermesError } from "../../nouns/errors.js";
import { counted, escapeControl } from "../../nouns/text.js";
import { loadPolicy } from "../../policy/load.js";
import { fingerprint, makeKeys, readPrivateKey, readPublicKey } from "../../record/audit/keys.js";
import { pointInTime, usageError, wholeNumber } from "../options/values.js";
import { userName } from "../run/terminal-approver.js";
import { paint, print } from "../views/output.js";

interface FleetFlags {
  readonly store?: string;
  readonly json?: boolean;
  readonly label?: readonly string[];
  readonly to?: readonly string[];
  readonly name?: string;
  readonly rank?: string;
  readonly percent?: string;
  readonly jump?: string;
  readonly sign?: string;
  readonly output?: string;
  readonly wait?: string;
  readonly from?: string;
}

export async function fleetEnrollCommand(name: string, flags: FleetFlags): Promise<number> {
  return withFleet(flags, async (fleet, url) => {
    const labels = labelsOf(flags.label ?? []);
    const { id, role, key } = await fleet.write(() => enroll(name, labels, Date.now()));
    await fleet.write(settleRelease);
    const line = withRole(url, role, key);
    if (flags.output !== undefined) writeFileSync(flags.output, `${line}\n`, { mode: 0o600, flag: "wx" });
    if (flags.json)
      print(
        `${JSON.stringify({ host: id, role, ...(flags.output ? { file: flags.output } : { url: line }) })}\n`,
      );
    else if (flags.output !== undefined)
      print(`${id}: the key is in ${flags.output}: move the file to that host and delete it here\n`);
    else print(`${line}\n`);
    return 0;
  });
}

/** The same server's address with another login. */
function withRole(url: string, role: string, key: string): string {
  const parsed = new URL(url);
  parsed.username = role;
  parsed.password = key;
  return parsed.toString();
}

export async function fleetHostsCommand(flags: FleetFlags): Promise<number> {
  return withFleet(flags, async (fleet) => {
    const all = await fleet.read(hosts);
    if (flags.json) print(`${JSON.stringify(all)}\n`);
    else if (all.length === 0) print("No hosts. Add one: hermes fleet enroll NAME\n");
    else for (const host of all) print(hostLine(host));
    return 0;
  });
}

function hostLine({
  id,
  state,
  labels,
  version,
  sessions,
  wanted,
  applied,
  pinned,
  calls,
  denied,
  trouble,
}: Host): string {
  const p = paint(1);
  const colour = state === "online" ? "green" : state === "away" ? "red" : "dim";
  const policy =
    wanted === null
      ? "no policy"
      : applied === wanted
        ? `policy ${applied}`
        : `policy ${applied ?? "none"}, assigned ${wanted}`;
  const parts = [
    p(colour, state),
    shownLabels(labels),
    version ?? "",
    `${policy}${pinned === null ? "" : " (pinned)"}`,
    `${sessions.length} running`,
    calls > 0 ? `${denied} of ${counted(calls, "call")} refused` : "",
  ].filter(Boolean);
  const told = trouble === null ? "" : `  ${p("yellow", escapeControl(trouble))}\n`;
  return `${p("bold", id)}  ${escapeControl(parts.join("  "))}\n${told}`;
}

export async function fleetLabelCommand(
  name: string,
  words: readonly string[],
  flags: FleetFlags,
): Promise<number> {
  return withFleet(flags, async (fleet) => {
    const removed = words
      .filter((word) => word.endsWith("-") && !word.includes("="))
      .map((word) => word.slice(0, -1));
    const set = labelsOf(words.filter((word) => word.includes("=") || !word.endsWith("-")));
    const labels = await fleet.write(() => setLabels(name, set, removed));
    await fleet.write(settleRelease);
    print(flags.json ? `${JSON.stringify(labels)}\n` : `${name}  ${shownLabels(labels)}\n`);
    return 0;
  });
}

export async function fleetRevokeCommand(name: string, flags: FleetFlags): Promise<number> {
  return withFleet(flags, async (fleet) => {
    await fleet.write(() => revoke(name, Date.now()));
    print(flags.json ? `${JSON.stringify({ host: name, state: "revoked" })}\n` : `${name} is revoked\n`);
    return 0;
  });
}

export async function fleetPushCommand(file: string, flags: FleetFlags): Promise<number> {
  const text = await checked(file);
  const percent = percentOf(flags.percent ?? "100");
  const key = signingKey(flags.sign);
  const name = flags.name ?? basename(file, extname(file));
  return withFleet(flags, async (fleet) => {
    const serial = await fleet.write(() =>
      push({
        name,
        text,
        percent,
        selector: labelsOf(flags.to ?? []),
        rank: wholeNumber("--rank", flags.rank ?? "100"),
        limits: {
          ...ROLLBACK_LIMITS,
          ...(flags.jump !== undefined && { jump: percentOf(flags.jump) / 100 }),
        },
        by: `cli:${userName()}`,
        ...(key && { key }),
      }),
    );
    const wanted = (await fleet.read(hosts)).filter((host) => host.wanted === serial).map(({ id }) => id);
    if (flags.json) print(`${JSON.stringify({ name, serial, hosts: wanted })}\n`);
    else print(`policy ${serial} (${escapeControl(name)}) for ${counted(wanted.length, "host")}\n`);
    return 0;
  });
}

/** The policy must be self-contained: hosts get only this file. */
async function checked(file: string): Promise<string> {
  if (![".yaml", ".yml"].includes(extname(file)))
    throw usageError("a fleet policy must be a YAML file: Lua and TypeScript policies are programs");
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (cause) {
    throw new HermesError(
      "POLICY_NOT_FOUND",
      { file, errno: (cause as NodeJS.ErrnoException).code ?? "?" },
      { cause },
    );
  }
  await loadPolicy(file);
  const folder = mkdtempSync(join(tmpdir(), "hermes-push-"));
  try {
    writeFileSync(join(folder, "policy.yaml"), text);
    await loadPolicy(join(folder, "policy.yaml"));
  } catch (error) {
    throw new HermesError("FLEET", {
      message: `${file} needs other files, but hosts get only this file: ${(error as Error).message}`,
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return text;
}

function signingKey(file: string | undefined) {
  if (file === undefined) return undefined;
  const key = readPrivateKey(file);
  if (!key) throw new HermesError("FLEET", { message: `${file}: no such key file` });
  return key;
}

function percentOf(text: string): number {
  const value = Number(text.replace(/%$/, ""));
  if (!(value >= 0 && value <= 100)) throw usageError(`a percentage is 0 to 100, not "${text}"`);
  return value;
}

export async function fleetPoliciesCommand(flags: FleetFlags): Promise<number> {
  return withFleet(flags, async (fleet) => {
    const all = await fleet.read(assignments);
    if (flags.json) print(`${JSON.stringify(all)}\n`);
    else if (all.length === 0) print("No policies. Release one: hermes fleet push FILE\n");
    else
      for (const { name, selector, release, next, percent, state } of all) {
        const to = shownLabels(selector) || "all hosts";
        const coming = next === null ? "" : `, ${next} on ${percent} %`;
        print(`${escapeControl(name)}  ${to}  ${state}: ${release ?? "none"}${coming}\n`);
      }
    return 0;
  });
}

export async function fleetRolloutCommand(name: string, what: string, flags: FleetFlags): Promise<number> {
  return withFleet(flags, async (fleet) => {
    if (what === "abort") await fleet.write(() => rollBack(name));
    else {
      const percent = what === "finish" ? 100 : percentOf(what);
      await fleet.write(() => advance(name, percent));
    }
    const [now] = (await fleet.read(assignments)).filter((one) => one.name === name);
    if (flags.json) print(`${JSON.stringify(now)}\n`);
    else
      print(
        `${escapeControl(name)}  ${now!.state}: ${now!.release ?? "none"}${now!.next === null ? "" : `, ${now!.next} on ${now!.percent} %`}\n`,
      );
    return 0;
  });
}

export async function fleetPinCommand(host: string, serial: string, flags: FleetFlags): Promise<number> {
  const number = serial === "none" ? null : wholeNumber("a policy", serial);
  const key = signingKey(flags.sign);
  return withFleet(flags, async (fleet) => {
    const given = await fleet.write(() => pinHost(host, number, `cli:${userName()}`, key));
    if (flags.json) print(`${JSON.stringify({ host, pinned: given })}\n`);
    else
      print(
        given === null
          ? `${host} is no longer pinned\n`
          : `${host} is pinned to policy ${number}, released again as ${given}\n`,
      );
    return 0;
  });
}

/** Exits 3 when a decision would differ on some host. */
export async function fleetTryCommand(file: string, flags: FleetFlags): Promise<number> {
  const text = await checked(file);
  const patience = wholeNumber("--wait", flags.wait ?? "30") * 1000;
  return withFleet(flags, async (fleet) => {
    const asked = await fleet.write(() => tryRelease(text, labelsOf(flags.to ?? []), `cli:${userName()}`));
    const told = new Map<string, PolicyTrial>();
    for (
      const end = Date.now() + patience;
      told.size < asked.hosts.length && Date.now() < end;
      await sleep(200)
    )
      for (const { id, trialResult } of await fleet.read(hosts))
        if ((trialResult as PolicyTrial | null)?.serial === asked.serial)
          told.set(id, trialResult as PolicyTrial);
    const silent = asked.hosts.filter((id) => !told.has(id));
    if (flags.json)
      print(`${JSON.stringify({ serial: asked.serial, hosts: Object.fromEntries(told), silent })}\n`);
    else {
      for (const [id, trial] of told) print(trialLines(id, trial));
      if (silent.length > 0) print(`no answer from ${silent.join(", ")}\n`);
    }
    return [...told.values()].some(({ changes }) => changes > 0) ? 3 : 0;
  });
}

function trialLines(id: string, { traces, events, changes, examples, problem }: PolicyTrial): string {
  const head = `${id}  ${changes} of ${counted(events, "event")} in ${counted(traces, "trace")} would be decided differently`;
  const lines = examples.map(
    ({ event, before, now, count }) => `  ${before} → ${now}  ${event}${count > 1 ? `  ×${count}` : ""}`,
  );
  return `${[head, ...lines, ...(problem === undefined ? [] : [`  ${problem}`])].map((line) => escapeControl(line)).join("\n")}\n`;
}

/** Shows the differences; exits 1 when there are some. */
export async function fleetDiffCommand(name: string, file: string, flags: FleetFlags): Promise<number> {
  const text = await checked(file);
  return withFleet(flags, async (fleet) => {
    const found = (await fleet.read(assignments)).find((one) => one.name === name);
    if (!found)
      throw new HermesError("FLEET", {
        message: `there is no policy named ${name} (list them with hermes fleet policies)`,
      });
    const { release } = found;
    const old = release === null ? "" : await fleet.read(() => releaseText(release));
    const changes = old === text ? "" : `${diff(old, text)}\n`;
    if (flags.json) print(`${JSON.stringify({ name, release, diff: changes })}\n`);
    else
      print(
        changes
          .split("\n")
          .map((line) => escapeControl(line))
          .join("\n"),
      );
    return changes === "" ? 0 : 1;
  });
}

export async function fleetTracesCommand(flags: FleetFlags): Promise<number> {
  return withFleet(flags, async (fleet) => {
    const all = await fleet.read(traces);
    if (flags.json) print(`${JSON.stringify(all)}\n`);
    else if (all.length === 0) print("No host has uploaded a trace.\n");
    else
      for (const { id, host, name, bytes, changed } of all)
        print(
          escapeControl(`${id}  ${host}  ${name}  ${bytes} bytes  ${new Date(changed).toISOString()}`).concat(
            "\n",
          ),
        );
    return 0;
  });
}

export async function fleetFetchCommand(id: string, file: string, flags: FleetFlags): Promise<number> {
  const place = traceStorageAt(flags.from!);
  return withFleet(flags, async (fleet) => {
    const found = (await fleet.read(traces)).filter((one) => one.id.startsWith(id));
    if (found.length !== 1)
      throw new HermesError("FLEET", { message: `${found.length} traces begin with ${id}` });
    await download(place, found[0]!, file);
    if (flags.json) print(`${JSON.stringify({ ...found[0]!, file })}\n`);
    return 0;
  });
}

export async function fleetKeygenCommand(beside: string, flags: FleetFlags): Promise<number> {
  const files = makeKeys(beside);
  const print256 = fingerprint(readPublicKey(files.pub)!);
  if (flags.json) print(`${JSON.stringify({ ...files, fingerprint: print256 })}\n`);
  else
    print(
      `${files.key}  private key: signs policies; keep it off the hosts\n${files.pub}  public key: for hermes fleet daemon --trust\nsha256 ${print256}\n`,
    );
  return 0;
}

export async function fleetForgetCommand(before: string, flags: FleetFlags): Promise<number> {
  const time = pointInTime("--before", before);
  return withFleet(flags, async (fleet) => {
    const { records, parts } = await fleet.write(() => dropPartitionsBefore(time));
    if (flags.json) print(`${JSON.stringify({ records, parts })}\n`);
    else print(`${counted(records, "record")} from before ${new Date(time).toISOString()} deleted\n`);
    return 0;
  });
}

async function withFleet(
  flags: FleetFlags,
  act: (fleet: Fleet, url: string) => Promise<number>,
): Promise<number> {
  const fleet = await Fleet.open(flags.store);
  try {
    return await act(fleet, flags.store || process.env.HERMES_STORE || "");
  } finally {
    await fleet.close();
  }
}
