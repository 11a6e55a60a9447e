import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { userFile } from "../../intent/guard/config/load.js";
import { fetchChecked } from "../../intent/guard/urls/fetch.js";
import { systemResolve } from "../../intent/guard/urls/reach-url.js";
import { changeUserFile, documentOf } from "../../people/approval/user-file.js";
import { usageError } from "../options/values.js";
import { print, say } from "../views/output.js";

interface Flags {
  readonly sha256: string;
  readonly signature?: string;
  readonly key?: string;
}

const MOST = 256 * 1024 * 1024;
const TIMEOUT_MS = 300_000;

/** Nothing is installed that was not verified: the bytes that are checked are the bytes that are written. */
export async function tirithInstallCommand(from: string, flags: Flags): Promise<number> {
  const wanted = flags.sha256.toLowerCase();
  if (!/^[0-9a-f]{64}$/.test(wanted)) throw usageError("--sha256 takes 64 hexadecimal digits");
  if ((flags.signature === undefined) !== (flags.key === undefined))
    throw usageError("--signature and --key go together");
  const bytes = await bytesOf(from);
  const found = createHash("sha256").update(bytes).digest("hex");
  if (found !== wanted)
    throw usageError(`${from} has the SHA-256 ${found}, not ${wanted}: it is not installed`);
  const home = process.env.HERMES_HOME || join(homedir(), ".hermes");
  const folder = join(home, "bin");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const draft = join(folder, `tirith.${process.pid}.new`);
  const target = join(folder, "tirith");
  rmSync(draft, { force: true });
  try {
    writeFileSync(draft, bytes, { mode: 0o700, flag: "wx", flush: true });
    verifySignature(draft, flags);
    renameSync(draft, target);
  } finally {
    rmSync(draft, { force: true });
  }
  const file = await pin(target, wanted);
  print(`installed ${target}, pinned in ${file}\n`);
  return 0;
}

async function bytesOf(from: string): Promise<Buffer> {
  if (!/^[a-z]+:\/\//i.test(from)) return readFileSync(from);
  if (!from.startsWith("https://")) throw usageError(`a download is taken from https, not from ${from}`);
  const { status, body, truncated } = await fetchChecked(from, {
    resolve: systemResolve,
    bytes: MOST,
    timeout: TIMEOUT_MS,
  });
  if (status !== 200 || truncated)
    throw usageError(`${from} cannot be taken: status ${status}${truncated ? ", too large" : ""}`);
  return body;
}

function verifySignature(file: string, { signature, key }: Flags): void {
  const has = spawnSync("cosign", ["version"], { stdio: "ignore" }).status === 0;
  if (signature === undefined || key === undefined) {
    if (has) say("hermes: cosign is installed: --signature and --key would also say who made this binary\n");
    return;
  }
  if (!has) throw usageError("a signature is verified with cosign, which is not on PATH");
  const { status, stderr } = spawnSync(
    "cosign",
    ["verify-blob", "--key", key, "--signature", signature, file],
    { encoding: "utf8", timeout: TIMEOUT_MS },
  );
  if (status !== 0)
    throw usageError(`the signature does not fit, so it is not installed: ${stderr.trim().slice(0, 300)}`);
}

async function pin(path: string, sha256: string): Promise<string> {
  const file = userFile({ workspace: ".", home: homedir(), env: process.env });
  await changeUserFile(file, (text) => {
    const document = documentOf(text, file);
    if (document.contents === null) document.contents = document.createNode({}) as never;
    document.setIn(["security", "tirith_path"], path);
    document.setIn(["security", "tirith_sha256"], sha256);
    return document.toString({ lineWidth: 0 });
  });
  return file;
}
