import type { Action, Span } from "../finding.js";
import { decodings } from "../reading/decode.js";
import { collectorIn } from "./sinks.js";

/** What a script would do to whoever runs it. */
export interface ScriptFinding extends Span {
  readonly rule: string;
  readonly action: Action;
  readonly reason: string;
}

/** Where secrets are taken from. Case is ignored. */
const SOURCES = new RegExp(
  [
    String.raw`[~/\\"'\x60(\s]\.ssh(?:[/\\"'\x60)]|\b)(?![^\n]{0,40}(?:known_hosts|\.pub\b))`,
    String.raw`id_(?:rsa|ed25519|ecdsa)\b(?!\.pub)`,
    String.raw`\.aws[/\\]?["'\x60,\s)]{0,6}(?:credentials|config)`,
    String.raw`\.(?:netrc|npmrc|pypirc|pgpass|git-credentials|vault-token)\b`,
    String.raw`\.(?:docker[/\\]config\.json|kube[/\\]config|gnupg|config[/\\]gcloud|config[/\\]gh[/\\]hosts)`,
    String.raw`(?:login data|cookies\.sqlite|logins\.json|key4\.db|local state|keychain-db|wallet\.dat|\.electrum|\.bitcoin|\.ethereum|metamask|exodus)\b`,
    String.raw`/etc/shadow|/proc/(?:self|\d+|\*)/environ`,
    String.raw`\bsecurity\s+(?:find|dump)-(?:generic|internet)?-?(?:password|keychain)`,
    String.raw`open\([^)\n]{0,40}["'][^"'\n]{0,60}\.env["']|readfile(?:sync)?\([^)\n]{0,60}\.env["'\x60]|\bcat\s+[^\n|;]{0,60}\.env\b(?!\.example)`,
    String.raw`json\.(?:dumps|stringify)\(\s*(?:dict\()?(?:os\.environ|process\.env)|dict\(os\.environ\)|os\.environ\.(?:copy|items)\(\)|object\.(?:entries|assign|keys)\([^)\n]{0,20}process\.env|\.\.\.process\.env|\bprintenv\b|(?:^|[\s;|&(])env\s*(?:\||>|\))|\bdeclare\s+-x\b|\bexport\s+-p\b|get-childitem\s+env:`,
    String.raw`\b(?:history|\.bash_history|\.zsh_history)\b[^\n]{0,60}(?:curl|post|upload)`,
    String.raw`pyperclip\.paste|clipboardy|pbpaste|xclip\s+-o|get-clipboard`,
  ].join("|"),
  "gi",
);

/** Where data leaves by. */
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
    reason: "This unpacks code that cannot be read, and runs it.",
    pattern:
      /\b(?:exec|eval|compile|__import__|function|loads)\s?\(\s{0,4}(?:[\w.]{1,40}\(\s{0,4}){0,4}["']?(?:base64|b64decode|atob|codecs\.decode|zlib|marshal|bytes\.fromhex|binascii|gzip|lzma|buffer\.from|rot13|string\.fromcharcode|decodeuricomponent|unescape)|new function\s?\(\s{0,4}(?:atob|buffer\.from|string\.fromcharcode)|(?:base64\s+(?:-d|--decode|-D)|xxd\s+-r|openssl\s+enc\s+-d)[^\n]{0,60}\|\s{0,4}(?:(?:ba|z|da)?sh|python[\d.]*|perl|node|source)\b|eval\s+["']?\$\((?:echo|printf)[^\n]{0,400}\|\s?(?:base64|xxd|rev|tr)|frombase64string\([^\n]{0,200}(?:iex|invoke-expression|load\()|(?:powershell|pwsh)[^\n]{0,80}-e(?:nc|ncodedcommand|c)?\s+[a-z0-9+/=]{16,}|pickle\.loads\(\s{0,4}(?:base64|requests|urllib)/gi,
  },
  {
    rule: "hidden-code",
    action: "deny",
    reason: "This code is written so that nobody can read it.",
    pattern:
      /(?:\b_0x[0-9a-f]{4,8}\b[^\n]{0,400}?){4}|(?:\\x[0-9a-f]{2}){40}|string\.fromcharcode\((?:\s?\d{1,4}\s?,){12}|(?:chr\(\d{1,3}\)\s?\+\s?){8}|\[(?:\s?0x[0-9a-f]{2},){40}/gi,
  },
  {
    rule: "remote-code",
    action: "deny",
    reason: "This fetches code and runs it unread.",
    pattern:
      /\b(?:exec|eval)\s?\(\s{0,4}(?:await\s)?\(?(?:\w{1,20}\.)?(?:requests|urllib|httpx|urlopen|axios|fetch|http)[^\n]{0,200}|(?:exec|eval|new function)\s?\(\s{0,3}\(?(?:await\s)?(?:response|res|resp|r|data|body|code|payload|script)\.(?:text|content|data|body|read)|\b(?:exec|execsync|spawn|spawnsync|system|popen|run|call|check_output|check_call|getoutput)\s?\([^\n]{0,80}\b(?:curl|wget|iwr|invoke-webrequest)\b[^\n]{0,200}(?:\|\s{0,4}(?:sudo\s)?(?:ba|z|da)?sh|\|\s{0,4}python|&&\s{0,4}(?:chmod|sh|bash|\.\/)|;\s{0,4}(?:chmod|sh|bash|\.\/))/gi,
  },
  {
    rule: "reverse-shell",
    action: "deny",
    reason: "This gives somebody else a shell on this host.",
    pattern:
      /\/dev\/(?:tcp|udp)\/[\w.${}-]{1,60}\/[\d$]|\b(?:nc|ncat|netcat)\b[^\n]{0,60}\s-(?:[a-z]{0,6}[ec]|-exec|-sh-exec)\s{1,2}["']?(?:\/bin\/|cmd|powershell|sh\b|bash\b|\$)|mkfifo\s[^\n]{0,60}[;|&][^\n]{0,100}\b(?:nc|ncat|telnet)\b|os\.dup2\(\s?\w{1,20}\.fileno\(\)|pty\.spawn\(["']\/bin|socat\s[^\n]{0,80}exec:|net\.(?:socket|connect)[^\n]{0,200}\.pipe\([^\n]{0,40}(?:sh|shell)\b|stdin\.pipe[^\n]{0,40}socket|tcpclient\([^\n]{0,300}getstream/gi,
  },
  {
    rule: "persistence",
    action: "deny",
    reason: "This makes itself start again, outside of the skill.",
    pattern:
      /(?:>>?|\btee\s+(?:-a\s+)?|appendfile(?:sync)?\(|open\()[^\n]{0,60}(?:\.bashrc|\.zshrc|\.bash_profile|\.profile|\.zprofile|\.config\/fish|authorized_keys|\/etc\/(?:cron|profile|rc\.local|sudoers)|launchagents|launchdaemons|\.config\/(?:autostart|systemd)|\/etc\/systemd|startup\\)|\bcrontab\s+(?:-\s|-$|\/|[\w.]+$|<)|\|\s{0,3}crontab\b|launchctl\s+(?:load|bootstrap)|systemctl\s+(?:--user\s+)?enable\s|schtasks\s[^\n]{0,60}\/create|currentversion\\run|\bsetx?\s+ld_preload|\/etc\/ld\.so\.preload/gim,
  },
  {
    rule: "touches-the-guard",
    action: "deny",
    reason: "This changes what the agent is told or what guards it.",
    pattern:
      /(?:>>?|\btee\s+(?:-a\s+)?|appendfile(?:sync)?\(|writefile(?:sync)?\(|open\(|write_text|sed\s+-i|\brm\s+(?:-\w+\s+)?|\bcp\s+\S+\s+|\bmv\s+\S+\s+)[^\n]{0,80}(?:claude\.md|agents\.md|gemini\.md|\.cursorrules|\.claude\/settings|\.claude\.json|mcp\.json|hermes\.yaml|\.hermes\/|\.codex\/|\.git\/hooks|memory\.md)(?![\w.-]*\.(?:bak|example))/gi,
  },
  {
    rule: "destroy",
    action: "deny",
    reason: "This deletes what the user has.",
    pattern:
      /\brm\s+(?:-\w+\s+){1,4}(?:--no-preserve-root\s+)?["']?(?:\/|~|\$\{?home\}?|\/\*|~\/\*|\/(?:home|etc|usr|var|boot|users))\/?["']?(?:\s|$|;|&|\|)|shutil\.rmtree\(\s{0,3}(?:["'](?:\/|~|\/home|\/etc|\/users)["']|os\.path\.expanduser\(["']~\/?["']\)|path\.home\(\))|rm(?:sync|dir(?:sync)?)\(\s{0,3}(?:["'\x60](?:\/|~)["'\x60]|(?:require\(["'](?:node:)?os["']\)|os)\.homedir\(\)|process\.env\.home)\s?[,)]|:\(\)\s?\{\s?:\s?\|\s?:\s?&\s?\}|\bdd\s[^\n]{0,60}of=\/dev\/(?:sd|nvme|hd|vd|disk)|\bmkfs(?:\.\w{2,5})?\s[^\n]{0,30}\/dev\/|\bvssadmin\s+delete|(?:cipher|fernet|aes)[^\n]{0,120}encrypt[^\n]{0,200}(?:os\.walk|rglob|glob)/gim,
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
    reason: "This uses the host to mine coins.",
    pattern: /\bxmrig\b|stratum\+(?:tcp|ssl):\/\/|minexmr|\bcryptonight\b|--donate-level|coinhive/gi,
  },
  {
    rule: "spies",
    action: "deny",
    reason: "This records what the user types or sees.",
    pattern:
      /pynput\.keyboard|keyboard\.(?:on_press|record|hook)\(|imagegrab\.grab|pyautogui\.screenshot[^\n]{0,300}(?:post|send)|getasynckeystate|iohook|node-global-key-listener/gi,
  },
];

/** Scripts in a manifest that run by themselves when a package is installed. */
const INSTALL_HOOK = /"(?:pre|post)?install"\s*:\s*"([^"\n]{1,400})"/g;

const LENGTH = 400_000;

/** Scans a script of any language. Linear: every pattern is bounded. */
export function scanScript(path: string, whole: string): ScriptFinding[] {
  const text = whole.slice(0, LENGTH);
  const found: ScriptFinding[] = [];
  const add = ({ rule, action, reason }: Omit<Row, "pattern">, start: number, end: number) =>
    found.push({ rule, action, reason: `${path}: ${reason}`, start, end });
  for (const row of ROWS) {
    const match = first(text, row.pattern);
    if (match) add(row, match.start, match.end);
  }
  const source = first(text, SOURCES);
  const sink = first(text, SINKS);
  if (source && sink)
    add(
      { rule: "exfiltrate", action: "deny", reason: "This takes secrets, and it sends data away." },
      source.start,
      source.end,
    );
  const collector = collectorIn(text);
  if (collector && (sink || source))
    add(
      {
        rule: "exfiltrate",
        action: "deny",
        reason: `This sends data to ${collector.host}, which shows it to whoever set it up.`,
      },
      collector.start,
      collector.end,
    );
  for (const hook of text.matchAll(INSTALL_HOOK))
    if (
      /\b(?:curl|wget|node\s+-e|powershell|base64|\/dev\/tcp|bash\s+-c|sh\s+-c)\b|https?:\/\//.test(hook[1]!)
    )
      add(
        {
          rule: "install-hook",
          action: "deny",
          reason: "Installing this package fetches or runs something else.",
        },
        hook.index,
        hook.index + hook[0].length,
      );
  return found.length > 0 ? found : encoded(path, text);
}

function first(text: string, pattern: RegExp): Span | undefined {
  pattern.lastIndex = 0;
  const match = pattern.exec(text);
  return match ? { start: match.index, end: match.index + match[0].length } : undefined;
}

/** The same, inside strings that are encoded. */
function encoded(path: string, text: string): ScriptFinding[] {
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
