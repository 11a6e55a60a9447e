import type { Store } from "../../../record/store/store.js";
import { ANSWERS, parseAnswer } from "../../approval/answer.js";
import type { AnswerService } from "../../approval/answer-service.js";
import { coverageOf, itemOf } from "../../approval/approval-item.js";
import { HttpRefusal, type Route, requiredText, signed } from "../route.js";

const ANSWERED_SHOWN = 50;
const LATELY_MS = 3_600_000;

/** Questions of agents and of running programs, and the answers. `answered` is called when one was given. */
export function approvalRoutes(store: Store, answers: AnswerService, answered: () => void): readonly Route[] {
  return [
    {
      method: "GET",
      path: "/api/approval",
      role: "viewer",
      async handle({ query }) {
        const row = await store.approval(requiredText(query.get("id"), "id", 64));
        if (!row) throw new HttpRefusal(404, "there is no such approval");
        const session = await store.session(row.session);
        const { agent, workspace, host, pid } = session ?? {};
        const item = itemOf(row);
        return { ...item, covers: coverageOf(item), asker: { agent, workspace, host, pid } };
      },
    },
    {
      method: "GET",
      path: "/api/settled",
      role: "viewer",
      async handle() {
        const rows = await store.approvals({
          state: ["granted", "refused", "expired", "withdrawn"],
          since: Date.now() - LATELY_MS,
        });
        return rows
          .toSorted((a, b) => (b.answered ?? b.created) - (a.answered ?? a.created))
          .slice(0, ANSWERED_SHOWN)
          .map(({ id, what, state, scope, answered: at, answeredBy, note }) => {
            return { id, what: what.slice(0, 500), state, scope, answered: at, by: answeredBy, note };
          });
      },
    },
    {
      method: "GET",
      path: "/api/always",
      role: "viewer",
      handle: () => answers.lasting(),
    },
    {
      method: "POST",
      path: "/api/revoke",
      role: "approver",
      handle: ({ user, body }) => answers.revoke(requiredText(body.key, "key", 200), signed(user)),
    },
    {
      method: "POST",
      path: "/api/answer",
      role: "approver",
      async handle({ user, body }) {
        const id = requiredText(body.id, "id", 64);
        const answer = parseAnswer(body.answer);
        if (!answer) throw new HttpRefusal(400, `an answer is ${ANSWERS.join(", ")}`);
        const note = typeof body.note === "string" && body.note.trim() !== "" ? body.note : undefined;
        const by = signed(user);
        const { mine, item, told } = await answers.answer(id, { answer, by, ...(note && { note }) });
        answered();
        const { state, scope } = item;
        return { id, mine, state, scope, ...(told !== undefined && { told }) };
      },
    },
  ];
}
