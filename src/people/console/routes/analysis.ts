import { isAbsolute } from "node:path";
import type { Reports } from "../reports.js";
import { HttpRefusal, type Route, requiredText } from "../route.js";
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
      handle: async () =>
        ((await runs?.list()) ?? []).flatMap(({ command, trace }) =>
          trace === undefined ? [] : [{ command, trace }],
        ),
    },
    {
      method: "POST",
      path: "/api/report",
      role: "admin",
      async handle({ body }) {
        const trace = requiredText(body.trace, "trace", 4096);
        if (!isAbsolute(trace)) throw new HttpRefusal(400, "a trace is named by its whole path");
        if (busy) throw new HttpRefusal(429, "another report is being written: try again");
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
