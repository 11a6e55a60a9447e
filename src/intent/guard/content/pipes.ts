import type { Action, Span } from "../finding.js";
import { decodings } from "../reading/decode.js";
import { latinView } from "../reading/fold.js";

/** A command in a text that runs what it downloads or unpacks, unread. */
interface Pipe extends Span {
  readonly rule: string;
  readonly action: Action;
  readonly reason: string;
}

const FETCH = "(?:curl|wget|fetch|http|aria2c|lynx|iwr|irm|wget2|invoke-webrequest|invoke-restmethod)";
const SHELL = String.raw`(?:sudo\s+(?:-\S{1,20}\s+){0,3}|env\s+(?:\S{1,40}=\S{0,40}\s+){0,3}|nohup\s+|command\s+|exec\s+|\S{1,40}=\S{0,60}\s+){0,3}(?:/(?:usr/)?(?:local/)?bin/(?:env\s+)?|\.\\)?(?:(?:ba|z|k|c|tc|da|a|fi|po)?sh|python[\d.]{0,4}|perl|ruby|node|nodejs|php|lua|deno|bun|pwsh|powershell|iex|invoke-expression|cmd|source|osascript|tclsh)\b(?![/.\w-])`;

interface Row {
  readonly rule: string;
  readonly reason: string;
  readonly pattern: RegExp;
  readonly action?: Action;
}

const RUNS_FETCHED = "This runs what the server sends at that moment, unread.";

const ROWS: readonly Row[] = [
  {
    rule: "pipe-to-interpreter",
    reason: RUNS_FETCHED,
    pattern: new RegExp(
      String.raw`(?<![\w-])${FETCH}\s[^\n|]{0,400}\|\s{0,4}(?:(?:tee|cat|gunzip|zcat|tr|sed|gzip|base64|xz|bzip2|grep|head|tail|openssl)\b[^\n|]{0,100}\|\s{0,4}){0,3}${SHELL}`,
      "gi",
    ),
  },
  {
    rule: "pipe-to-interpreter",
    reason: RUNS_FETCHED,
    pattern: new RegExp(
      String.raw`(?:(?:ba|z|k|da|a)?sh|python[\d.]{0,4}|perl|ruby|node|source|\.)\s+(?:-\S{1,12}\s+){0,3}(?:<\(|<<<\s*["']?\$\(|["']?\$\(|["']?\x60)\s{0,3}(?:sudo\s+)?${FETCH}\s`,
      "gi",
    ),
  },
  {
    rule: "pipe-to-interpreter",
    reason: RUNS_FETCHED,
    pattern: new RegExp(
      String.raw`(?<![\w-])(?:eval|exec)\s{0,3}["'(]{0,2}(?:\$\(|\x60)\s{0,3}(?:sudo\s+)?${FETCH}\s`,
      "gi",
    ),
  },
  {
    rule: "pipe-to-interpreter",
    reason: RUNS_FETCHED,
    pattern:
      /(?<![\w-])(?:iex|invoke-expression)\b[\s("'&{]{0,8}(?:\(?new-object\s+(?:system\.)?net\.webclient|iwr\b|irm\b|curl\b|wget\b|invoke-webrequest|invoke-restmethod)|downloadstring\([^\n]{0,200}\|\s{0,3}(?:iex|invoke-expression)|(?:invoke-webrequest|invoke-restmethod|iwr|irm)\s[^\n|]{0,200}\|\s{0,3}(?:iex|invoke-expression)/gi,
  },
  {
    rule: "encoded-command",
    action: "deny",
    reason: "This decodes a hidden command and runs it.",
    pattern: new RegExp(
      String.raw`(?:base64\s{1,3}(?:-{1,2}d\w{0,6}|-D)|xxd\s+-r\S{0,3}|openssl\s+(?:enc\s+)?(?:-d\s+)?-?base64[^\n|]{0,40})[^\n|]{0,60}\|\s{0,4}(?:(?:gunzip|zcat|rev|tr|sed)\b[^\n|]{0,60}\|\s{0,4}){0,2}${SHELL}|\b(?:powershell|pwsh)(?:\.exe)?\s[^\n]{0,120}-e(?:nc|ncodedcommand|c)?\s{1,3}[a-z0-9+/=]{16,}|(?:eval|exec)\s{0,2}\(?\s{0,2}(?:atob|base64\.b64decode|base64_decode|buffer\.from)\(`,
      "gi",
    ),
  },
  {
    rule: "living-off-the-land",
    action: "deny",
    reason: "This makes a system tool download and run code.",
    pattern:
      /\b(?:mshta(?:\.exe)?\s+(?:https?:|javascript:|vbscript:)|regsvr32(?:\.exe)?\s[^\n]{0,60}\/i:\s?https?:|certutil(?:\.exe)?\s[^\n]{0,60}-urlcache[^\n]{0,120}https?:|bitsadmin(?:\.exe)?\s[^\n]{0,60}\/transfer|rundll32(?:\.exe)?\s[^\n]{0,60}javascript:)/gi,
  },
  {
    rule: "fetch-and-run",
    reason: "This downloads a program and runs it at once.",
    pattern:
      /(?<![\w-])(?:curl|wget)\s[^\n;&|]{0,300}(?:;|&&)\s{0,4}(?:sudo\s+)?(?:chmod\s+(?:\+x|a\+x|u\+x|[0-7]{3,4})\s+[^\n;&|]{1,120}(?:;|&&)\s{0,4}(?:sudo\s+)?(?:\.\/|\/|~|(?:ba|z)?sh\s)|(?:ba|z|da)?sh\s+[^\n-]|\.\/|python[\d.]{0,4}\s+\S)/gi,
  },
  {
    rule: "reverse-shell",
    action: "deny",
    reason: "This opens a remote shell on this host.",
    pattern:
      /\/dev\/(?:tcp|udp)\/[\w.$-]{1,60}\/\d{1,5}|\b(?:nc|ncat|netcat)\b[^\n]{0,60}\s-(?:[a-z]{0,6}[ec]|-exec|-sh-exec)\s{1,2}["']?(?:\/bin\/|cmd|powershell|sh\b|bash\b)|mkfifo\s[^\n]{0,60}\|[^\n]{0,60}\b(?:nc|ncat|telnet)\b/gi,
  },
];

/** Installers that projects document in this form, from hosts that only these projects control. */
const KNOWN_INSTALLERS =
  /https:\/\/(?:sh\.rustup\.rs|get\.docker\.com|raw\.githubusercontent\.com\/(?:Homebrew\/install|nvm-sh\/nvm|ohmyzsh\/ohmyzsh|helm\/helm)\/|install\.python-poetry\.org|bun\.sh\/install|deno\.land\/(?:x\/)?install|get\.pnpm\.io|astral\.sh\/uv|fnm\.vercel\.app|starship\.rs\/install|get\.k3s\.io|tailscale\.com\/install|get\.volta\.sh|sdkman\.io|get\.sdkman\.io|ollama\.com\/install|fly\.io\/install|claude\.ai\/install|deb\.nodesource\.com|rpm\.nodesource\.com|install\.determinate\.systems|nixos\.org\/nix\/install|pyenv\.run|get\.helm\.sh|community\.chocolatey\.org\/install|chocolatey\.org\/install|get\.scoop\.sh|win\.rustup\.rs)/i;

/** Sources that no honest installer uses. */
const WORSE =
  /http:\/\/|\/\/(?:\d{1,3}\.){3}\d{1,3}|\.onion|(?:bit\.ly|tinyurl\.com|is\.gd|t\.ly|goo\.gl|rb\.gy|pastebin\.com|paste\.ee|hastebin|transfer\.sh|ix\.io|termbin|0x0\.st|ngrok|trycloudflare)|(?:\.(?:tk|ml|ga|cf|gq|top|xyz|pw|su))(?:[/:]|\s)|-k\b|--insecure|--no-check-certificate/i;

export function pipes(text: string): Pipe[] {
  const view = latinView(text);
  const found: Pipe[] = [];
  for (const { rule, reason, pattern, action } of ROWS)
    for (const match of view.text.matchAll(pattern)) {
      const line =
        match[0] +
        /^[^\n]{0,200}/.exec(
          view.text.slice(match.index + match[0].length, match.index + match[0].length + 200),
        )![0];
      const bad = WORSE.test(line);
      const verdict = action ?? (bad ? "deny" : KNOWN_INSTALLERS.test(line) ? "allow" : "ask");
      found.push({
        rule,
        action: verdict,
        reason,
        start: view.origin(match.index),
        end: view.origin(match.index + match[0].length),
      });
      if (found.length > 16) return found;
    }
  return found.length > 0 ? found : encoded(text);
}

/** The same inside base64 and similar: honest text does not encode commands. */
function encoded(text: string): Pipe[] {
  return decodings(text).flatMap((piece) => {
    const inner = ROWS.find(({ pattern }) => {
      pattern.lastIndex = 0;
      return pattern.test(piece.text);
    });
    return inner
      ? [
          {
            rule: "encoded-command",
            action: "deny" as const,
            reason: `${inner.reason} It is hidden in ${piece.how}.`,
            start: piece.start,
            end: piece.end,
          },
        ]
      : [];
  });
}
