import { actions } from "./actions.mjs";
import { analyze } from "./analyze.mjs";
import { consoleRate } from "./console.mjs";
import { exec } from "./exec.mjs";
import { fleet } from "./fleet.mjs";
import { guard } from "./guard.mjs";
import { instrument } from "./instrument.mjs";
import { kinds } from "./kinds.mjs";
import { languages } from "./languages.mjs";
import { memory } from "./memory.mjs";
import { overview } from "./overview.mjs";
import { installPeers } from "./peers.mjs";
import { ratios } from "./ratios.mjs";
import { reload } from "./reload.mjs";
import { rules } from "./rules.mjs";
import { scale } from "./scale.mjs";
import { start } from "./start.mjs";
import { stops } from "./stops.mjs";
import { trace } from "./trace.mjs";
import { unwind } from "./unwind.mjs";
import { workloads } from "./workloads.mjs";

const ALONE = 11;
const ALONE_QUICK = 3;

/**
 * All scenarios, in the order of a full run. `rounds`: how many in a full run and in a quick one; a scenario without them
 * is in neither. `alone`: how many when it is named. `events`: how many, for scenarios about many events. `takesWorks`:
 * `--only` can name its workloads.
 */
export const SCENARIOS = [
  { name: "start", about: "from nothing to the end of `true`, beside the peers", rounds: [7, 3], run: start },
  {
    name: "stops",
    about: "a mediated and an unmediated call, beside C and strace",
    rounds: [5, 2],
    run: stops,
  },
  { name: "actions", about: "a call by door and by what is answered", rounds: [5, 2], run: actions },
  {
    name: "languages",
    about: "a call decided in TypeScript, Lua, YAML, the filter",
    rounds: [5, 2],
    run: languages,
  },
  { name: "kinds", about: "calls by what they do, under agent.yaml", rounds: [3, 2], run: kinds },
  { name: "rules", about: "1 to 10,000 rules", rounds: [5, 2], run: rules },
  { name: "scale", about: "1 to 5,000 processes, 1 to 1,000 threads", rounds: [3, 1], run: scale },
  {
    name: "workloads",
    about: "real programs, bare and under each system",
    rounds: [5, 1],
    takesWorks: true,
    run: workloads,
  },
  {
    name: "trace",
    about: "recording a program's calls, beside strace",
    rounds: [3, 1],
    events: [2e6, 2e5, 1e7],
    run: trace,
  },
  { name: "instrument", about: "functions inside, beside ltrace and gdb", rounds: [3, 1], run: instrument },
  { name: "unwind", about: "following a stack of 20 frames", rounds: [5, 3], run: unwind },
  { name: "exec", about: "a command of an agent, beside srt and bubblewrap", rounds: [7, 3], run: exec },
  { name: "guard", about: "judging commands", rounds: [11, 3], run: guard },
  { name: "reload", about: "from saving a policy until it is in force", rounds: [5, 2], run: reload },
  {
    name: "console",
    about: "records that the console takes in and tells its pages of",
    rounds: [3, 1],
    run: consoleRate,
  },
  { name: "fleet", about: "many hosts and one PostgreSQL", rounds: [1, 1], run: fleet },
  { name: "analyze", about: "reading a long trace", rounds: [1, 1], events: [1e6, 2e5, 1e7], run: analyze },
  {
    name: "memory",
    about: "does the supervisor grow with the events?",
    rounds: [1, 1],
    events: [1e7, 5e5, 1e7],
    run: memory,
  },
  {
    name: "overview",
    about: "(workloads by policy, fence and peer in one table, as each user)",
    alone: [5, 2],
    takesWorks: true,
    run: overview,
  },
  { name: "ratios", about: "(the four ratios that CI holds)", run: ratios },
  { name: "peers", about: "(installs the peers: Debian and npm packages)", run: installPeers },
];

/** The options of one scenario: from the command line, else the defaults of a full run or of a single scenario. */
export function optionsFor(scenario, asked, sitting) {
  const { rounds, alone = [ALONE, ALONE_QUICK], events } = scenario;
  const usual = asked.quick ? 1 : 0;
  return {
    ...asked,
    rounds: asked.rounds ?? (sitting ? rounds : alone)[usual],
    ...(events && { events: asked.events ?? events[asked.quick ? 1 : sitting ? 0 : 2] }),
  };
}
