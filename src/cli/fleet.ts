import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, extname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fingerprint, makeKeys, readPrivateKey, readPublicKey } from "../audit/keys.js";
import { HermesError } from "../errors.js";
import { Fleet } from "../fleet/fleet.js";
import { enroll, type Host, hosts, revoke, setLabels } from "../fleet/hosts.js";
import { labelsOf, shownLabels } from "../fleet/labels.js";
import { dropBefore } from "../fleet/parts.js";
import { placeOf } from "../fleet/place.js";
import { advance, assignments, LIMITS, pin, push, settle, takeBack, tryOut } from "../fleet/releases.js";
import { textOf } from "../fleet/texts.js";
import { download, traces } from "../fleet/traces.js";
import type { Trial } from "../fleet/trial.js";
import { loadPolicy } from "../policy/load.js";
import { harmless } from "../text.js";
import { diff } from "../tools/files/diff.js";
import { userName } from "./ask.js";
import { paint, print } from "./output.js";
import { pointInTime, usage, wholeNumber } from "./values.js";

export interface FleetFlags {
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

export async function enrollCommand(name: string, flags: FleetFlags): Promise<number> {
  return withFleet(flags, async (fleet, url) => {
    const labels = labelsOf(flags.label ?? []);
    const { id, role, key } = await fleet.write(() => enroll(name, labels, Date.now()));
    await fleet.write(settle);
    const line = withRole(url, role, key);
    if (flags.output !== undefined) writeFileSync(flags.output, `${line}\n`, { mode: 0o600, flag: "wx" });
    if (flags.json)
      print(
        `${JSON.stringify({ host: id, role, ...(flags.output ? { file: flags.output } : { url: line }) })}\n`,
      );
    else if (flags.output !== undefined)
      print(`${id}: its key is in ${flags.output}: take it there, and remove it here\n`);
    else print(`${line}\n`);
    return 0;
  });
}

/** The way to the same server, for another. */
function withRole(url: string, role: string, key: string): string {
  const parsed = new URL(url);
  parsed.username = role;
  parsed.password = key;
  return parsed.toString();
}

export async function hostsCommand(flags: FleetFlags): Promise<number> {
  return withFleet(flags, async (fleet) => {
    const all = await fleet.read(hosts);
    if (flags.json) print(`${JSON.stringify(all)}\n`);
    else if (all.length === 0) print("There are no hosts: hermes fleet enroll NAME\n");
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
        : `policy ${applied ?? "none"}, wants ${wanted}`;
  const parts = [
    p(colour, state),
    shownLabels(labels),
    version ?? "",
    `${policy}${pinned === null ? "" : " (pinned)"}`,
    `${sessions.length} running`,
    calls > 0 ? `${denied} of ${calls} calls refused` : "",
  ].filter(Boolean);
  const told = trouble === null ? "" : `  ${p("yellow", harmless(trouble))}\n`;
  return `${p("bold", id)}  ${harmless(parts.join("  "))}\n${told}`;
}

export async function labelCommand(
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
    await fleet.write(settle);
    print(flags.json ? `${JSON.stringify(labels)}\n` : `${name}  ${shownLabels(labels)}\n`);
    return 0;
  });
}

export async function revokeCommand(name: string, flags: FleetFlags): Promise<number> {
  return withFleet(flags, async (fleet) => {
    await fleet.write(() => revoke(name, Date.now()));
    print(flags.json ? `${JSON.stringify({ host: name, state: "revoked" })}\n` : `${name} is shut out\n`);
    return 0;
  });
}

export async function pushCommand(file: string, flags: FleetFlags): Promise<number> {
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
        limits: { ...LIMITS, ...(flags.jump !== undefined && { jump: percentOf(flags.jump) / 100 }) },
        by: `cli:${userName()}`,
        ...(key && { key }),
      }),
    );
    const wanted = (await fleet.read(hosts)).filter((host) => host.wanted === serial).map(({ id }) => id);
    if (flags.json) print(`${JSON.stringify({ name, serial, hosts: wanted })}\n`);
    else
      print(
        `policy ${serial} (${harmless(name)}) for ${wanted.length} host${wanted.length === 1 ? "" : "s"}\n`,
      );
    return 0;
  });
}

/** It must stand alone: on the hosts there is nothing beside it. */
async function checked(file: string): Promise<string> {
  if (![".yaml", ".yml"].includes(extname(file)))
    throw usage("a policy for other hosts is a YAML file: those in Lua and TypeScript are programs");
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
      message: `${file} needs what lies beside it, and the hosts have only this file: ${(error as Error).message}`,
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return text;
}

function signingKey(file: string | undefined) {
  if (file === undefined) return undefined;
  const key = readPrivateKey(file);
  if (!key) throw new HermesError("FLEET", { message: `${file}: there is no such key` });
  return key;
}

function percentOf(text: string): number {
  const value = Number(text.replace(/%$/, ""));
  if (!(value >= 0 && value <= 100)) throw usage(`a share is 0 to 100 percent, not "${text}"`);
  return value;
}

export async function policiesCommand(flags: FleetFlags): Promise<number> {
  return withFleet(flags, async (fleet) => {
    const all = await fleet.read(assignments);
    if (flags.json) print(`${JSON.stringify(all)}\n`);
    else if (all.length === 0) print("No policy was given out: hermes fleet push FILE\n");
    else
      for (const { name, selector, release, next, percent, state } of all) {
        const to = shownLabels(selector) || "all hosts";
        const coming = next === null ? "" : `, ${next} on ${percent} %`;
        print(`${harmless(name)}  ${to}  ${state}: ${release ?? "none"}${coming}\n`);
      }
    return 0;
  });
}

export async function rolloutCommand(name: string, what: string, flags: FleetFlags): Promise<number> {
  return withFleet(flags, async (fleet) => {
    if (what === "abort") await fleet.write(() => takeBack(name));
    else {
      const percent = what === "finish" ? 100 : percentOf(what);
      await fleet.write(() => advance(name, percent));
    }
    const [now] = (await fleet.read(assignments)).filter((one) => one.name === name);
    if (flags.json) print(`${JSON.stringify(now)}\n`);
    else
      print(
        `${harmless(name)}  ${now!.state}: ${now!.release ?? "none"}${now!.next === null ? "" : `, ${now!.next} on ${now!.percent} %`}\n`,
      );
    return 0;
  });
}

export async function pinCommand(host: string, serial: string, flags: FleetFlags): Promise<number> {
  const number = serial === "none" ? null : wholeNumber("a policy", serial);
  const key = signingKey(flags.sign);
  return withFleet(flags, async (fleet) => {
    const given = await fleet.write(() => pin(host, number, `cli:${userName()}`, key));
    if (flags.json) print(`${JSON.stringify({ host, pinned: given })}\n`);
    else
      print(
        given === null
          ? `${host} is not pinned\n`
          : `${host} stays with what ${number} is, given out as ${given}\n`,
      );
    return 0;
  });
}

/** Exits 3 when something would be decided otherwise on some host. */
export async function tryCommand(file: string, flags: FleetFlags): Promise<number> {
  const text = await checked(file);
  const patience = wholeNumber("--wait", flags.wait ?? "30") * 1000;
  return withFleet(flags, async (fleet) => {
    const asked = await fleet.write(() => tryOut(text, labelsOf(flags.to ?? []), `cli:${userName()}`));
    const told = new Map<string, Trial>();
    for (
      const end = Date.now() + patience;
      told.size < asked.hosts.length && Date.now() < end;
      await sleep(200)
    )
      for (const { id, trialResult } of await fleet.read(hosts))
        if ((trialResult as Trial | null)?.serial === asked.serial) told.set(id, trialResult as Trial);
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

function trialLines(id: string, { traces, events, changes, examples, problem }: Trial): string {
  const head = `${id}  ${changes} of ${events} events in ${traces} traces would be decided otherwise`;
  const lines = examples.map(
    ({ event, before, now, count }) => `  ${before} → ${now}  ${event}${count > 1 ? `  ×${count}` : ""}`,
  );
  return `${[head, ...lines, ...(problem === undefined ? [] : [`  ${problem}`])].map((line) => harmless(line)).join("\n")}\n`;
}

/** What would change; exits 1 when something would. */
export async function diffCommand(name: string, file: string, flags: FleetFlags): Promise<number> {
  const text = await checked(file);
  return withFleet(flags, async (fleet) => {
    const found = (await fleet.read(assignments)).find((one) => one.name === name);
    if (!found) throw new HermesError("FLEET", { message: `there is no ${name}: hermes fleet policies` });
    const { release } = found;
    const old = release === null ? "" : await fleet.read(() => textOf(release));
    const changes = old === text ? "" : `${diff(old, text)}\n`;
    if (flags.json) print(`${JSON.stringify({ name, release, diff: changes })}\n`);
    else
      print(
        changes
          .split("\n")
          .map((line) => harmless(line))
          .join("\n"),
      );
    return changes === "" ? 0 : 1;
  });
}

export async function tracesCommand(flags: FleetFlags): Promise<number> {
  return withFleet(flags, async (fleet) => {
    const all = await fleet.read(traces);
    if (flags.json) print(`${JSON.stringify(all)}\n`);
    else if (all.length === 0) print("No host has brought a trace.\n");
    else
      for (const { id, host, name, bytes, changed } of all)
        print(
          harmless(`${id}  ${host}  ${name}  ${bytes} bytes  ${new Date(changed).toISOString()}`).concat(
            "\n",
          ),
        );
    return 0;
  });
}

export async function fetchCommand(id: string, file: string, flags: FleetFlags): Promise<number> {
  const place = placeOf(flags.from!);
  return withFleet(flags, async (fleet) => {
    const found = (await fleet.read(traces)).filter((one) => one.id.startsWith(id));
    if (found.length !== 1)
      throw new HermesError("FLEET", { message: `${found.length} traces begin with ${id}` });
    await download(place, found[0]!, file);
    if (flags.json) print(`${JSON.stringify({ ...found[0]!, file })}\n`);
    return 0;
  });
}

export async function keygenCommand(beside: string, flags: FleetFlags): Promise<number> {
  const files = makeKeys(beside);
  const print256 = fingerprint(readPublicKey(files.pub)!);
  if (flags.json) print(`${JSON.stringify({ ...files, fingerprint: print256 })}\n`);
  else
    print(
      `${files.key}  signs policies: keep it where no host is\n${files.pub}  for hermes agent --trust\nsha256 ${print256}\n`,
    );
  return 0;
}

export async function forgetCommand(before: string, flags: FleetFlags): Promise<number> {
  const time = pointInTime("--before", before);
  return withFleet(flags, async (fleet) => {
    const { records, parts } = await fleet.write(() => dropBefore(time));
    if (flags.json) print(`${JSON.stringify({ records, parts })}\n`);
    else print(`${records} records from before ${new Date(time).toISOString()} are gone\n`);
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
