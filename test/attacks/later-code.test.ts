import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Guard } from "../../src/intent/guard/guard.js";
import { LAYERS } from "../../src/intent/guard/layers.js";
import { AUTO_RUN_FILES } from "../../src/nouns/auto-run-files.js";
import { exampleEvent } from "../../src/policy/yaml/example.js";
import { loadYaml } from "../../src/policy/yaml/load.js";
import { hostContext } from "../../src/policy/yaml/load-context.js";
import { Variables } from "../../src/policy/yaml/variables.js";
import { root } from "../support/root.js";
import { asEachUser, type Shipped } from "../support/workspace.js";

/** Files that make others run code later: no command writes them without a question, on any way to ask. */

describe("the table", () => {
  const places = { workspace: "/work", home: "/home/user", cwd: "/work", realpath: (path: string) => path };
  const guard = new Guard(LAYERS, { workspace: "/work", home: "/home/user" });
  const variables = new Variables(hostContext(places), "/work", {});
  const policies = ["agent", "tools"].map((name) => loadYaml(join(root, `policies/${name}.yaml`), places));

  it.each(AUTO_RUN_FILES)(
    "$example: the guard and both policies agree",
    async ({ example, counterexample, kernel }) => {
      const judged = guard.check({ kind: "path", input: example, fields: { access: "write" } });
      expect(judged.action).not.toBe("allow");
      for (const policy of await Promise.all(policies)) {
        const decided = (path: string) =>
          policy.decide(exampleEvent({ create: path }, variables))?.action ?? "allow";
        if (kernel === "never") expect(decided(example)).toBe("allow");
        else expect(["ask", "deny"]).toContain(decided(example));
        if (counterexample !== undefined) expect(decided(counterexample)).toBe("allow");
      }
    },
  );
});

/** What is written where, and what was there before. */
const ATTACKS: readonly (readonly [name: string, script: string, mark: string])[] = [
  ["a hook", "echo x > .git/hooks/pre-commit", ".git/hooks/pre-commit"],
  ["a hook of a repository below", "echo x > lib/.git/hooks/post-checkout", "lib/.git/hooks/post-checkout"],
  [
    "a module's hook",
    "mkdir -p .git/modules/m/hooks; echo x > .git/modules/m/hooks/update",
    ".git/modules/m/hooks/update",
  ],
  [
    "git's configuration",
    "echo '[core]fsmonitor=x' >> .git/config; cp /dev/null c; echo x > c; mv -f c .git/config; touch mark-$(grep -c '^x$\\|fsmonitor=' .git/config)",
    "mark-1",
  ],
  ["a repository put in its place", "mv .git away; mkdir new; mv new .git; echo x > .git/config", "away"],
  [
    "a link in place of hooks",
    "rm -rf .git/hooks; mkdir h; ln -s ../h .git/hooks; echo x > h/pre-commit; cat .git/hooks/pre-commit && touch through",
    "through",
  ],
  ["a link to a repository", "mkdir -p sub r; ln -s ../r old/.git", "old/.git"],
  ["husky", "mkdir .husky; echo x > .husky/pre-commit", ".husky/pre-commit"],
  ["an editor's task", "mkdir .vscode; echo x > .vscode/tasks.json", ".vscode/tasks.json"],
  [
    "an editor's folder under another name",
    "mkdir v; echo x > v/tasks.json; mv v .vscode",
    ".vscode/tasks.json",
  ],
  ["an agent's hooks", "mkdir .claude; echo x > .claude/settings.json", ".claude/settings.json"],
  [
    "an agent's folder, away and back",
    "cp -r .codex c; echo x > c/config.toml; mv .codex a; mv c .codex",
    "a",
  ],
  [
    "a container",
    "mkdir .devcontainer; echo x > .devcontainer/devcontainer.json",
    ".devcontainer/devcontainer.json",
  ],
  ["a yarn", "echo 'yarnPath: x' > .yarnrc.yml", ".yarnrc.yml"],
  ["a debugger's start", "echo x > old/.gdbinit", "old/.gdbinit"],
  [
    "a program of the prompt",
    "mkdir -p ~/.cache/gitstatus; echo x > ~/.cache/gitstatus/gitstatusd",
    "../home/.cache/gitstatus/gitstatusd",
  ],
];

const GIT = `
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
set -e
git init -q new; cd new; mkdir -p .vscode .github/workflows; echo 1 > .vscode/settings.json; echo 1 > .github/workflows/ci.yml
git add .; git commit -qm one; git config user.name me; git branch other; git checkout -q other; echo 2 > f
git add f; git commit -qm two; git checkout -q -; git merge -q other; cd ..
git clone -q new copy; git -C copy status -sb; git -C copy worktree add -q ../tree; git clone -q --bare new mirror.git
rm -rf copy/.vscode; echo y > old/f; git add old/f; git commit -qm three; git checkout -qb branch; mv old moved; echo done
`;

let place: Shipped;

/** Repositories, and what an agent and an editor keep there. */
function furnish(place: Shipped): Shipped {
  for (const folder of ["old", ".codex"]) place.bare("mkdir", folder);
  place.bare("git", "init", "-q", ".");
  place.bare("git", "init", "-q", "lib");
  place.write(".codex/config.toml", "");
  return place;
}

asEachUser(
  (fresh) => {
    place = furnish(fresh);
  },
  (another) => {
    const reached = (mark: string) => existsSync(join(place.workspace, mark));

    it.each(["run -q -p agent"])("%s: none of the attacks leaves anything", (way) => {
      const script = ATTACKS.map(([, text]) => `(${text}) 2>/dev/null`).join("\n");
      place.hermes(way, script);
      expect(ATTACKS.filter(([, , mark]) => reached(mark)).map(([name]) => name)).toEqual([]);
    });

    it("all of them work without HERMES", () => {
      for (const [name, script, mark] of ATTACKS) {
        const fresh = furnish(another());
        fresh.bare("/bin/bash", "-c", script);
        expect([name, existsSync(join(fresh.workspace, mark))]).toEqual([name, true]);
      }
    });

    it("git works: new repositories, clones, commits, branches, worktrees", () => {
      const { stdout, stderr } = place.hermes("run -p agent", GIT);
      expect(stdout, stderr).toMatch(/done\n$/);
      expect(stderr).not.toContain("denied");
    });
  },
);
