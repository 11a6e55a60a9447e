import type { Guard } from "../../guard/guard.js";
import { KINDS } from "../../guard/subject.js";
import { Refusal, type Route } from "../route.js";

const LONGEST = 64 * 1024;

/** What the guard makes of something, before anybody does it. Nothing is run, and nothing recorded. */
export function guardRoutes(guard: () => Promise<Guard>): readonly Route[] {
  return [
    {
      method: "POST",
      path: "/api/guard",
      role: "viewer",
      async act({ body }) {
        const { input, access } = body;
        const kind = KINDS.find((one) => one === body.kind);
        if (!kind || typeof input !== "string") throw new Refusal(400, "a kind and an input are needed");
        if (input.length > LONGEST) throw new Refusal(413, "this is too long to be judged here");
        const fields = { ...(access === "write" && { access }) };
        const judge = await guard();
        const subject = { kind, input, fields };
        return { ...(await judge.judge(subject)), explanation: judge.explain(subject) };
      },
    },
  ];
}
