import { runsCode } from "../credentials/code.js";
import { baselineEnv, type FilteredEnv } from "../credentials/env.js";
import { redact } from "../credentials/secrets.js";
import type { Action } from "../finding.js";

/** Variables in a server's configuration that do more than configure it. */
interface EnvFinding {
  readonly rule: string;
  readonly action: Action;
  readonly reason: string;
}

interface Row {
  readonly name: RegExp;
  readonly value: RegExp;
  readonly action: Action;
  readonly rule: string;
  readonly why: string;
}

const ROWS: readonly Row[] = [
  {
    name: /^PATH$/,
    value: /(?:^|:)(?:\/tmp|\/var\/tmp|\/dev\/shm|\.)(?:[/:]|$)/,
    action: "deny",
    rule: "env-code",
    why: "puts a folder that every user can write to before the system's programs",
  },
  {
    name: /^NODE_TLS_REJECT_UNAUTHORIZED$|^PYTHONHTTPSVERIFY$|^npm_config_strict_ssl$/i,
    value: /^(?:0|false)$/i,
    action: "deny",
    rule: "env-insecure",
    why: "accepts any certificate",
  },
  {
    name: /^GIT_SSL_NO_VERIFY$/,
    value: /^(?:1|true)$/i,
    action: "deny",
    rule: "env-insecure",
    why: "accepts any certificate",
  },
  {
    name: /^(?:NODE_EXTRA_CA_CERTS|SSL_CERT_FILE|REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE)$/,
    value: /\/tmp\/|https?:/,
    action: "deny",
    rule: "env-insecure",
    why: "trusts a certificate from a folder that every user can write to",
  },
  {
    name: /^(?:npm_config_registry|YARN_REGISTRY|PIP_(?:EXTRA_)?INDEX_URL|UV_(?:DEFAULT_|EXTRA_)?INDEX(?:_URL)?)$/i,
    value: /^(?!https:\/\/(?:registry\.npmjs\.org|registry\.yarnpkg\.com|pypi\.org|test\.pypi\.org))/,
    action: "ask",
    rule: "foreign-registry",
    why: "fetches packages from a registry that the advisories do not cover",
  },
  {
    name: /^(?:https?_proxy|all_proxy|ANTHROPIC_BASE_URL|OPENAI_BASE_URL|OPENAI_API_BASE)$/i,
    value: /^(?!https?:\/\/(?:localhost|127\.|\[::1\]|api\.(?:anthropic|openai)\.com))/,
    action: "ask",
    rule: "env-proxy",
    why: "exposes the traffic to others",
  },
  {
    name: /^(?:DANGEROUSLY_OMIT_AUTH|MCP_DISABLE_AUTH|DISABLE_AUTH|SKIP_AUTH)$/i,
    value: /^(?:1|true|yes)$/i,
    action: "ask",
    rule: "env-insecure",
    why: "opens the server to everyone",
  },
];

export function judgeEnv(env: Readonly<Record<string, string>>): EnvFinding[] {
  return Object.entries(env).flatMap(([name, value]): EnvFinding[] => {
    const code = runsCode(name, value);
    if (code !== undefined) return [{ rule: "env-code", action: "deny", reason: `${name} ${code}.` }];
    const row = ROWS.find((one) => one.name.test(name) && one.value.test(value));
    return row ? [{ rule: row.rule, action: row.action, reason: `${name} ${row.why}.` }] : [];
  });
}

/** The environment for a server: the baseline of the host's, and the variables that its configuration sets. */
export function serverEnv(
  host: Readonly<Record<string, string | undefined>>,
  configured: Readonly<Record<string, string>>,
): FilteredEnv {
  const { env, withheld } = baselineEnv(host);
  const own = Object.entries(configured).filter(([name, value]) => runsCode(name, value) === undefined);
  return { env: { ...env, ...Object.fromEntries(own) }, withheld };
}

/** A server's error message without the secrets that the server was given. */
export function publicError(message: string, configured: Readonly<Record<string, string>> = {}): string {
  const given = Object.entries(configured).filter(([, value]) => value.length >= 6);
  // Longest first: one value can be part of another.
  given.sort(([, a], [, b]) => b.length - a.length);
  const without = given.reduce(
    (text, [name, value]) => text.replaceAll(value, `[redacted: ${name}]`),
    message,
  );
  return redact(without).text;
}
