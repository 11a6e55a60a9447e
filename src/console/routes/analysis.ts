import { isAbsolute } from "node:path";
import type { Reports } from "../reports.js";
import { Refusal, type Route, text } from "../route.js";
import type { Runs } from "../runs.js";

/** What a trace tells. `make` has the report written, outside of this process: a trace may be large. */
export function analysisRoutes(
  reports: Reports,
  make: (trace: string) => Promise<Buffer>,
  runs: Runs | undefined,
): readonly Route[] {
  let busy = false;
  return [
    {
      method: "GET",
      path: "/api/traces",
      role: "viewer",
      act: async () =>
        ((await runs?.list()) ?? []).flatMap(({ command, trace }) =>
          trace === undefined ? [] : [{ command, trace }],
        ),
    },
    {
      method: "POST",
      path: "/api/report",
      role: "admin",
      async act({ body }) {
        const trace = text(body.trace, "trace", 4096);
        if (!isAbsolute(trace)) throw new Refusal(400, "a trace is named by its whole path");
        if (busy) throw new Refusal(429, "another report is being written: try again");
        busy = true;
        try {
          return { address: reports.add(await make(trace)) };
        } finally {
          busy = false;
        }
      },
    },
  ];
}
