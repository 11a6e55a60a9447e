import { hostname } from "node:os";
import { readStat } from "../../../kernel/process/proc.js";
import type { Audit } from "../../../record/audit/audit.js";
import type { Store, ToolCallRow } from "../../../record/store/store.js";
import { latestCalls } from "../live-trace.js";
import { HttpRefusal, type Route, signed } from "../route.js";
import { RUN_ACTIONS, type Runs } from "../runs.js";

const SESSIONS = 100;
const CALLS = 15;
const LONGEST = 300;

/** Who is at work: agents with their latest tool calls, and programs under supervision. */
export function sessionRoutes(
  store: Store,
  runs: Runs | undefined,
  audit: Pick<Audit, "record">,
): readonly Route[] {
  return [
    {
      method: "GET",
      path: "/api/sessions",
      role: "viewer",
      async handle() {
        const sessions = await store.sessions({ open: true, limit: SESSIONS });
        return Promise.all(
          sessions.map(async ({ id, started, host, pid, pidStarted, workspace, agent }) => ({
            ...{ id, started, host, pid, workspace, agent },
            // A process that was killed did not end its session.
            gone: host === hostname() && readStat(pid)?.start !== pidStarted,
            calls: (await store.toolCalls({ session: id, limit: CALLS })).map(callView),
          })),
        );
      },
    },
    {
      method: "GET",
      path: "/api/runs",
      role: "viewer",
      handle: async () => (await runs?.list()) ?? [],
    },
    {
      method: "GET",
      path: "/api/trace",
      role: "viewer",
      async handle({ query }) {
        const [supervisor, started] = [Number(query.get("supervisor")), Number(query.get("started"))];
        const run = (await runs?.list())?.find(
          (one) => one.supervisor === supervisor && one.started === started,
        );
        if (run?.trace === undefined) throw new HttpRefusal(404, "this run has ended, or is not recorded");
        const words = (query.get("q") ?? "").toLowerCase().split(/\s+/).filter(Boolean).slice(0, 20);
        return latestCalls(run.trace, words);
      },
    },
    {
      method: "POST",
      path: "/api/runs/act",
      role: "admin",
      async handle({ user, body }) {
        const { supervisor, started } = body;
        const act = RUN_ACTIONS.find((one) => one === body.act);
        if (!runs || !act || typeof supervisor !== "number" || typeof started !== "number")
          throw new HttpRefusal(400, `a run and what to do with it are needed: ${RUN_ACTIONS.join(", ")}`);
        await audit.record("config", {
          what: `console: ${act} run`,
          by: signed(user),
          detail: { supervisor, started },
        });
        await runs.apply({ supervisor, started }, act);
        return {};
      },
    },
  ];
}

function callView({ id, tool, input, status, created, started, ended, output }: ToolCallRow) {
  return {
    id,
    tool,
    status,
    created,
    started,
    ended,
    input: cut(input),
    ...(output !== null && { output: cut(output) }),
  };
}

function cut(text: string): string {
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}
