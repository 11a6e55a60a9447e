import { chmodSync } from "node:fs";
import type { Seat } from "../seat.js";
import { type Check, type Outcome, outcome } from "./check.js";

/** Ways in which HERMES can be no longer what was installed. */
const WAYS: Readonly<Record<string, string | undefined>> = {
  missing: undefined,
  broken: "#!/bin/sh\nexit 1\n",
  silent: "#!/bin/sh\ncat >/dev/null; exit 2\n",
  killed: "#!/bin/sh\nkill -9 $$\n",
  slow: "#!/bin/sh\nexec sleep 300\n",
};

export const FAILURE_CHECKS: readonly Check[] = Object.entries(WAYS).map(([way, script]) => ({
  name: `refused when hermes is ${way}`,
  run: (seat) => refused(seat, script),
}));

async function refused(seat: Seat, script: string | undefined): Promise<Outcome> {
  const { settings, agent, tools } = seat.client;
  seat.install();
  const other = seat.path("other/hermes");
  if (script !== undefined) chmodSync(seat.place.write("other/hermes", script), 0o755);
  const text = seat.text(`project/${settings}`)!.replaceAll(/'[^']*\/hermes'/g, `'${other}'`);
  seat.place.write(`project/${settings}`, text);
  // The hook is another one now, which Codex would only skip.
  const words = agent === "codex" ? ["--dangerously-bypass-hook-trust"] : [];
  const { results, output } = await seat.play({ steps: [tools.shell("echo ran > ran.txt")] }, { words });
  return outcome(
    { "it was called": results.length === 1, "it did not run": seat.text("project/ran.txt") === undefined },
    `${results.join("|")} ${output}`,
  );
}
