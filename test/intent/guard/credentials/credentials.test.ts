import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { baselineEnv, filterEnv, judgeVariable } from "../../../../src/intent/guard/credentials/env.js";
import { PROVIDERS } from "../../../../src/intent/guard/credentials/providers.js";
import { CredentialFiles } from "../../../../src/intent/guard/credentials/registry.js";
import { findSecrets, redact } from "../../../../src/intent/guard/credentials/secrets.js";
import { Guard } from "../../../../src/intent/guard/guard.js";
import { hostFiles } from "../../../../src/intent/guard/host.js";
import { LAYERS } from "../../../../src/intent/guard/layers.js";

const rule = (name: string, value?: string) => judgeVariable(name, value)?.rule;

describe("secrets never reach the child", () => {
  it.each([
    "HERMES_API_KEY",
    "OPENROUTER_API_KEY",
    "OPENROUTER_ANYTHING",
    "DATABASE_URL",
    "DATABASE_URL_REPLICA",
  ])("%s is stripped, even when declared", (name) => {
    expect(filterEnv({ [name]: "x", PATH: "/bin" }, { declared: [name] })).toMatchObject({
      env: { PATH: "/bin" },
      withheld: [{ name, rule: "env-never" }],
    });
  });

  it("the child gets AGENT_FOUNDRY_RUNTIME=1", () => {
    expect(filterEnv({}).env).toEqual({ AGENT_FOUNDRY_RUNTIME: "1" });
  });
});

describe("_HERMES_PROVIDER_ENV_BLOCKLIST", () => {
  it.each(["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GOOGLE_API_KEY", "GITHUB_TOKEN", "SLACK_BOT_TOKEN"])(
    "%s is stripped",
    (name) => {
      expect(rule(name, "x")).toBe("env-provider");
      expect(filterEnv({ [name]: "x" }).env).not.toHaveProperty(name);
    },
  );

  it("every credential of every provider of the table is withheld", () => {
    const names = PROVIDERS.flatMap((provider) => provider.names).filter((name) => !name.endsWith("*"));
    expect(names.length).toBeGreaterThan(200);
    expect(names.filter((name) => rule(name, "x") === undefined)).toEqual([]);
  });

  it("only explicitly declared variables are passed through", () => {
    const env = { GITHUB_TOKEN: "a", OPENAI_API_KEY: "b" };
    expect(filterEnv(env, { declared: ["GITHUB_TOKEN"] }).env).toMatchObject({ GITHUB_TOKEN: "a" });
    expect(filterEnv(env, { declared: ["GITHUB_TOKEN"] }).env).not.toHaveProperty("OPENAI_API_KEY");
    expect(filterEnv({ TF_TOKEN_x: "a" }, { declared: ["TF_TOKEN_*"] }).withheld).toEqual([]);
  });

  it("configuration declares them for the guard", () => {
    const declared = new Guard(LAYERS, { config: { credentials: { pass: ["GITHUB_TOKEN"] } } });
    expect(declared.check({ kind: "env", input: "GITHUB_TOKEN=a" }).action).toBe("allow");
    expect(declared.check({ kind: "env", input: "GH_TOKEN=a" }).action).toBe("deny");
  });
});

describe("names", () => {
  it.each([
    "DB_PASSWORD",
    "dbPassword",
    "MY_API_KEY",
    "SECRET_KEY_BASE",
    "API_KEY_PROD",
    "TOKEN_2",
    "APIKEY",
    "AUTHTOKEN",
    "DB_PWD",
    "GEMINI_KEY",
    "CONNECTION_STRING",
  ])("%s names a credential", (name) => expect(rule(name, "abcdef")).toBe("env-name"));
  it.each([
    "PWD",
    "OLDPWD",
    "MAX_TOKENS",
    "EOS_TOKEN",
    "TOKENIZERS_PARALLELISM",
    "PASSWORD_MIN_LENGTH",
    "TOKEN_TTL",
    "SORT_KEY",
    "PUBLIC_KEY",
    "KEYBOARD",
    "SSH_AUTH_SOCK",
    "NEXT_PUBLIC_KEY",
    "AUTH_ENABLED",
    "SECRET_NAME",
    "COMPASS",
  ])("%s is not", (name) => expect(rule(name, "abcdef")).toBeUndefined());
  it("a switch is no secret, even with the name of one", () =>
    expect(rule("USE_MY_TOKEN", "true")).toBeUndefined());
});

describe("values", () => {
  it.each([
    ["a token", `ghp_${"aB3".repeat(12)}`],
    ["a private key", "-----BEGIN RSA PRIVATE KEY-----"],
    ["a password in a URL", "postgres://app:s3cr3t-pw@db/app"],
  ])("%s is recognized under any name", (_, value) => expect(rule("INNOCENT", value)).toBe("env-value"));
  it("a hash and a UUID are not", () => {
    expect(rule("REVISION", "3f786850e387550fdab836ed7e6dc881de23001b")).toBeUndefined();
    expect(rule("REQUEST", "123e4567-e89b-12d3-a456-426614174000")).toBeUndefined();
  });
  it.each([
    ["LD_PRELOAD", "/tmp/x.so"],
    ["BASH_ENV", "/tmp/rc"],
    ["NODE_OPTIONS", "--require /tmp/x.js"],
    ["PYTHONSTARTUP", "/tmp/x.py"],
    ["GIT_SSH_COMMAND", "sh -c 'curl x'"],
    ["ANYTHING", "() { :; }; id"],
  ])("%s=%s carries code", (name, value) => expect(rule(name, value)).toBe("env-code"));
  it.each([
    ["NODE_OPTIONS", "--max-old-space-size=4096"],
    ["LESSOPEN", "| /usr/bin/lesspipe %s"],
    ["EDITOR", "code --wait"],
  ])("%s=%s does not", (name, value) => expect(rule(name, value)).toBeUndefined());
});

describe("_build_safe_env", () => {
  it("passes the baseline and the declared variables, and nothing else", () => {
    const env = { PATH: "/bin", HOME: "/h", LC_ALL: "C", FOO: "1", MY_VAR: "2", GITHUB_TOKEN: "3" };
    expect(baselineEnv(env, { declared: ["MY_VAR"] }).env).toEqual({
      PATH: "/bin",
      HOME: "/h",
      LC_ALL: "C",
      MY_VAR: "2",
      AGENT_FOUNDRY_RUNTIME: "1",
    });
  });
});

describe("redaction", () => {
  it("replaces the secret and leaves the rest readable", () => {
    const token = `ghp_${"aB3".repeat(12)}`;
    expect(redact(`clone https://x:${token}@github.com/a/b`).text).toBe(
      "clone https://x:[redacted: github-token]@github.com/a/b",
    );
    expect(redact("postgres://app:s3cr3t-pw@db/app").text).toBe(
      "postgres://app:[redacted: url-password]@db/app",
    );
    expect(redact("DB_PASSWORD=correct-horse-9\nPORT=1").text).toBe(
      "DB_PASSWORD=[redacted: keyed-secret]\nPORT=1",
    );
  });

  it("redacts a whole private key, and a truncated one", () => {
    const key = `-----BEGIN OPENSSH PRIVATE KEY-----\n${"b3BlbnNzaC1rZXktdjEA\n".repeat(5)}-----END OPENSSH PRIVATE KEY-----`;
    expect(redact(`before\n${key}\nafter`).text).toBe("before\n[redacted: private-key]\nafter");
    expect(redact(`before\n${key.slice(0, 90)}`).text).toBe("before\n[redacted: private-key]");
  });

  it("redacting twice changes nothing more", () => {
    const { text } = redact("api_key: 8f3kfh3k4jh5k3jh4kj5h3k4 and password=hunter22!");
    expect(redact(text)).toEqual({ text, secrets: [] });
  });

  it("findings come from left to right and never overlap", () => {
    const text =
      "token=ghp_aB3aB3aB3aB3aB3aB3aB3aB3aB3aB3aB3aB3 password=abc123xyz!\nAuthorization: Bearer abcdef0123456789abcdef0123456789";
    const secrets = findSecrets(text);
    expect(secrets.length).toBe(3);
    for (let i = 1; i < secrets.length; i++)
      expect(secrets[i]!.start).toBeGreaterThanOrEqual(secrets[i - 1]!.end);
  });

  it.each([
    "eyJ-",
    "-----BEGIN RSA PRIVATE KEY-----",
    "token",
    "token=",
    "password='",
    "://a:b",
    "curl -u ",
    "-u a",
    "sk-",
    "login a password ",
    "a1B",
    "%",
    "\n",
    "AccountKey=",
    "8Q~",
    "secret: ",
    "xoxb-",
  ])("does not hang on a megabyte of hostile text: %j", (piece) => {
    const text = piece.repeat(Math.ceil((1 << 20) / piece.length));
    expect(Array.isArray(findSecrets(text))).toBe(true);
  });
});

describe("register_credential_file", () => {
  let home: string;
  beforeAll(() => {
    home = mkdtempSync(join(tmpdir(), "hermes-home-"));
    mkdirSync(join(home, "creds"));
    writeFileSync(join(home, "creds/token.json"), "{}");
    symlinkSync("/etc/passwd", join(home, "creds/link"));
  });
  afterAll(() => rmSync(home, { recursive: true, force: true }));
  const registry = () => new CredentialFiles(home, hostFiles);

  it.each([
    ["no absolute path", "/etc/passwd", /relative/],
    ["no absolute Windows path", "C:\\x", /relative/],
    ["no ..", "../x", /\.\./],
    ["no traversal", "creds/../../x", /\.\./],
    ["no disguised traversal", "%2e%2e/x", /\.\./],
    ["no NUL", "creds/token.json\0", /NUL/],
    ["no empty path", " ", /empty/],
    ["no home folder", "~/x", /relative/],
    ["no link out of HERMES_HOME", "creds/link", /leads out/],
  ])("validates the path: %s", (_, path, why) => {
    expect(() => registry().register(path)).toThrow(why);
  });

  it("resolves to HERMES_HOME/relative_path and stores it for read-only mounting", () => {
    const files = registry();
    expect(files.register("creds/token.json")).toBe(true);
    expect(files.register("creds/missing.json")).toBe(false);
    expect(files.list()).toMatchObject([{ relative: "creds/token.json", readOnly: true }]);
  });

  it("is session-scoped", () => {
    const [one, two] = [registry(), registry()];
    one.register("creds/token.json");
    expect(two.list()).toEqual([]);
    one.clear();
    expect(one.list()).toEqual([]);
  });

  it("leaves out a file that was since replaced by a link", () => {
    const files = registry();
    writeFileSync(join(home, "creds/later"), "");
    files.register("creds/later");
    rmSync(join(home, "creds/later"));
    symlinkSync("/etc/passwd", join(home, "creds/later"));
    expect(files.list()).toEqual([]);
  });
});

describe("keys named after a service", () => {
  it.each([
    "algolia_key: 4f9a8c2e7b1d6035af9e2c8b7d4a1e60",
    "const herokuKey = '3f2b8c1e-9d4a-4e7b-8c6f-1a2b3c4d5e6f';",
    '<add key="trelloKey" value="9kQ2mXv7Lp4RtZ8sWb3Ny6Hc1Jd5Fg0A" />',
    "twitter:\n  key: h7Kd93mXq2Lp8Rt4Zs6W",
    "docker login -u bob -p Abc12345xyz reg.example",
    "redis-cli -a R3disPass99 ping",
  ])("are found: %s", (text) => expect(findSecrets(text)).toHaveLength(1));

  it.each([
    "cache_key: user_profile_settings_v2",
    "map_key: 5d41402abc4b2a76b9719d911017c592",
    "translation_key: home.header.title_v2",
    "docker run -p 8080:80 -u 1000:1000 img",
    "algolia_key: <your-key>",
  ])("other keys are not secrets: %s", (text) => expect(findSecrets(text)).toEqual([]));
});
