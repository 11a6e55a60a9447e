import { hermes } from "../../support/cli.js";
import type { OrdinaryUser } from "../../support/ordinary-user.js";

interface Missing {
  readonly name: string;
  readonly why: string;
}

/** What a strict fence cannot give on this machine to the user who runs the tests. */
export function missingHere(): readonly Missing[] {
  const { stderr } = hermes(["run", "--json", "--fence", "strict", "--", "true"]);
  return JSON.parse(stderr.trim().split("\n").at(-1)!).protections.missing;
}

/** The same for an ordinary user: some machines let only root make namespaces. */
export function missingForUser(user: OrdinaryUser): readonly Missing[] {
  return JSON.parse(
    user.run(`
      import { run } from "./dist/index.js";
      console.log(JSON.stringify((await run({ command: ["true"], fence: "strict" })).protections.missing));
    `).stdout,
  );
}
