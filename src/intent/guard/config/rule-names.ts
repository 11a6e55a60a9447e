import { suggest } from "../../../abi/suggest.js";
import { starMatches } from "../../../nouns/glob.js";
import { approvalKeys } from "../command/rules.js";

/** Every rule of the guard, for configurations that name some. A test compares it with what the layers find. */
const GUARD_RULES: readonly string[] = `
  account active-data address-in-name advisories-unavailable age-key agent-instructions airtable-token alibaba-key
  alternate-stream ambiguous-host anthropic-key artefact-delete atlassian-token attack-tool auth-mutation
  authorization aws-access-key azure-key backdate bad-package bad-request bare-eval benchmark bidi-control
  bidi-override bidi-path bitbucket-token blocked-tool budget build-pipeline buildkite-token carrier-nat
  change-owner changed-since-read changes-task circleci-token cloud-destructive collector command-password conceal
  configured-path container-destructive container-escape container-socket contentful-token control-character
  crates-token credential-file credential-lure credentials-in-url database-destructive databricks-token
  delete-everything delete-files delete-outside depth destroy device device-name device-namespace
  digitalocean-token disables-protection discord-token discord-webhook disguised-traversal disk-copy dns-rebinding
  docker-token documentation doppler-token download-and-run drive-path dropbox-token dynamic-code dynamic-command
  empty-file empty-path encoded-command encoded-host encoded-shell env-code env-file env-insecure env-name
  env-never env-provider env-proxy env-unreadable env-value errand exfiltrate exfiltration exhaustion failed
  fake-tool-call fake-turn fetch-and-run figma-token filler firewall flutterwave-key fly-token force-kill
  foreign-port foreign-registry fork-bomb format-disk fresh-context git-destructive github-token gitlab-token
  google-key google-oauth grafana-token groq-key harvest-credentials header-injection heroku-key hidden-characters
  hidden-code hidden-command hidden-data hidden-text hide-traces hijack homograph hostile-code hugging-face-token
  ignore-instructions inline-code install-hook internal-address internal-name invisible-character jfrog-key jwt
  kernel kernel-settings keyed-secret kill-many kill-system langsmith-key leads-inside likely-credentials
  linear-key link-local link-mismatch listen living-off-the-land local-scheme login-pair look-alike look-alike-name
  look-alike-package loopback loopback-name mailchimp-key mailgun-key malicious-package max-rpm max-tokens
  max-tool-rounds memory metadata-address metadata-name mines misleading-extension mixed-script mixed-script-word
  model-not-allowed mount multicast namespace netlify-token netrc-password new-instructions new-role newrelic-key
  not-a-url not-an-address not-listed notion-token npm-token nuget-key nul nul-byte nvidia-key obfuscated
  obfuscated-address onepassword-token open-container open-mount open-permissions openai-key openrouter-key
  other-servers-context outside-root outside-workspace overwrite-secrets overwritten-text own-records own-task-id
  package-remove package-source path-too-long perplexity-key persistence pinecone-key pipe-to-interpreter
  pipe-to-shell planetscale-token plant-backdoor postman-key power private private-address private-data private-key
  privilege privileged-server process-memory process-secrets publish pulumi-token pypi-token python-approval
  python-coding python-containers python-delete python-dynamic python-dynamic-import python-environ
  python-environ-dump python-environment python-exec python-fork python-import python-input-capture python-install
  python-introspection python-kill python-lookup python-native python-network python-permissions python-persistence
  python-privilege python-scan python-serve python-shell python-socket python-spawn python-sql python-subprocess
  python-subprocess-shell python-syntax python-too-complex python-too-large python-unpickle python-upload
  random-value raw-device re-read re-read-loop read-limit read-only read-secret-file reads-environment
  recursive-delete registry-login remote-change remote-code remote-shell replace-shell replicate-token resend-key
  reserved reveal-prompt reverse-shell rubygems-key run-from-temp scan schedule script-injection script-scheme
  search-key secret-dump secret-exfiltration secret-read secret-sent secret-store secret-variable self-modification
  send-secret sendgrid-key sensitive-write sentry-token server-in-tmp server-root service setuid shell-escape
  shell-in-arguments shell-server shopify-token short-name signed-url sk-key skill-binary skill-git skill-link
  skill-path skill-too-large skip-approval slack-token slack-webhook smuggling-scheme sonar-token speaks-to-agent
  spies sql-destructive square-token startup-file steer stripe-key supabase-key syntax-error system-permissions
  tag-characters tailscale-key telegram-token terminal-clipboard terminal-colours terminal-control terminal-image
  terminal-link terminal-mode terminal-notify terminal-overwrite terminal-print terminal-report terminal-reset
  terminal-string terminal-title terraform-token tirith-unavailable too-complex too-large too-long tool-changed
  tool-destructive tool-name tool-poisoning touches-the-guard translated traversal trusted-name-in-host tunnel
  twilio-key unc-path unpinned-action unpinned-package unprotected-server unqualified-name unresolved
  unreviewed-source unspecified untrusted-checkout url-password userinfo-host vault-token vulnerable-package
  webhook-secret windows-system write-new write-outside write-system xai-key zero-width
`
  .trim()
  .split(/\s+/);

const known: ReadonlySet<string> = new Set(GUARD_RULES);
/** Rules of an installed scanner, which has names of its own. */
const FOREIGN = /^tirith-[\w-]+$/;

/** What is wrong with the name of a guard rule, with the nearest one. `own`: the user's patterns. */
export function unknownRule(name: string, own: readonly string[] = []): string | undefined {
  if (known.has(name) || own.includes(name) || FOREIGN.test(name)) return undefined;
  return `there is no rule \`${name}\` of the guard${nearest(name, [...GUARD_RULES, ...own])}`;
}

/** The same for a pattern in which `*` stands for any letters. `policy/rule` is a rule of a run's policy. */
export function unknownRulePattern(pattern: string, own: readonly string[] = []): string | undefined {
  if (pattern.includes("/") || FOREIGN.test(pattern)) return undefined;
  if ([...GUARD_RULES, ...own].some((name) => starMatches(pattern, name))) return undefined;
  return `no rule of the guard is called \`${pattern}\`${nearest(pattern, [...GUARD_RULES, ...own])}`;
}

/** The same for a key of `approvals.allow`: the key of a rule, an older one, or its name. */
export function unknownKey(key: string, own: readonly string[] = []): string | undefined {
  if (key.startsWith("exact:") || key.includes("/") || own.includes(key) || FOREIGN.test(key))
    return undefined;
  const keys = GUARD_RULES.flatMap((name) => [name, ...approvalKeys(name)]);
  return keys.includes(key) ? undefined : `no rule of the guard has the key \`${key}\`${nearest(key, keys)}`;
}

function nearest(name: string, names: readonly string[]): string {
  const near = suggest(name, names);
  return near === undefined
    ? ": hermes guard check shows the rules that apply"
    : `: did you mean \`${near}\`?`;
}
