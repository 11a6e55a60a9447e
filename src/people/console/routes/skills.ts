import type { SkillStore } from "../../../intent/guard/skills/store.js";
import type { Audit } from "../../../record/audit/audit.js";
import { type ApiRequest, type Route, requiredText, signed } from "../route.js";

/** Skills that did not pass: what was found in them, and what a person makes of it. */
export function skillRoutes(
  skills: () => Promise<SkillStore>,
  audit: Pick<Audit, "record">,
): readonly Route[] {
  const decided = async (
    { user, body }: ApiRequest,
    what: string,
  ): Promise<{ id: string; store: SkillStore }> => {
    const id = requiredText(body.id, "id", 200);
    const store = await skills();
    const { name, digest, action } = store.quarantined().find((one) => one.id === id) ?? {};
    const detail = { id, name, digest, action };
    await audit.record("config", { what: `console: skill ${what}`, by: signed(user), detail });
    return { id, store };
  };
  return [
    {
      method: "GET",
      path: "/api/skills",
      role: "viewer",
      async handle() {
        const store = await skills();
        return { installed: store.list(), quarantined: store.quarantined() };
      },
    },
    {
      method: "POST",
      path: "/api/skills/release",
      role: "admin",
      async handle(asked) {
        const { id, store } = await decided(asked, "released from quarantine");
        return store.approve(id);
      },
    },
    {
      method: "POST",
      path: "/api/skills/delete",
      role: "admin",
      async handle(asked) {
        const { id, store } = await decided(asked, "deleted in quarantine");
        store.reject(id);
        return {};
      },
    },
  ];
}
