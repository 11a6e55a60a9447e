import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import type { Fleet } from "../../../fleet/fleet.js";
import { hosts } from "../../../fleet/hosts.js";
import { advance, assignments, rollBack } from "../../../fleet/releases.js";
import type { TraceStorage } from "../../../fleet/trace-storage.js";
import { download, traces } from "../../../fleet/traces.js";
import type { Audit } from "../../../record/audit/audit.js";
import type { Reports } from "../reports.js";
import { HttpRefusal, type Route, requiredText, signed } from "../route.js";

/** The hosts, and what is given out to them. New policies and new hosts come by the command line. */
export function fleetRoutes(
  fleet: Fleet,
  audit: Pick<Audit, "record">,
  reports: Reports,
  make: (trace: string) => Promise<Buffer>,
  place: TraceStorage | undefined,
): readonly Route[] {
  let busy = false;
  return [
    {
      method: "GET",
      path: "/api/fleet/traces",
      role: "viewer",
      handle: () => fleet.read(traces),
    },
    {
      method: "POST",
      path: "/api/fleet/report",
      role: "admin",
      async handle({ body }) {
        const id = requiredText(body.trace, "trace", 64);
        const found = (await fleet.read(traces)).find((one) => one.id === id);
        if (!found || !place)
          throw new HttpRefusal(404, "there is no such trace, or no place to get it from");
        if (busy) throw new HttpRefusal(429, "another report is being written: try again");
        busy = true;
        const folder = mkdtempSync(join(tmpdir(), "hermes-fetched-"));
        try {
          const file = join(folder, basename(found.name));
          await download(place, found, file);
          return { address: reports.add(await make(file)) };
        } finally {
          busy = false;
          rmSync(folder, { recursive: true, force: true });
        }
      },
    },
    {
      method: "GET",
      path: "/api/fleet/hosts",
      role: "viewer",
      handle: () => fleet.read(hosts),
    },
    {
      method: "GET",
      path: "/api/fleet/policies",
      role: "viewer",
      handle: () => fleet.read(assignments),
    },
    {
      method: "POST",
      path: "/api/fleet/rollout",
      role: "admin",
      async handle({ user, body }) {
        const name = requiredText(body.name, "name", 200);
        const { percent } = body;
        if (percent !== null && !(typeof percent === "number" && percent >= 0 && percent <= 100))
          throw new HttpRefusal(400, "a share is 0 to 100 percent; null takes it back");
        const what = percent === null ? "took back" : `to ${percent} % of the hosts:`;
        await audit.record("config", { what: `fleet: ${what} ${name}`, by: signed(user) });
        await fleet.write(() => (percent === null ? rollBack(name) : advance(name, percent)));
        return {};
      },
    },
  ];
}
