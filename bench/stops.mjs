import { printTable } from "./print.mjs";
import { interleave } from "./stats.mjs";
import { available, buildTools, filterLength, hermes, run, STRACE } from "./tools.mjs";

const GOALS = {
  open: [
    { subject: "HERMES notify", against: "C notify", atMost: 1.35 },
    // It opens the file itself too, like HERMES, and so has no race.
    { subject: "HERMES notify", against: "C notify, acting", atMost: 1.35 },
    { subject: "HERMES trace", against: "C trace", atMost: 1.35 },
    { subject: "HERMES notify", against: "strace", atMost: 0.5 },
    { subject: "HERMES trace", against: "strace", atMost: 0.5 },
  ],
  ppid: [
    { subject: "HERMES notify", against: "bare", atMost: 1.1 },
    { subject: "HERMES trace", against: "bare", atMost: 1.1 },
    // The cost of any filter for the cheapest call: it is the kernel's and cannot be avoided.
    { subject: "HERMES notify", against: "seccomp only", atMost: 1.05 },
    { subject: "HERMES trace", against: "seccomp only", atMost: 1.05 },
  ],
};

/** The cost of a mediated and an unmediated call, beside minimal C programs that do the same. */
export function stops({ rounds, quick, pinned, cannot }) {
  const tools = buildTools();
  const systems = everySystem(tools, cannot);
  const counts = quick ? { open: 4000, ppid: 100_000 } : { open: 20_000, ppid: 500_000 };
  const placements = { ...(!pinned && { "on any CPU": [] }), "on one CPU": ["taskset", "-c", "0"] };
  const tables = [];
  for (const [place, pin] of Object.entries(placements)) {
    if (pin.length > 0 && !available(pin[0])) {
      cannot(place, "taskset is not installed");
      continue;
    }
    for (const [workload, title, name] of [
      ["open", "openat + close, openat mediated", "an open that is decided"],
      ["ppid", "getppid, not subscribed", "an unsubscribed call"],
    ]) {
      const subjects = systems.filter((system) => workload === "open" || !system.openOnly);
      const samples = interleave(rounds, subjects, ({ argv }) =>
        Number(run([...pin, ...argv, tools.calls, workload, String(counts[workload])]).stdout),
      );
      const about = { name: `${name}, ${place}`, ours: "HERMES notify", bare: "bare", peers: ["strace"] };
      tables.push(printTable(`${title}, ${place}`, "ns", samples, GOALS[workload], about));
    }
  }
  return tables;
}

function everySystem(tools, cannot) {
  const length = String(filterLength("notify", "requested"));
  const systems = [
    { name: "bare", argv: [] },
    { name: "seccomp only", argv: [tools.allow, length] },
    { name: "C notify", argv: [tools.notify, length] },
    { name: "C notify, acting", argv: [tools.act, length], openOnly: true },
    { name: "HERMES notify", argv: hermes("notify", "requested") },
    { name: "HERMES notify, e.path", argv: hermes("notify", "canonical"), openOnly: true },
    { name: "C trace", argv: [tools.trace, length] },
    { name: "HERMES trace", argv: hermes("trace", "requested") },
    { name: "HERMES trace, e.path", argv: hermes("trace", "canonical"), openOnly: true },
  ];
  if (available("strace")) systems.push({ name: "strace", argv: STRACE });
  else cannot("strace", "not installed");
  return systems;
}
