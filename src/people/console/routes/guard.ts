import type { Guard } from "../../../intent/guard/guard.js";
import { KINDS } from "../../../intent/guard/subject.js";
import { HttpRefusal, type Route } from "../route.js";

const LONGEST = 64 * 1024;

/** What the guard says of a subject. Nothing is run, and nothing is recorded. */
export function guardRoutes(guard: () => Promise<Guard>): readonly Route[] {
  return [
    {
      method: "POST",
      path: "/api/guard",
      role: "viewer",
      async handle({ body }) {
        const { input, access } = body;
        const kind = KINDS.find((one) => one === body.kind);
        if (!kind || typeof input !== "string") throw new HttpRefusal(400, "a kind and an input are needed");
        if (input.length > LONGEST) throw new HttpRefusal(413, "this is too long to be judged here");
        const fields = { ...(access === "write" && { access }) };
        const judge = await guard();
        const subject = { kind, input, fields };
        return { ...(await judge.judge(subject)), explanation: judge.explain(subject) };
      },
    },
  ];
}
