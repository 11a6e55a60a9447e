import type { IntentRule } from "./rule.js";

/** Files that hold secrets, as commands name them. */
const HOME = String.raw`(?:~|\$\{?home\}?|/home/[\w.-]{1,32}|/root|/users/[\w.-]{1,32}|%userprofile%|\.{1,2})?[/\\]?`;
const SECRET_FILE = String.raw`(?:["']?${HOME}(?:\.ssh(?:[/\\][\w.*-]{0,40})?|\.env(?:\.[\w-]{1,20})?(?![\w-])|\.aws[/\\]?(?:credentials)?|\.netrc|\.npmrc|\.pypirc|\.pgpass|\.git-credentials|\.docker[/\\]config\.json|\.kube[/\\]config|\.gnupg|\.config[/\\]gcloud[\w/.-]{0,60}|\.vault-token|[\w./~-]{0,60}id_(?:rsa|ed25519|ecdsa|dsa)\b)|["']?/etc/shadow|["']?/proc/(?:self|\d{1,7}|\*)/environ)`;
const PUBLIC =
  /\.pub\b|known_hosts|\.ssh[/\\]config|\.env\.(?:example|sample|template|dist|defaults?|schema|test)|\.env[.-]example/;

const READER = "(?:cat|bat|less|more|head|tail|tac|nl|type|get-content|gc|base64|xxd|od|hexdump|strings)";
const REQUEST = String.raw`\b(?:curl|wget|iwr|irm|invoke-webrequest|invoke-restmethod|httpie|ncat|nc|netcat|socat)\b`;
const SECRET_NAME = String.raw`[\w.-]{0,24}(?:secret|password|passwd|passphrase|credential|api[_-]?key|private[_-]?key|access[_-]?key|auth[_-]?token|token)s?[\w-]{0,24}`;
const LOCAL =
  /https?:\/\/(?:localhost|127\.|\[::1\]|0\.0\.0\.0|[\w.-]*example\.(?:com|org|net)|\$|\{|[\w-]{1,40}:\d)|http:\/\/[\w-]{1,40}\/|\$\{?vault_addr|\/v1\/(?:secret|auth|sys|kv)|\/oauth2?\/|\/token\b|\/login\b/;

/** Commands in prose that steal secrets or destroy data. Text is lower case when it is matched. */
export const COMMANDS: readonly IntentRule[] = [
  {
    rule: "read-secret-file",
    action: "deny",
    reason: "This reads a file of keys or passwords into the conversation.",
    pattern: new RegExp(
      String.raw`(?<![\w./-])${READER}\s{1,3}(?:-{1,2}[\w-]{1,16}(?:[= ]\d{1,8})?\s{1,2}){0,3}${SECRET_FILE}`,
      "g",
    ),
    unless: PUBLIC,
  },
  {
    rule: "read-secret-file",
    action: "deny",
    reason: "This makes the agent open a file of keys or passwords.",
    pattern: new RegExp(
      String.raw`(?<![\w-])(?:read|open|print|dump|show|display|output|paste|copy|include|return|get)\s{1,3}(?:me\s|us\s|out\s){0,1}(?:the\s{1,2}|all\s{1,2}|contents?\s{1,2}of\s{1,2}|content\s|file\s{1,2}|files\s{1,2}|user's\s{1,2}|in\s{1,2}|from\s{1,2}){0,4}["'\x60]?${SECRET_FILE}`,
      "g",
    ),
    unless: new RegExp(
      `${PUBLIC.source}|\\.env(?:\\.[\\w-]+)?["'\`]?\\s(?:file\\s)?(?:to|into|with|using|before|at startup|when|via|for)\\b`,
    ),
  },
  {
    rule: "send-secret",
    action: "deny",
    reason: "This puts a secret into a request to another server.",
    pattern: new RegExp(
      String.raw`${REQUEST}[^\n]{0,200}?(?:\$\(|\x60|<\()\s{0,2}(?:(?:sudo\s)?(?:${READER})[^)\x60\n]{0,60}(?:\.ssh|\.env|\.aws|\.netrc|id_rsa|shadow|passwd|secret|password|token|credential|\.kube|\.npmrc)|(?:env|printenv|set)\b)`,
      "g",
    ),
  },
  {
    rule: "send-secret",
    action: "deny",
    reason: "This uploads a file of keys or passwords.",
    pattern: new RegExp(
      String.raw`${REQUEST}[^\n]{0,160}?(?:-d\s?|--data[\w-]{0,12}[= ]|-f\s?["']?[\w-]{0,20}=?|--form[= ]["']?[\w-]{0,20}=?|-t\s?|--upload-file[= ]|--post-file[= ]|--body-file[= ]|-infile\s|<\s?)["']?@?(?:${SECRET_FILE}|/etc/passwd)`,
      "g",
    ),
    unless: PUBLIC,
  },
  {
    rule: "send-secret",
    action: "deny",
    reason: "This puts a secret into the URL of a request.",
    pattern: new RegExp(
      String.raw`(?:https?://|${REQUEST}\s)[^\s"'\x60$]{0,200}(?:\$\{?|\{\{?\s?|%|<)${SECRET_NAME}`,
      "g",
    ),
    unless:
      /https?:\/\/(?:localhost|127\.|\$|\{)|https:\/\/[\w.-]*(?:googleapis\.com|openweathermap\.org|alphavantage\.co|newsapi\.org|etherscan\.io|themoviedb\.org)\/|:\/\/[^/@\s]{0,80}@|x-access-token:|oauth2:/,
  },
  {
    rule: "send-secret",
    action: "deny",
    reason: "This puts a secret into a request to another server.",
    pattern: new RegExp(
      String.raw`\b(?:curl|wget)\s[^\n]{0,200}?(?:[?&]|-d\s?["']?|--data[\w-]{0,12}[= ]["']?|--post-data[= ]["']?|-f\s["']?)[^\s]{0,60}?${SECRET_NAME}`,
      "g",
    ),
    unless: LOCAL,
  },
  {
    rule: "send-secret",
    action: "ask",
    reason: "This names a secret in a request to another server.",
    pattern: /\b(?:curl|wget)\s[^\n]{0,120}?https?:\/\/[^\n]{0,120}?(?:secret|password|credential)s?\b/g,
    unless: new RegExp(`${LOCAL.source}|-h\\s["']|--header`),
  },
  {
    rule: "send-secret",
    action: "deny",
    reason: "This sends the whole environment to another server.",
    pattern: new RegExp(
      String.raw`(?<![\w-])(?:env|printenv|set|export\s-p)\s{0,3}\|[^\n]{0,80}?${REQUEST}|(?<![\w-])${READER}\s[^\n|]{0,60}(?:\.ssh|\.env|\.aws|\.netrc|id_rsa|shadow|passwd)[^\n|]{0,40}\|[^\n]{0,80}?${REQUEST}`,
      "g",
    ),
  },
  {
    rule: "send-secret",
    action: "deny",
    reason: "This sends files of keys or passwords to another server.",
    pattern: new RegExp(
      String.raw`(?<![\w-])(?:tar|zip|cp|gzip|7z|find|ls|grep)\s[^\n|]{0,80}(?:\.ssh|\.aws|\.gnupg|\.kube|\.netrc|id_rsa|\.env\b)[^\n|]{0,60}\|[^\n]{0,80}?${REQUEST}`,
      "g",
    ),
  },
  {
    rule: "destroy",
    action: "deny",
    reason: "This deletes the user's files.",
    pattern:
      /(?<![\w-])rm\s{1,3}(?:-{1,2}[\w-]{1,20}\s{1,3}){1,4}["']?(?:\/|~|\$\{?home\}?|\/\*|\*|~\/\*|\/(?:home|etc|usr|var|boot))\/?["']?(?=[\s;&|"'`)]|$)|:\(\)\s?\{\s?:\s?\|\s?:\s?&\s?\}\s?;\s?:|\bdd\s[^\n]{0,60}of=\/dev\/(?:sd|nvme|hd|vd)|\bmkfs(?:\.\w{2,5})?\s[^\n]{0,30}\/dev\//g,
  },
  {
    rule: "reverse-shell",
    action: "deny",
    reason: "This opens a remote shell on this host.",
    pattern:
      /(?:ba|z|k)?sh\s{1,2}-i\s{0,2}[<>&0-9\s]{0,8}\/dev\/(?:tcp|udp)\/|\/dev\/(?:tcp|udp)\/[\w.$-]{1,60}\/\d{1,5}|\b(?:nc|ncat|netcat)\b[^\n]{0,60}\s-(?:[a-z]{0,6}[ec]|-exec|-sh-exec)\s{1,2}["']?(?:\/bin\/|cmd|powershell|sh\b|bash\b)|mkfifo\s[^\n]{0,60}\|[^\n]{0,60}\b(?:nc|ncat|telnet)\b|socket\.socket\([^\n]{0,200}(?:dup2|subprocess|pty\.spawn)|socat\s[^\n]{0,80}exec:|tcpclient\([^\n]{0,300}getstream/g,
  },
];
