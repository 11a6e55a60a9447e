import { copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Attack, type Goal, ofArena } from "./attacks.js";
import { type DoorName, type Fence, optionsOf, policyOf, run, type System, traceOf } from "./systems.js";

/**
 * The policies that come with HERMES, and what each of them promises. The arena is a home (arena.ts): the secret lies in
 * ~/.azure, the workspace is ~/folder, what must not change is ~/papers, the socket is that of an ssh agent in /tmp, the
 * servers of `reach` lie in ~/server. An attack counts for a policy only where it promises what the attack wants to break.
 */
type Promised = Partial<Record<Goal, true | RegExp>>;

const ALL: Promised = { read: true, write: true, escape: true, env: true, reach: true };

/** environ and mem of others in /proc, and the kernel's keys: what secrets.yaml speaks of. */
const FILES_OF_OTHERS = /\/(environ|memory|proc-mem|keyring|request-key)/;

/** No rule of these policies speaks of keys that are typed on one's own terminal: the standard fence does. */
const TYPING = /^escape\/terminal-input$/;

/** `agent` and `tools` let a program make namespaces of its own, as browsers do: whatever they hide stays hidden in them. */
const MAKES_NAMESPACES: Promised = { ...ALL, env: /^env\/(?!flip-clone$)/ };

export const SHIPPED = {
  agent: { ...MAKES_NAMESPACES, connect: /\/(race-)?unix|\/abstract/ },
  untrusted: { ...ALL, connect: true, exec: true, only: true },
  workspace: { write: true, escape: true },
  secrets: { read: true, env: FILES_OF_OTHERS, connect: /\/(race-)?unix/, reach: FILES_OF_OTHERS },
  readonly: { write: true, escape: true },
  // Unix sockets stay open, except to those who reach the network in its place: an ssh agent is one.
  "no-network": { connect: /\/(?!abstract)/ },
  // It says nothing of code that is mapped and not executed, nor of what a loader does: that is `load`.
  "no-exec": { exec: /\/(?!map-|protect-|read-implies)/, only: true },
} satisfies Record<string, Promised>;

/** What `hermes exec` holds a command to: tools.yaml, and the guard at the kernel. */
const TOOLS: Promised = { ...MAKES_NAMESPACES, connect: true };

/** What a strict fence promises without any policy. Sockets by path outside of /run and /tmp are not its matter. */
const FENCE: Promised = {
  write: true,
  escape: true,
  env: true,
  connect: /\/(?!race-unix|unix-|unix$)/,
  reach: /\/(?!daemon$|daemon-by-link|daemon-datagram|tmux)/,
};

export const POLICIES = ["arena", ...Object.keys(SHIPPED), "tools", "fence"] as const;

const holds =
  (promised: Promised) =>
  ({ goal, name }: Attack): boolean => {
    const of = goal === "harm" ? true : promised[goal];
    return of === true || of?.test(name) === true;
  };

export function shipped(name: keyof typeof SHIPPED, door: DoorName, fence: Fence): System {
  return {
    name: `hermes -p ${name} ${door} ${fence}`,
    above: 3,
    layout: "home",
    kind: { policy: name, door, fence },
    promises: (attack) => (fence !== "none" || !TYPING.test(attack.name)) && holds(SHIPPED[name])(attack),
    wrap(command, { goal }, arena, build) {
      // What is attacked as "the policy" is a file of the arena's: it must not be that of the build.
      const more = goal === "harm" ? ["-p", policyOf(goal, arena)] : [];
      return run(build, ["-p", name, ...more, ...optionsOf(door, fence), ...traceOf(goal, arena)], command);
    },
  };
}

/** The strict fence by itself. The door is that of HERMES's own defence. */
export function fenceAlone(door: DoorName): System {
  return {
    name: `hermes fence ${door} strict`,
    above: 3,
    layout: "home",
    kind: { policy: "fence", door, fence: "strict" },
    promises: holds(FENCE),
    wrap(command, { goal }, arena, build) {
      const more = goal === "harm" ? ["-p", policyOf(goal, arena)] : [];
      return run(build, [...more, ...optionsOf(door, "strict"), ...traceOf(goal, arena)], command);
    },
  };
}

/** `hermes exec`, as an agent's tool is run. It has a door and a fence of its own, and cleans the environment. */
export const tools: System = {
  name: "hermes exec",
  above: 3,
  layout: "home",
  kind: { policy: "tools", door: "auto", fence: "standard" },
  promises: holds(TOOLS),
  refused: (stderr) => /^hermes: refused: /m.test(stderr),
  wrap(command, _attack, arena, build) {
    const workspace = arena.path(arena.places.allowed);
    copyFileSync(ofArena("arena"), join(workspace, "start"));
    const variables = { ...arena.env, A_ABOVE: "3", A_SYSTEM: "hermes exec", A_MARK: arena.token.slice(6) };
    const lines = Object.entries(variables).map(([name, value]) => `${name}=${value}\n`);
    writeFileSync(join(workspace, "variables"), lines.join(""));
    const words = command.map((word) => word.replace(`${workspace}/`, "./"));
    const text = ["./start", "with", "variables", ...words].join(" ");
    // Without an approver, the guard's questions are refusals.
    const options = [
      "--ask",
      "no",
      "--workspace",
      workspace,
      "--store",
      `sqlite:${arena.path("policy/hermes.db")}`,
    ];
    return [process.execPath, join(build, "dist/cli/main.cjs"), "exec", ...options, text];
  },
};

/** Every system of HERMES for these doors and fences. */
export function shippedSystems(doors: readonly DoorName[], fences: readonly Fence[]): System[] {
  const names = Object.keys(SHIPPED) as (keyof typeof SHIPPED)[];
  const each = names.flatMap((name) =>
    doors.flatMap((door) => fences.map((fence) => shipped(name, door, fence))),
  );
  return [...each, tools, ...(fences.includes("strict") ? doors.map(fenceAlone) : [])];
}
