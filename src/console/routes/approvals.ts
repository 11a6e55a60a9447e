import type { Desk } from "../../approval/desk.js";
import { itemOf } from "../../approval/item.js";
import { ANSWERS } from "../../approval/question.js";
import type { Store } from "../../store/store.js";
import { Refusal, type Route, signed, text } from "../route.js";

const SETTLED_SHOWN = 50;
const LATELY_MS = 3_600_000;

/** What agents ask for, and the answers. `answered` is called when one was given. */
export function approvalRoutes(store: Store, desk: Desk, answered: () => void): readonly Route[] {
  return [
    {
      method: "GET",
      path: "/api/approval",
      role: "viewer",
      async act({ query }) {
        const row = await store.approval(text(query.get("id"), "id", 64));
        if (!row) throw new Refusal(404, "there is no such approval");
        const session = await store.session(row.session);
        const { agent, workspace, host, pid } = session ?? {};
        return { ...itemOf(row), asker: { agent, workspace, host, pid } };
      },
    },
    {
      method: "GET",
      path: "/api/settled",
      role: "viewer",
      async act() {
        const rows = await store.approvals({
          state: ["granted", "refused", "expired", "withdrawn"],
          since: Date.now() - LATELY_MS,
        });
        return rows
          .toSorted((a, b) => (b.answered ?? b.created) - (a.answered ?? a.created))
          .slice(0, SETTLED_SHOWN)
          .map(({ id, what, state, scope, answered: at, answeredBy, note }) => {
            return { id, what: what.slice(0, 500), state, scope, answered: at, by: answeredBy, note };
          });
      },
    },
    {
      method: "POST",
      path: "/api/answer",
      role: "approver",
      async act({ user, body }) {
        const id = text(body.id, "id", 64);
        const answer = ANSWERS.find((one) => one === body.answer);
        if (!answer) throw new Refusal(400, `an answer is ${ANSWERS.join(", ")}`);
        const note = typeof body.note === "string" && body.note.trim() !== "" ? body.note : undefined;
        const by = signed(user);
        const { mine, item, told } = await desk.answer(id, { answer, by, ...(note && { note }) });
        answered();
        const { state, scope } = item;
        return { id, mine, state, scope, ...(told !== undefined && { told }) };
      },
    },
  ];
}
