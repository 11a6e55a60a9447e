#!/usr/bin/env node
// npm run bench -- [stops|start|policy|reload|memory|exec|fleet|guard|instrument|trace|analyze] [--rounds N] [--quick] [--json FILE] …
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { analyze } from "./analyze.mjs";
import { exec } from "./exec.mjs";
import { fleet } from "./fleet.mjs";
import { guard } from "./guard.mjs";
import { instrument } from "./instrument.mjs";
import { memory } from "./memory.mjs";
import { installPeers } from "./peers.mjs";
import { policies } from "./policies.mjs";
import { reload } from "./reload.mjs";
import { scale } from "./scale.mjs";
import { start } from "./start.mjs";
import { stops } from "./stops.mjs";
import { trace } from "./trace.mjs";
import { unwind } from "./unwind.mjs";
import { workloads } from "./workloads.mjs";

const SCENARIOS = {
  stops: async (options) => ({ stops: stops(options), start: start(options) }),
  start: async (options) => ({ start: start(options) }),
  policy: async (options) => ({ policy: policies(options) }),
  reload: async (options) => ({ reload: await reload(options) }),
  exec: async (options) => ({ exec: await exec(options) }),
  fleet: async (options) => ({ fleet: await fleet(options) }),
  instrument: async (options) => ({ instrument: instrument(options), unwind: await unwind(options) }),
  guard: async (options) => ({ guard: guard(options) }),
  trace: async (options) => ({ trace: await trace(options) }),
  analyze: async (options) => ({ analyze: await analyze(options) }),
  scale: async (options) => ({ scale: scale(options) }),
  workloads: async (options) => ({ workloads: await workloads(options) }),
  unwind: async (options) => ({ unwind: unwind(options) }),
  peers: async () => installPeers(),
  memory: async (options) => ({ memory: await memory(options) }),
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: "string" },
    quick: { type: "boolean", default: false },
    json: { type: "string" },
    /** memory, trace, analyze: how many events; memory: through which door */
    events: { type: "string", default: "10000000" },
    door: { type: "string", default: "notify" },
    policy: { type: "string", default: "requested" },
    /** workloads: which of them, and under which systems */
    only: { type: "string" },
    systems: { type: "string" },
  },
});

const scenario = SCENARIOS[positionals[0] ?? "stops"];
if (!scenario) {
  process.stderr.write(
    `bench: unknown scenario "${positionals[0]}" (${Object.keys(SCENARIOS).join(", ")})\n`,
  );
  process.exit(2);
}
const result = await scenario({ ...values, rounds: Number(values.rounds ?? (values.quick ? 3 : 11)) });
if (values.json) writeFileSync(values.json, `${JSON.stringify(result, null, 2)}\n`);
