import type { Audit } from "../../audit/audit.js";
import type { Fleet } from "../../fleet/fleet.js";
import { hosts } from "../../fleet/hosts.js";
import { advance, assignments, takeBack } from "../../fleet/releases.js";
import { Refusal, type Route, signed, text } from "../route.js";

/** The hosts, and what is given out to them. New policies and new hosts come by the command line. */
export function fleetRoutes(fleet: Fleet, audit: Pick<Audit, "record">): readonly Route[] {
  return [
    {
      method: "GET",
      path: "/api/fleet/hosts",
      role: "viewer",
      act: () => fleet.read(hosts),
    },
    {
      method: "GET",
      path: "/api/fleet/policies",
      role: "viewer",
      act: () => fleet.read(assignments),
    },
    {
      method: "POST",
      path: "/api/fleet/rollout",
      role: "admin",
      async act({ user, body }) {
        const name = text(body.name, "name", 200);
        const { percent } = body;
        if (percent !== null && !(typeof percent === "number" && percent >= 0 && percent <= 100))
          throw new Refusal(400, "a share is 0 to 100 percent; null takes it back");
        const what = percent === null ? "took back" : `to ${percent} % of the hosts:`;
        await audit.record("config", { what: `fleet: ${what} ${name}`, by: signed(user) });
        await fleet.write(() => (percent === null ? takeBack(name) : advance(name, percent)));
        return {};
      },
    },
  ];
}
