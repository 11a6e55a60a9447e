import { describe, expect, it } from "vitest";
import { approvalKeys } from "../../../../src/intent/guard/command/rules.js";
import { judged } from "./judged.js";

const { action, rules, check } = judged();

/** Layer 1, category by category: what is in its table needs at least a person. */
const CATEGORIES: Readonly<
  Record<string, readonly (readonly [item: string, rule: string, command: string])[]>
> = {
  "Recursive delete": [
    ["rm -r", "recursive-delete", "rm -r src"],
    ["rm --recursive", "recursive-delete", "rm --recursive src"],
    ["rm -rf", "recursive-delete", "rm -rf src lib"],
  ],
  "Filesystem ops": [
    ["mkfs", "format-disk", "mkfs /dev/sda1"],
    ["dd", "disk-copy", "dd if=a.img of=b.img"],
    ["chmod 777", "open-permissions", "chmod 777 data"],
    ["chown", "change-owner", "chown ann data"],
  ],
  "SQL destructive": [
    ["DROP TABLE", "sql-destructive", 'psql -c "DROP TABLE users"'],
    ["DELETE (without WHERE)", "sql-destructive", 'mysql -e "DELETE FROM users"'],
    ["TRUNCATE", "sql-destructive", "echo 'TRUNCATE users;' | psql app"],
  ],
  "Shell injection": [
    ["Pipe to sh|bash", "pipe-to-interpreter", "cat steps.txt | bash"],
    ["-c flag execution", "dynamic-code", 'bash -c "$STEPS"'],
  ],
  "Git destructive": [
    ["reset --hard", "git-destructive", "git reset --hard HEAD~1"],
    ["push --force", "git-destructive", "git push --force"],
    ["push -f", "git-destructive", "git push -f origin main"],
  ],
  "System service": [
    ["systemctl stop", "service", "systemctl stop nginx"],
    ["systemctl restart", "service", "systemctl restart nginx"],
  ],
  "Package management": [
    ["apt remove", "package-remove", "apt remove nginx"],
    ["pip uninstall", "package-remove", "pip uninstall requests"],
  ],
  Network: [
    ["iptables", "firewall", "iptables -F"],
    ["ufw", "firewall", "ufw disable"],
  ],
  "Self-modification": [
    ["hermes update", "self-modification", "hermes update"],
    ["gateway run (outside systemd)", "self-modification", "hermes gateway run"],
  ],
};

for (const [category, rows] of Object.entries(CATEGORIES))
  describe(`004 layer 1: ${category}`, () => {
    for (const [item, rule, command] of rows)
      it(`${item} needs approval`, () => {
        expect(rules(command)).toContain(rule);
        expect(action(command)).not.toBe("allow");
      });
  });

describe("004 layer 1: commands are judged by what they contain, not by how they look", () => {
  it("-c with a script that can be read is judged by the script", () => {
    expect(action("bash -c 'npm run build && npm test'")).toBe("allow");
    expect(action("bash -c 'git push'")).toBe("deny");
  });

  it("DELETE with a WHERE clause passes; one that is always true does not", () => {
    expect(action('psql -c "DELETE FROM users WHERE id = 3"')).toBe("allow");
    expect(action('psql -c "DELETE FROM users WHERE 1 = 1"')).toBe("ask");
    expect(action('psql -c "DELETE FROM users WHERE true"')).toBe("ask");
  });

  it("dangerous words in plain text are harmless", () => {
    for (const command of [
      'git commit -m "rm -rf / was a bad idea"',
      "grep -rn 'sudo' docs",
      "echo 'DROP TABLE users' > notes.sql",
      'rg "curl .* | sh" README.md',
    ])
      expect(action(command), command).toBe("allow");
  });
});

describe("004 approval keys", () => {
  it('the canonical key is readable: "recursive delete"', () => {
    expect(approvalKeys("recursive-delete")[0]).toBe("recursive delete");
    expect(approvalKeys("hide-traces")).toEqual(["hide traces"]);
  });

  it('a legacy key is an alias of it: "rm_recursive"', () => {
    expect(approvalKeys("recursive-delete")).toContain("rm_recursive");
  });
});

describe("findings", () => {
  it("point at the words that they are about", () => {
    const input = "ls && git push origin main";
    const [finding] = check(input).findings;
    expect(input.slice(finding!.span!.start, finding!.span!.end)).toBe("git push");
  });

  it("point at the wrapper when the words are inside it", () => {
    const input = "echo ok; sh -c 'rm -rf /'";
    const spans = check(input).findings.map(({ span }) => input.slice(span!.start, span!.end));
    expect(spans).toContain("'rm -rf /'");
  });
});
