import type { Action } from "../finding.js";

/** Variables of a server's configuration that do more than configure it. */
export interface EnvFinding {
  readonly rule: string;
  readonly action: Action;
  readonly reason: string;
}

const ROWS: readonly {
  readonly name: RegExp;
  readonly value?: RegExp;
  readonly action: Action;
  readonly rule: string;
  readonly why: string;
}[] = [
  {
    name: /^(?:LD_PRELOAD|LD_AUDIT|DYLD_INSERT_LIBRARIES)$/,
    action: "deny",
    rule: "env-code",
    why: "loads code into every program that the server starts",
  },
  {
    name: /^(?:BASH_ENV|ENV|PYTHONSTARTUP|PERL5OPT|RUBYOPT|PROMPT_COMMAND|ZDOTDIR)$/,
    action: "deny",
    rule: "env-code",
    why: "runs code before the server does",
  },
  {
    name: /^NODE_OPTIONS$/,
    value: /--(?:require|import|loader|experimental-loader|eval)|-r\b/,
    action: "deny",
    rule: "env-code",
    why: "runs code before the server does",
  },
  {
    name: /^(?:LD_LIBRARY_PATH|DYLD_LIBRARY_PATH|PYTHONPATH|NODE_PATH|PERL5LIB|RUBYLIB|CLASSPATH|PATH)$/,
    value: /(?:^|:)(?:\/tmp|\/var\/tmp|\/dev\/shm|\.)(?:[/:]|$)/,
    action: "deny",
    rule: "env-code",
    why: "lets anybody put code before the server's own",
  },
  {
    name: /^(?:GIT_SSH_COMMAND|GIT_SSH|GIT_PROXY_COMMAND|GIT_EXTERNAL_DIFF|GIT_ASKPASS|SSH_ASKPASS|EDITOR|VISUAL|PAGER|BROWSER)$/,
    value: /[;&|$`]|curl|wget|\/tmp\//,
    action: "deny",
    rule: "env-code",
    why: "is a command that other programs run",
  },
  {
    name: /^(?:NODE_TLS_REJECT_UNAUTHORIZED)$/,
    value: /^0$/,
    action: "deny",
    rule: "env-insecure",
    why: "accepts any certificate",
  },
  {
    name: /^(?:PYTHONHTTPSVERIFY|GIT_SSL_NO_VERIFY|NPM_CONFIG_STRICT_SSL|npm_config_strict_ssl|CURL_INSECURE)$/,
    value: /^(?:0|1|true|false)$/,
    action: "deny",
    rule: "env-insecure",
    why: "accepts any certificate",
  },
  {
    name: /^(?:npm_config_registry|NPM_CONFIG_REGISTRY|PIP_INDEX_URL|PIP_EXTRA_INDEX_URL|UV_INDEX_URL|UV_DEFAULT_INDEX|UV_INDEX|UV_EXTRA_INDEX_URL|YARN_REGISTRY)$/,
    value: /^(?!https:\/\/(?:registry\.npmjs\.org|registry\.yarnpkg\.com|pypi\.org|test\.pypi\.org))/,
    action: "ask",
    rule: "foreign-registry",
    why: "fetches packages from somewhere else than advisories are about",
  },
  {
    name: /^(?:HTTPS?_PROXY|ALL_PROXY|https?_proxy|all_proxy|ANTHROPIC_BASE_URL|OPENAI_BASE_URL|OPENAI_API_BASE)$/,
    value: /^(?!https?:\/\/(?:localhost|127\.|\[::1\]|api\.(?:anthropic|openai)\.com))/,
    action: "ask",
    rule: "env-proxy",
    why: "lets somebody read along",
  },
  {
    name: /^(?:NODE_EXTRA_CA_CERTS|SSL_CERT_FILE|REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE)$/,
    value: /\/tmp\/|https?:/,
    action: "deny",
    rule: "env-insecure",
    why: "trusts a certificate that anybody can put there",
  },
  {
    name: /^(?:DANGEROUSLY_OMIT_AUTH|MCP_DISABLE_AUTH|DISABLE_AUTH|SKIP_AUTH)$/i,
    value: /^(?:1|true|yes)$/i,
    action: "ask",
    rule: "env-insecure",
    why: "lets anybody use the server",
  },
];

export function judgeEnv(env: Readonly<Record<string, string>>): EnvFinding[] {
  return Object.entries(env).flatMap(([name, value]) => {
    const row = ROWS.find((one) => one.name.test(name) && (one.value === undefined || one.value.test(value)));
    return row ? [{ rule: row.rule, action: row.action, reason: `${name} ${row.why}.` }] : [];
  });
}
