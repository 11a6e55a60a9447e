import { resolve } from "node:path";
import { native, PROBE } from "../kernel/binding/native.js";
import { Fence } from "../kernel/fence/fence.js";
import type { Policy } from "../policy/policy.js";
import { findProgram } from "./find-program.js";
import type { SessionOptions } from "./options.js";
import type { VirtualFiles } from "./virtual-files.js";

/** The fence that the session's options and policies ask for. */
export function makeFence(
  options: SessionOptions,
  policies: readonly Policy[],
  virtualFiles: VirtualFiles,
): Fence {
  const { command, env, fence, trace } = options;
  const cwd = resolve(options.cwd ?? ".");
  const files = policies.flatMap(({ file, files = [] }) => [...(file === undefined ? [] : [file]), ...files]);
  const strict = [fence, ...policies.map((policy) => policy.fence)].some(
    (asked) => asked?.level === "strict",
  );
  return new Fence(fence, policies, {
    cwd,
    env,
    workspace: process.env.HERMES_WORKSPACE ?? cwd,
    program: resolve(cwd, options.file ?? findProgram(command[0]!, env.PATH, cwd)),
    ours: [...new Set([...files, ...(typeof trace?.file === "string" ? [resolve(trace.file)] : [])])],
    shown: strict ? [virtualFiles.folder] : [],
    landlock: (native().probe() >> PROBE.landlockShift) & 0xff,
    confine: options.defence !== "stops",
  });
}
