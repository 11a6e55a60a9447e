import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { parseFlags, type SyscallName, syscallByName } from "../../../src/abi/index.js";
import { parseAddress } from "../../../src/nouns/address.js";
import type { CallEvent } from "../../../src/nouns/event.js";
import { flagsArgument } from "../../../src/policy/match/flags.js";
import { type MadeUpCall, madeUpEvent } from "../../../src/policy/yaml/example-event.js";
import { type LoadContext, loadYaml, type YamlPolicy } from "../../../src/policy/yaml/load.js";

const folder = mkdtempSync(join(tmpdir(), "hermes-yaml-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let count = 0;

/** An imaginary machine: no links, no network, two users. */
export const NOWHERE: Partial<LoadContext> = {
  workspace: "/srv/space",
  home: "/home/me",
  cwd: "/srv/space",
  tmp: ["/tmp"],
  realpath: (path) => path,
  lookUp: async (host) => {
    if (host === "example.org") return ["93.184.216.34", "2606:2800:220:1::1"];
    if (host === "empty.example") return [];
    throw Object.assign(new Error("not found"), { code: "ENOTFOUND" });
  },
  uidOf: (user) => ({ root: 0, me: 1000 })[user],
};

export function write(text: string, name = `policy-${count++}.yaml`): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

export function load(text: string, given: Partial<LoadContext> = {}): Promise<YamlPolicy> {
  return loadYaml(write(text), { ...NOWHERE, ...given });
}

/** A policy of these rules, each a line of YAML flow style without its braces. */
export function rules(...lines: string[]): Promise<YamlPolicy> {
  return load(`name: test\nrules:\n${lines.map((line, i) => `  - { id: r${i + 1}, ${line} }`).join("\n")}\n`);
}

/** The error that loading gives, without the temporary folder's name. */
export async function errorOf(text: string, given: Partial<LoadContext> = {}): Promise<string> {
  const file = write(text);
  try {
    await loadYaml(file, { ...NOWHERE, ...given });
  } catch (error) {
    return (error as Error).message.replaceAll(file, "x.yaml").replaceAll(`${folder}/`, "");
  }
  throw new Error("it loaded");
}

type Made = Omit<MadeUpCall, "call" | "flags" | "address" | "addresses" | "peer" | "local"> & {
  flags?: string | number;
  address?: string;
  addresses?: string[];
  peer?: string;
  local?: string;
};

export function event(name: SyscallName, made: Made = {}): CallEvent {
  const call = syscallByName(name);
  const { flags, address, addresses, peer, local, ...rest } = made;
  const table = flagsArgument(call)?.table;
  const parse = (text: string) => parseAddress(text)!;
  return madeUpEvent({
    call,
    ...(flags !== undefined && { flags: typeof flags === "number" ? flags : parseFlags(table!, flags) }),
    ...(address !== undefined && { address: parse(address) }),
    ...(addresses && { addresses: addresses.map(parse) }),
    ...(peer !== undefined && { peer: parse(peer) }),
    ...(local !== undefined && { local: parse(local) }),
    ...rest,
  });
}

export const open = (path: string, flags = "O_RDONLY") => event("openat", { paths: [path], flags });
export const connect = (address: string) => event("connect", { address });
export const exec = (argv: string[], path = `/usr/bin/${argv[0]}`, env: string[] = []) =>
  event("execve", { paths: [path], argv, env });

/** The rule that decides, or the action where no rule did. */
export function ruleOf(policy: YamlPolicy, call: CallEvent): string | undefined {
  return policy.decide(call)?.rule;
}
