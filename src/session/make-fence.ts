import { fstatSync, lstatSync, readlinkSync, type Stats } from "node:fs";
import { homedir } from "node:os";
import { resolve } from "node:path";
import { callNumber } from "../abi/named.js";
import { native, PROBE } from "../kernel/binding/native.js";
import { Fence } from "../kernel/fence/fence.js";
import { View, type VisiblePlaces } from "../kernel/view/view.js";
import { checkWorkspace } from "../nouns/workspace.js";
import type { Policy } from "../policy/policy.js";
import { findProgram } from "./find-program.js";
import type { SessionOptions } from "./options.js";
import { filesToProtect, scanFolder } from "./protected-files.js";
import { recordedCalls } from "./recorded-calls.js";
import { sessionWorkspace } from "./session-workspace.js";
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
  const workspace = sessionWorkspace(options);
  return new Fence(fence, policies, {
    cwd,
    env,
    workspace: workspace.folder,
    checkWorkspace: () => checkWorkspace(workspace, "the strict fence"),
    program: resolve(cwd, options.file ?? findProgram(command[0]!, env.PATH, cwd)),
    ours: [...new Set([...files, ...(typeof trace?.file === "string" ? [resolve(trace.file)] : [])])],
    kept: filesToProtect(options, policies).filter(isNoLink),
    shown: strict ? [virtualFiles.folder] : [],
    landlock: (native().probe() >> PROBE.landlockShift) & 0xff,
    ...(options.defence !== "stops" && {
      confine: true,
      makeView: (places) => makeView(options, policies, places),
    }),
  });
}

const OPENAT = callNumber("openat");

/** A view saves the stops of calls that read. Where other policies or the trace want to see them, it would save none. */
function makeView(
  options: SessionOptions,
  policies: readonly Policy[],
  places: VisiblePlaces,
): ReturnType<typeof View.of> {
  const { attach, door, view: wanted, live = [], deed, logRefusals } = options;
  if (door !== "auto" || wanted === "off" || attach || deed || logRefusals || live.length > 0)
    return undefined;
  const handedOver = filesHandedOver(options);
  if (!handedOver) return undefined;
  if (recordedCalls(options).some(({ nr }) => nr === OPENAT)) return undefined;
  const view = View.of(policies, { ...places, home: homedir(), handedOver }, { folder: scanFolder() });
  if (!(view instanceof View)) return view;
  const seesAll = view.policies.some(({ subscription }) => {
    const wanted = subscription.calls.get(OPENAT);
    return wanted !== undefined && !wanted.when;
  });
  return seesAll ? undefined : view;
}

/**
 * Files that are open outside, and that the program gets. Undefined where there is a folder among them: through it the
 * program would see the files as they are outside.
 */
function filesHandedOver({ stdio = [0, 1, 2], keepFds = [] }: SessionOptions): readonly string[] | undefined {
  const files: string[] = [];
  for (const fd of [...stdio, ...keepFds]) {
    const info = statOf(fd);
    if (info?.isDirectory()) return undefined;
    if (info?.isFile()) files.push(readlinkSync(`/proc/self/fd/${fd}`));
  }
  return files;
}

/** Only files can be changed by a descriptor. */
function isNoLink(path: string): boolean {
  try {
    return !lstatSync(path).isSymbolicLink();
  } catch {
    return false; // it is not there, or out of reach for the program, too
  }
}

function statOf(fd: number): Stats | undefined {
  try {
    return fstatSync(fd);
  } catch {
    return undefined; // it is closed
  }
}
