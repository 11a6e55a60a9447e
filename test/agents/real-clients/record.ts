import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../support/root.js";
import type { Fetched } from "./fetch.js";
import { HELPER } from "./protocols/protocol.js";
import { Seat } from "./seat.js";

export interface Recorded {
  readonly version: string;
  /** What the client wrote to its hooks' stdin, one after the other. */
  readonly inputs: readonly Readonly<Record<string, unknown>>[];
}

export const recordedFile = (agent: string) =>
  join(root, "test/agents/real-clients/recorded", `${agent}.json`);

/** Has the client use every tool that the checks use, and writes down what its hooks are told. */
export async function record(fetched: Fetched): Promise<string> {
  const seat = new Seat(fetched);
  try {
    const { client, place } = seat;
    const { tools } = client;
    const server = join(root, "test/agents/real-clients/server.mjs");
    const page = place.write("page.txt", "A page.");
    client.servers(place, { pages: [process.execPath, server, page, seat.path("log")] });
    seat.install();
    const log = seat.path("inputs");
    const text = seat.text(`project/${client.settings}`)!;
    const settings = JSON.parse(text, (key, value) =>
      key === "command" ? `cat >> '${log}'; echo >> '${log}'` : key === "matcher" ? ".*" : value,
    );
    place.write(`project/${client.settings}`, JSON.stringify(settings));
    const steps = [
      tools.shell("echo hi"),
      ...tools.otherShells.map((other) => other("echo other")),
      ...(tools.read ? [tools.read(join(place.project, "plain.txt"))] : []),
      ...(tools.search ? [tools.search("ordinary", ".")] : []),
      tools.write(client.agent === "codex" ? "new.txt" : join(place.project, "new.txt"), "new"),
      tools.mcp("pages", "page", {}),
      ...(tools.helper ? [tools.helper(`${HELPER} Do it.`)] : []),
    ];
    const words = client.agent === "codex" ? ["--dangerously-bypass-hook-trust"] : [];
    await seat.play({ steps, helper: [tools.shell("echo helped")] }, { words });
    const lines = readFileSync(log, "utf8").replaceAll(place.folder, "/place").split("\n").filter(Boolean);
    const recorded: Recorded = { version: fetched.version, inputs: lines.map((line) => JSON.parse(line)) };
    const file = recordedFile(client.agent);
    writeFileSync(file, `${JSON.stringify(recorded, null, 2)}\n`);
    return `${file}: ${recorded.inputs.length} inputs`;
  } finally {
    seat.close();
  }
}
