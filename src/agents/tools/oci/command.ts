import { readFileSync } from "node:fs";
import { HermesError } from "../../../nouns/errors.js";
import type { Mount } from "./package.js";
import type { ContainerPlan } from "./plan.js";

/** `podman run` or `docker run`. */
export function runArguments(engine: "podman" | "docker", image: string, plan: ContainerPlan): string[] {
  const { uid, gid } = plan.user;
  const [program, ...words] = plan.command;
  return [
    "run",
    "--rm",
    "--interactive",
    "--pull=never",
    `--name=${plan.name}`,
    // The output goes to the caller only: the engine must not log it.
    "--log-driver=none",
    "--cap-drop=ALL",
    "--security-opt=no-new-privileges",
    `--pids-limit=${plan.pids}`,
    `--memory=${sizeText(plan.memory)}`,
    `--cpu-shares=${plan.cpuShares}`,
    `--network=${plan.network}`,
    ...(plan.readOnly ? ["--read-only"] : []),
    "--tmpfs=/tmp:rw,exec,nosuid,nodev,mode=1777",
    `--user=${uid}:${gid}`,
    ...(engine === "podman" && uid !== 0 ? ["--userns=keep-id"] : []),
    // The engine's own default may exceed what this user has.
    ...ulimits(),
    ...plan.mounts.map((mount) => `--mount=${mountOption(mount)}`),
    ...Object.entries(plan.env).map(([name, value]) => `--env=${name}=${value}`),
    "--workdir=/",
    `--entrypoint=${program}`,
    image,
    ...words,
  ];
}

/** Both engines parse this as CSV; a path that would need quoting is refused. */
function mountOption({ source, target, writable }: Mount): string {
  const odd = [source, target].find((path) => /[",\n\r]/.test(path));
  if (odd !== undefined)
    throw new HermesError("BACKEND", {
      where: "a container",
      message: `${JSON.stringify(odd)} cannot be mounted: its name has a comma, a quote or a line break`,
    });
  return `type=bind,src=${source},dst=${target}${writable ? "" : ",readonly"}`;
}

function sizeText(bytes: number): string {
  const mebibyte = 1024 ** 2;
  return bytes % mebibyte === 0 ? `${bytes / mebibyte}m` : `${bytes}b`;
}

/** podman needs this many itself, and its container cannot have more. */
const MOST_PROCESSES = 32768;

function ulimits(): string[] {
  const limits = readFileSync("/proc/self/limits", "utf8");
  const own = (words: string) =>
    Number(new RegExp(`^Max ${words} +\\d+ +(\\d+)`, "m").exec(limits)?.[1] ?? Infinity);
  const [files, processes] = [own("open files"), Math.min(own("processes"), MOST_PROCESSES)];
  return [`nproc=${processes}:${processes}`, ...(files < Infinity ? [`nofile=${files}:${files}`] : [])].map(
    (limit) => `--ulimit=${limit}`,
  );
}
