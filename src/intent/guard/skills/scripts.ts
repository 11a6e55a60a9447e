import type { Action, Span } from "../finding.js";
import { decodings } from "../reading/decode.js";
import { withJoinedStrings } from "./joined-strings.js";
import { type Endpoint, endpointIn } from "./sinks.js";

/** What a script would do to its user. */
interface ScriptFinding extends Span {
  readonly rule: string;
  readonly action: Action;
  readonly reason: string;
}

/** Sources of secrets. Case is ignored. */
const SOURCES = new RegExp(
  [
    String.raw`[~/\\"'\x60(\s]\.ssh(?:[/\\"'\x60)]|\b)(?![^\n]{0,40}(?:known_hosts|\.pub\b))`,
    String.raw`id_(?:rsa|ed25519|ecdsa)\b(?!\.pub)`,
    String.raw`\.aws[/\\]?["'\x60,\s)]{0,6}(?:credentials|config)`,
    String.raw`\.(?:netrc|npmrc|pypirc|pgpass|git-credentials|vault-token)\b`,
    String.raw`\.(?:docker[/\\]config\.json|kube[/\\]config|gnupg|config[/\\]gcloud|config[/\\]gh[/\\]hosts)`,
    String.raw`(?:login data|cookies\.sqlite|logins\.json|key4\.db|local state|keychain-db|wallet\.dat|\.electrum|\.bitcoin|\.ethereum|metamask|exodus|\.config[/\\]solana|phantom)\b`,
    String.raw`/etc/shadow|/proc/(?:self|\d+|\*)/environ`,
    String.raw`\bsecurity\s+(?:find|dump)-(?:generic|internet)?-?(?:password|keychain)`,
    String.raw`open\([^)\n]{0,40}["'][^"'\n]{0,60}\.env["']|readfile(?:sync)?\([^)\n]{0,60}\.env["'\x60]|\bcat\s+[^\n|;]{0,60}\.env\b(?!\.example)`,
    String.raw`json\.(?:dumps|stringify)\(\s*(?:dict\()?(?:os\.environ|process\.env)|dict\(os\.environ\)|os\.environ\.(?:copy|items)\(\)|object\.(?:entries|assign|keys)\([^)\n]{0,20}process\.env|\.\.\.process\.env|\bprintenv\b|(?:^|[\s;|&(])env\s*(?:\||>|\))|\bdeclare\s+-x\b|\bexport\s+-p\b|get-childitem\s+env:`,
    String.raw`\b(?:history|\.bash_history|\.zsh_history)\b[^\n]{0,60}(?:curl|post|upload)`,
    String.raw`pyperclip\.paste|clipboardy|pbpaste|xclip\s+-o|get-clipboard`,
  ].join("|"),
  "gi",
);

/** Ways for data to leave. */
const SINKS = new RegExp(
  [
    String.raw`\bcurl\s[^\n]{0,200}(?:-d\b|--data|-F\b|--form|-T\b|--upload-file|-X\s*(?:POST|PUT)|@-|\$\(|\x60)`,
    String.raw`\bcurl\s[^\n]{0,200}\$\{?\w`,
    String.raw`\bwget\s[^\n]{0,200}(?:--post|\$\(|\$\{?\w)`,
    String.raw`\b(?:requests|httpx|session|client|aiohttp|axios|got|superagent|ky)\.(?:post|put|patch|request)\s*\(`,
    String.raw`\burllib\.request|urlopen\s*\(|http\.client|https?\.request\s*\(|require\(["']https?["']\)\.\w+\(|\bfetch\s*\([^)\n]{0,200}(?:post|body|\$\{|\+)|xmlhttprequest|navigator\.sendbeacon|new websocket\(`,
    String.raw`\b(?:requests|httpx|axios|https?)\.get\s*\([^)\n]{0,200}(?:f["']|\+|\$\{|params|format\()`,
    String.raw`\b(?:nc|ncat|netcat|socat)\s+[^\n]{0,80}\d{2,5}|/dev/(?:tcp|udp)/`,
    String.raw`socket\.(?:socket|create_connection)|net\.(?:connect|createconnection)|dgram\.createsocket`,
    String.raw`\b(?:scp|rsync|sftp|ftp)\s+[^\n]{0,160}@[\w.-]+:|smtplib|nodemailer|sendmail|\bmail\s+-s`,
    String.raw`dns\.(?:resolve|lookup)\([^)\n]{0,100}(?:\+|\$\{)|nslookup\s+[^\n]{0,60}\$|dig\s+[^\n]{0,60}\$`,
    String.raw`invoke-(?:webrequest|restmethod)[^\n]{0,200}-(?:body|method\s+post)|uploadstring|uploadfile|uploaddata`,
    String.raw`api\.telegram\.org|discord(?:app)?\.com/api/webhooks`,
    String.raw`\bgit\s+(?:push|remote\s+add)\s+[^\n]{0,100}https?://[^\n]{0,100}@`,
  ].join("|"),
  "gi",
);

/** Variables with account keys, and the services that they belong to. */
const KEYS =
  /(?:environ(?:\.get)?[[(]\s{0,2}|getenv\(\s{0,2}|process\.env[.[]|\$\{?|env::var\()["'\x60]?((?:AWS_(?:SECRET_ACCESS_KEY|SESSION_TOKEN)|(?:GITHUB|GH|GITLAB|NPM|PYPI|HF|VERCEL|CLOUDFLARE_API|DIGITALOCEAN|SLACK|SLACK_BOT)_TOKEN|(?:OPENAI|ANTHROPIC|GEMINI|GOOGLE|MISTRAL|GROQ|OPENROUTER|STRIPE|SENDGRID)_(?:API|SECRET)_KEY|DATABASE_URL|SSH_PRIVATE_KEY))\b/gi;
const OWNERS: Readonly<Record<string, RegExp>> = {
  aws: /amazon|aws/,
  github: /github/,
  gh: /github/,
  google: /google/,
  gemini: /google/,
  hf: /huggingface|hf\.co/,
};

interface Row {
  readonly rule: string;
  readonly action: Action;
  readonly reason: string;
  readonly pattern: RegExp;
}

const ROWS: readonly Row[] = [
  {
    rule: "hidden-code",
    action: "deny",
    reason: "This decodes a hidden command and runs it.",
    pattern:
      /\b(?:eval|source|bash|sh|zsh|python[\d.]*|node|perl)\s[^\n]{0,80}(?:\$\(|<\(|\x60)[^\n]{0,120}(?:base64\s+(?:-d|-D|--decode)|xxd\s+-r|openssl\s+(?:enc\s+-d|base64\s+-d)|gunzip|zcat)|(?:base64\s+(?:-d|-D|--decode)|openssl\s+(?:enc\s+-d|base64\s+-d)[^\n|]{0,40}|gunzip(?:\s+-c)?|xxd\s+-r[^\n|]{0,20})[^\n|]{0,40}\|\s{0,4}(?:sudo\s)?(?:(?:ba|z|da)?sh|python[\d.]*|perl|node)\b/gi,
  },
  {
    rule: "tunnel",
    action: "ask",
    reason: "This opens access from the internet to this machine.",
    pattern:
      /\bngrok\s+(?:http|tcp|tls|start)\b|\bcloudflared\s+(?:tunnel|access)\b|\bssh\s[^\n]{0,120}-[a-zA-Z]{0,6}R\s?\S{1,40}:\d|\b(?:lt|localtunnel)\s+--port|\bbore\s+local\b|\bcode\s+tunnel\b|\bdevtunnel\s+host|\bfrpc\s|\bchisel\s+client\b|\btailscale\s+funnel\b/gi,
  },
  {
    rule: "reads-environment",
    action: "ask",
    reason: "This goes through all environment variables, including keys and tokens.",
    pattern:
      /\bfor\s+[\w\s,]{1,40}\s+in\s+(?:sorted\()?os\.environ(?:\.items\(\))?\b|(?:print|log|write|dumps?|stringify)\(\s{0,4}(?:dict\()?(?:os\.environ|process\.env)\s{0,4}\)|object\.(?:entries|keys|values)\(\s{0,4}process\.env/gi,
  },
  {
    rule: "skip-approval",
    action: "ask",
    reason: "This switches off the agent's approval questions.",
    pattern:
      /--(?:dangerously-skip-permissions|dangerously-bypass-approvals-and-sandbox|yolo|trust-all-tools|no-sandbox-prompt)\b/gi,
  },
  {
    rule: "hidden-code",
    action: "deny",
    reason: "This decodes hidden code and runs it.",
    pattern:
      /\b(?:exec|eval|compile|__import__|function|loads|execsync|spawnsync|execfilesync)\s?\(\s{0,4}(?:[\w.]{1,40}\(\s{0,4}){0,4}["']?(?:base64|b64decode|atob|codecs\.decode|zlib|marshal|bytes\.fromhex|binascii|gzip|lzma|buffer\.from|rot13|string\.fromcharcode|decodeuricomponent|unescape)|new function\s?\(\s{0,4}(?:atob|buffer\.from|string\.fromcharcode)|(?:base64\s+(?:-d|--decode|-D)|xxd\s+-r|openssl\s+enc\s+-d)[^\n]{0,60}\|\s{0,4}(?:(?:ba|z|da)?sh|python[\d.]*|perl|node|source)\b|eval\s+["']?\$\((?:echo|printf)[^\n]{0,400}\|\s?(?:base64|xxd|rev|tr)|frombase64string\([^\n]{0,200}(?:iex|invoke-expression|load\()|(?:powershell|pwsh)[^\n]{0,80}-e(?:nc|ncodedcommand|c)?\s+[a-z0-9+/=]{16,}|pickle\.loads\(\s{0,4}(?:base64|requests|urllib)/gi,
  },
  {
    rule: "hidden-code",
    action: "deny",
    reason: "This code is obfuscated.",
    pattern:
      /(?:\b_0x[0-9a-f]{4,8}\b[^\n]{0,400}?){4}|(?:\\x[0-9a-f]{2}){40}|string\.fromcharcode\((?:\s?\d{1,4}\s?,){12}|(?:chr\(\d{1,3}\)\s?\+\s?){8}|\[(?:\s?0x[0-9a-f]{2},){40}/gi,
  },
  {
    rule: "remote-code",
    action: "deny",
    reason: "This downloads code and runs it unread.",
    pattern:
      /\b(?:exec|eval)\s?\(\s{0,4}(?:await\s)?\(?(?:\w{1,20}\.)?(?:requests|urllib|httpx|urlopen|axios|fetch|http)[^\n]{0,200}|(?:exec|eval|new function)\s?\(\s{0,3}\(?(?:await\s)?(?:response|res|resp|r|data|body|code|payload|script)\.(?:text|content|data|body|read)|\b(?:exec|execsync|spawn|spawnsync|system|popen|run|call|check_output|check_call|getoutput)\s?\([^\n]{0,80}\b(?:curl|wget|iwr|invoke-webrequest)\b[^\n]{0,200}(?:\|\s{0,4}(?:sudo\s)?(?:ba|z|da)?sh|\|\s{0,4}python|&&\s{0,4}(?:chmod|sh|bash|\.\/)|;\s{0,4}(?:chmod|sh|bash|\.\/))/gi,
  },
  {
    rule: "reverse-shell",
    action: "deny",
    reason: "This opens a remote shell on this host.",
    pattern:
      /\/dev\/(?:tcp|udp)\/[\w.${}-]{1,60}\/[\d$]|\b(?:nc|ncat|netcat)\b[^\n]{0,60}\s-(?:[a-z]{0,6}[ec]|-exec|-sh-exec)\s{1,2}["']?(?:\/bin\/|cmd|powershell|sh\b|bash\b|\$)|mkfifo\s[^\n]{0,60}[;|&][^\n]{0,100}\b(?:nc|ncat|telnet)\b|os\.dup2\(\s?\w{1,20}\.fileno\(\)|pty\.spawn\(["']\/bin|socat\s[^\n]{0,80}exec:|net\.(?:socket|connect)[^\n]{0,200}\.pipe\([^\n]{0,40}(?:sh|shell)\b|stdin\.pipe[^\n]{0,40}socket|tcpclient\([^\n]{0,300}getstream/gi,
  },
  {
    rule: "persistence",
    action: "deny",
    reason: "This makes itself start again, outside the skill.",
    pattern:
      /(?:>>?|\btee\s+(?:-a\s+)?|appendfile(?:sync)?\(|open\()[^\n]{0,60}(?:\.bashrc|\.zshrc|\.bash_profile|\.profile|\.zprofile|\.config\/fish|authorized_keys|\/etc\/(?:cron|profile|rc\.local|sudoers)|launchagents|launchdaemons|\.config\/(?:autostart|systemd)|\/etc\/systemd|startup\\)|\bcrontab\s+(?:-\s|-$|\/|[\w.]+$|<)|\|\s{0,3}crontab\b|launchctl\s+(?:load|bootstrap)|systemctl\s+(?:--user\s+)?enable\s|schtasks\s[^\n]{0,60}\/create|currentversion\\run|\bsetx?\s+ld_preload|\/etc\/ld\.so\.preload/gim,
  },
  {
    rule: "touches-the-guard",
    action: "deny",
    reason: "This changes the agent's instructions or its guards.",
    pattern:
      /(?:>>?|\btee\s+(?:-a\s+)?|appendfile(?:sync)?\(|writefile(?:sync)?\(|open\(|write_text|sed\s+-i|\brm\s+(?:-\w+\s+)?|\bcp\s+\S+\s+|\bmv\s+\S+\s+)[^\n]{0,80}(?:claude\.md|agents\.md|gemini\.md|\.cursorrules|\.claude\/settings|\.claude\.json|mcp\.json|hermes\.yaml|\.hermes\/|\.codex\/|\.git\/hooks|memory\.md)(?![\w.-]*\.(?:bak|example))/gi,
  },
  {
    rule: "destroy",
    action: "deny",
    reason: "This deletes the user's files.",
    pattern:
      /\brm\s+(?:-\w+\s+){1,4}(?:--no-preserve-root\s+)?["']?(?:\/|~|\$\{?home\}?|\/\*|~\/\*|\/(?:home|etc|usr|var|boot|users))\/?["']?(?:\s|$|;|&|\|)|shutil\.rmtree\(\s{0,3}(?:["'](?:\/|~|\/home|\/etc|\/users)["']|os\.path\.expanduser\(["']~\/?["']\)|path\.home\(\))|rm(?:sync|dir(?:sync)?)\(\s{0,3}(?:["'\x60](?:\/|~)["'\x60]|(?:require\(["'](?:node:)?os["']\)|os)\.homedir\(\)|process\.env\.home)\s?[,)]|:\(\)\s?\{\s?:\s?\|\s?:\s?&\s?\}|\bdd\s[^\n]{0,60}of=\/dev\/(?:sd|nvme|hd|vd|disk)|\bmkfs(?:\.\w{2,5})?\s[^\n]{0,30}\/dev\/|\bvssadmin\s+delete|(?:cipher|fernet|aes)[^\n]{0,120}encrypt[^\n]{0,200}(?:os\.walk|rglob|glob)/gim,
  },
  {
    rule: "destroy",
    action: "ask",
    reason: "This deletes folders of the user's home.",
    pattern:
      /\brm\s+-\w{0,6}r\w{0,6}\s+(?:-\w+\s+){0,3}["']?(?:~|\$\{?home\}?)\/["']?(?:documents|desktop|pictures|downloads|projects|music|videos|\*|[\w.-]{1,40}\/\*|[\w-]{0,40}\*)/gi,
  },
  {
    rule: "touches-the-guard",
    action: "ask",
    reason: "This lets the agent run every command without a question.",
    pattern: /"allow"\s?:\s?\[\s{0,8}"(?:bash\(\*\)|bash|\*)"/gi,
  },
  {
    rule: "disables-protection",
    action: "deny",
    reason: "This switches off protections of the host.",
    pattern:
      /\b(?:setenforce\s+0|csrutil\s+disable|spctl\s+--master-disable|ufw\s+disable|iptables\s+-F|systemctl\s+(?:stop|disable)\s+(?:auditd|firewalld|apparmor|crowdstrike|falcon)|set-mppreference\s[^\n]{0,60}disable|xattr\s+-[a-z]*d[a-z]*\s+com\.apple\.quarantine|unset\s+histfile|history\s+-c)\b|nopasswd:\s?all/gi,
  },
  {
    rule: "mines",
    action: "deny",
    reason: "This mines cryptocurrency on the host.",
    pattern: /\bxmrig\b|stratum\+(?:tcp|ssl):\/\/|minexmr|\bcryptonight\b|--donate-level|coinhive/gi,
  },
  {
    rule: "spies",
    action: "deny",
    reason: "This records what the user types or sees.",
    pattern:
      /pynput\.keyboard|keyboard\.listener\(|keyboard\.(?:on_press|record|hook)\(|imagegrab\.grab|pyautogui\.screenshot[^\n]{0,300}(?:post|send)|getasynckeystate|iohook|node-global-key-listener/gi,
  },
];

const LENGTH = 400_000;

/** What a script does, besides its findings. */
export interface ScriptFacts {
  readonly path: string;
  readonly findings: readonly ScriptFinding[];
  readonly takes: Span | undefined;
  readonly sends: Span | undefined;
  readonly endpoint: Endpoint | undefined;
}

/** Scans a script of any language. Linear: every pattern is bounded. */
export function readScript(path: string, whole: string): ScriptFacts {
  const text = whole.slice(0, LENGTH);
  const joined = withJoinedStrings(text);
  const takes = first(text, SOURCES) ?? (joined === undefined ? undefined : first(joined, SOURCES));
  const sends = first(text, SINKS) ?? (joined === undefined ? undefined : first(joined, SINKS));
  const endpoint = endpointIn(joined ?? text);
  const found: ScriptFinding[] = [];
  const add = ({ rule, action, reason }: Omit<Row, "pattern">, { start, end }: Span) =>
    found.push({ rule, action, reason: `${path}: ${reason}`, start, end });
  for (const row of ROWS) {
    const match = first(text, row.pattern);
    const inPieces = match || joined === undefined ? undefined : first(joined, row.pattern);
    if (match) add(row, match);
    if (inPieces) add({ ...row, reason: `${row.reason} It is assembled from pieces.` }, WHOLE);
  }
  if (joined !== undefined && first(joined, PIPED) && !first(text, PIPED)) add(IN_PIECES, WHOLE);
  if (takes && sends) add(LEAK, takes);
  if (endpoint && (sends || takes)) add(sentTo(endpoint), endpoint);
  const key = sends && foreignKey(text);
  if (key)
    add(
      { rule: "exfiltrate", action: "ask", reason: "This sends a key to a service that did not issue it." },
      key,
    );
  const findings = found.length > 0 ? found : encoded(path, text);
  return { path, findings, takes, sends, endpoint };
}

const PIPED = /\b(?:curl|wget|iwr)\s[^\n]{0,200}\|\s{0,4}(?:sudo\s)?(?:(?:ba|z|da)?sh|python[\d.]*|node)\b/gi;
const IN_PIECES = {
  rule: "hidden-code",
  action: "deny",
  reason: "This assembles a command from pieces that downloads code and runs it.",
} as const;
const WHOLE: Span = { start: 0, end: 1 };
const LEAK = {
  rule: "exfiltrate",
  action: "deny",
  reason: "This reads secrets and sends data away.",
} as const;

export function sentTo({ host, kind }: Endpoint): Omit<Row, "pattern"> {
  const reason = {
    collector: `This sends data to ${host}, a request collector.`,
    tunnel: `This sends data through the tunnel ${host} to a private machine.`,
    drop: `This sends data to ${host}, where everyone can read it.`,
    channel: `This sends data to a chat at ${host}.`,
    address: `This sends data to ${host}, an address without a name.`,
  }[kind];
  return { rule: "exfiltrate", action: kind === "collector" || kind === "tunnel" ? "deny" : "ask", reason };
}

/** A script that reads a key and names no address of the key's issuer. */
function foreignKey(text: string): Span | undefined {
  const hosts = [...text.matchAll(/https?:\/\/([\w.-]{4,120})/gi)]
    .slice(0, 200)
    .map((match) => match[1]!.toLowerCase());
  if (hosts.length === 0) return undefined;
  for (const match of text.matchAll(KEYS)) {
    const owner = match[1]!.toLowerCase().split("_")[0]!;
    const own = OWNERS[owner] ?? new RegExp(owner);
    if (!hosts.some((host) => own.test(host) || /^(?:localhost|127\.)/.test(host)))
      return { start: match.index, end: match.index + match[0].length };
  }
  return undefined;
}

function first(text: string, pattern: RegExp): Span | undefined {
  pattern.lastIndex = 0;
  const match = pattern.exec(text);
  return match ? { start: match.index, end: match.index + match[0].length } : undefined;
}

/** The same, inside encoded strings. */
export function encoded(path: string, text: string): ScriptFinding[] {
  for (const piece of decodings(text)) {
    const row = ROWS.find(({ pattern }) => first(piece.text, pattern));
    const leak = first(piece.text, SOURCES) && first(piece.text, SINKS);
    if (row || leak || /\b(?:curl|wget)\s[^\n]{0,200}\|\s?(?:ba)?sh\b/.test(piece.text))
      return [
        {
          rule: "hidden-code",
          action: "deny",
          reason: `${path}: This hides a command in ${piece.how}.`,
          start: piece.start,
          end: piece.end,
        },
      ];
  }
  return [];
}
