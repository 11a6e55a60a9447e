import { resolve } from "node:path";
import type { Audit } from "../../../record/audit/audit.js";
import type { ConfigBody } from "../../../record/audit/records.js";
import type { Store } from "../../../record/store/store.js";
import { EditedPolicy, holdsSecret, textDigest } from "../policies.js";
import { type ApiRequest, HttpRefusal, type Route, requiredText, signed } from "../route.js";
import type { Runs, RunView } from "../runs.js";

const SAVED = "console: policy saved";
const SEARCHED = 2000;
const VERSIONS = 50;
const LONGEST = 200_000;

interface PolicyRoutesOptions {
  readonly store: Store;
  readonly audit: Pick<Audit, "record">;
  readonly runs?: Runs;
  /** Also those that no run has in force. */
  readonly files: readonly string[];
}

/** Policies: which is in force where, and their texts. Only files that are in force here, or were named, can be reached. */
export function policyRoutes({ store, audit, runs, files }: PolicyRoutesOptions): readonly Route[] {
  const known = async (): Promise<ReadonlyMap<string, readonly RunView[]>> => {
    const all = new Map<string, RunView[]>(files.map((file) => [resolve(file), []]));
    for (const run of (await runs?.list()) ?? [])
      for (const { file } of run.policies)
        if (file !== undefined) all.set(resolve(file), [...(all.get(resolve(file)) ?? []), run]);
    return all;
  };
  const fileOf = async (given: unknown): Promise<EditedPolicy> => {
    const path = requiredText(given, "file", 4096);
    if (!(await known()).has(path)) throw new HttpRefusal(404, "no run here has this policy in force");
    return new EditedPolicy(path);
  };
  const draftOf = async ({ body }: ApiRequest) => ({
    file: await fileOf(body.file),
    draft: requiredText(body.text, "text", LONGEST),
  });
  return [
    {
      method: "GET",
      path: "/api/policies",
      role: "viewer",
      handle: async () =>
        [...(await known())].map(([file, inForce]) => ({
          file,
          editable: new EditedPolicy(file).editable,
          runs: inForce.map(({ supervisor, command, trace, policies }) => {
            const { name, version } = policies.find(
              (one) => one.file !== undefined && resolve(one.file) === file,
            )!;
            return { supervisor, command, trace, name, version };
          }),
        })),
    },
    {
      method: "GET",
      path: "/api/policy",
      role: "viewer",
      async handle({ query }) {
        const file = await fileOf(query.get("file"));
        return {
          file: file.path,
          editable: file.editable,
          ...file.read(),
          history: await history(store, file.path),
        };
      },
    },
    {
      method: "GET",
      path: "/api/policy/version",
      role: "viewer",
      async handle({ query }) {
        const row = await store.policy(requiredText(query.get("version"), "version", 64));
        if (!row) throw new HttpRefusal(404, "this version is not kept");
        return { text: row.text, time: row.time };
      },
    },
    {
      method: "POST",
      path: "/api/policy/check",
      role: "admin",
      async handle(asked) {
        const { file, draft } = await draftOf(asked);
        return file.check(draft);
      },
    },
    {
      method: "POST",
      path: "/api/policy/try",
      role: "admin",
      async handle(asked) {
        const { file, draft } = await draftOf(asked);
        return file.tryOn(requiredText(asked.body.trace, "trace", 4096), draft);
      },
    },
    {
      method: "POST",
      path: "/api/policy/save",
      role: "admin",
      async handle(asked) {
        const { file, draft } = await draftOf(asked);
        const before = file.read();
        if (before.digest !== asked.body.digest)
          throw new HttpRefusal(409, "another user has changed it meanwhile: load it anew");
        const checked = await file.check(draft);
        if (!checked.ok) throw new HttpRefusal(400, checked.message);
        if (holdsSecret(draft))
          throw new HttpRefusal(
            400,
            "it holds what looks like a secret, and versions of policies are kept: leave that out",
          );
        const digest = textDigest(draft);
        const time = Date.now();
        if (!holdsSecret(before.text))
          await store.rememberPolicy({ version: before.digest, name: checked.name, text: before.text, time });
        await store.rememberPolicy({ version: digest, name: checked.name, text: draft, time });
        const detail = { version: digest, before: before.digest };
        await audit.record("config", { what: SAVED, by: signed(asked.user), file: file.path, detail });
        file.write(draft);
        return { digest, history: await history(store, file.path) };
      },
    },
  ];
}

/** Who saved what when, newest first: the audit knows. */
async function history(store: Store, file: string): Promise<object[]> {
  const found: { time: number; by: string; version: string; before: string }[] = [];
  for (const { chain } of await store.chainEnds())
    for await (const { time, body } of store.audit({ chain, kind: ["config"], last: SEARCHED })) {
      const { what, by, file: of, detail } = JSON.parse(body) as ConfigBody;
      const { version, before } = (detail ?? {}) as { readonly version: string; readonly before: string };
      if (what === SAVED && of === file) found.push({ time, by: by ?? "", version, before });
    }
  return found.sort((a, b) => b.time - a.time).slice(0, VERSIONS);
}
