import type { Finding } from "../../finding.js";
import type { Context } from "../../layer.js";
import { isSensitive, pathPlace } from "../path-places.js";
import type { CommandReading } from "../reading.js";
import type { RuleId } from "../rules.js";
import { judgeWindows } from "../windows/judge.js";
import { type RuleHit, ruleHit } from "./check.js";
import { isArtefact } from "./files.js";
import { isSecretName } from "./secrets.js";

type Code = CommandReading["code"][number];

const SOCKET =
  /\b(socket|Socket\.tcp|TCPSocket|TCPServer|fsockopen|pfsockopen|IO::Socket|INET|inet_tcp|gen_tcp|net\.(connect|Socket|createConnection|createServer)|luasocket|TCPClient|stream_socket_client)\b|require\(["'](node:)?net["']\)|\/inet\/(tcp|udp)/i;
const SHELL = /\/bin\/(ba|z|da|k|a)?sh\b|\bcmd(\.exe)?\b|dup2|\bexec\b|popen|spawn|STDIN->fdopen|getline/;
const FETCH =
  /require\(["'](?:node:)?https?["']\)|\b(fetch|axios|https?\.(get|request)|LWP|open-uri|URI\.open|Net::HTTP|file_get_contents|curl_exec|HTTP::Tiny|http\.client|urlopen|HTTParty|open\(["']https?:|XMLHttpRequest|WebClient)\b|file_get_contents\(["']https?:/;
const EVALUATE =
  /\b(eval|Function|instance_eval|class_eval|assert|create_function|loadstring|load|vm\.runIn\w+|include|require_once|new\s+Function|execSync|exec|system)\s*[("'\s]/;
const DECODE =
  /base64|b64decode|atob|frombase64|unpack\s*\(?["']|fromCharCode|gzinflate|str_rot13|rot13|chr\(\d|\\x[\da-f]{2}\\x[\da-f]{2}\\x[\da-f]{2}|Buffer\.from\(/i;
const DELETE =
  /\b(unlink|unlinkSync|rmtree|remove_tree|rm_rf|rm_r|rmSync|rmdirSync|rmdir|rimraf|FileUtils\.(rm|remove)\w*|File\.(delete|unlink)|Dir\.(rmdir|unlink|delete)|os\.remove|Files\.delete|fs\.(rm|unlink|rmdir)|removeSync|emptyDir\w*|truncateSync)\b/;
const ENVIRONMENT =
  /%ENV\b|\bENV\.(to_h|each|inspect|to_a|map|keys|values|sort)|\b(puts|p|print|pp)\s+ENV\b(?!\s*\[)|process\.env\b(?!\s*[.[?])|getenv\(\s*\)|\$_ENV\b(?!\s*\[)|\$_SERVER\b(?!\s*\[)|\bENVIRON\b(?!\s*\[)|Sys\.getenv\(\s*\)|os\.environ\b(?!\s*[.[])|Deno\.env\.toObject|phpinfo\(/;
const DYNAMIC =
  /\b(execSync|exec|spawn|spawnSync|system|popen|shell_exec|passthru|qx)\s*\(\s*(?!["'`])[\w$.]+/;
const WRITE =
  /\b(writeFileSync?|appendFileSync?|File\.write|file_put_contents|fs\.write\w*|IO\.write|open\s*\([^)]*["']>)/;

/** Rows: patterns that the code must all contain, and the rule that then applies. */
const ROWS: readonly (readonly [rule: RuleId, ...patterns: RegExp[]])[] = [
  ["hostile-code", SOCKET, SHELL],
  ["hostile-code", FETCH, /\b(eval|Function|instance_eval|class_eval|loadstring|include)\b/],
  ["hostile-code", EVALUATE, DECODE],
  ["hostile-code", /process\.(binding|_linkedBinding|dlopen)/],
  ["fork-bomb", /\bfork\s+while\b|\bwhile\b[^;]{0,20}\bfork\b|\bloop\s*\{\s*fork/],
  ["secret-dump", ENVIRONMENT],
  ["inline-code", DELETE],
  ["inline-code", DYNAMIC],
  ["exfiltration", FETCH, /readFile|File\.read|slurp|file_get_contents\(["'][^h]|process\.env|ENV\[|getenv/],
  ["exfiltration", SOCKET],
  ["force-kill", /\b(process\.kill|kill)\b[^;]*(SIGKILL|["']?-?9\b|["']KILL)/],
  ["power", /\b(ExitWindows|reboot\(|shutdown\()/],
];

const CODE_AT_MOST = 1 << 16;

/**
 * Judges code of other languages. Python has its own layer; in the others only literal calls and paths are
 * recognized.
 */
export function judgeCode(code: Code, context: Context): (RuleHit | Finding)[] {
  const { language, text, span } = code;
  if (text.length > CODE_AT_MOST) return [ruleHit("too-complex", span)];
  if (text === "\0") return [ruleHit("dynamic-code", span)];
  if (language === "python")
    return context.inspect({ kind: "python", input: text }).map((finding) => ({ ...finding, span }));
  if (language === "powershell" || language === "cmd") return judgeWindows(text, language, span, context);
  if (language === "sed" || language === "awk") return awkAndSed(code, context);
  const rows = ROWS.filter(([, ...patterns]) => patterns.every((pattern) => pattern.test(text)));
  const grave = rows.filter(([, pattern]) => pattern !== DELETE || !deletesArtefacts(text));
  return [...grave.map(([rule]) => ruleHit(rule, span)), ...literals(code, context)];
}

/** Whether the code deletes only literal paths that a build can make again. */
function deletesArtefacts(text: string): boolean {
  const calls = [...text.matchAll(new RegExp(`(?:${DELETE.source})\\s*\\(\\s*`, "g"))];
  const mentions = [...text.matchAll(new RegExp(DELETE.source, "g"))];
  if (calls.length === 0 || calls.length < mentions.length) return false;
  return calls.every((call) => {
    const path = /^(["'`])([\w./-]+)\1/.exec(text.slice(call.index + call[0].length))?.[2];
    return path !== undefined && !/^\/|\.\./.test(path) && path.split("/").some(isArtefact);
  });
}

/** Paths and variables that the code contains as plain strings. */
function literals({ text, span }: Code, { workspace, home, cwd }: Context): RuleHit[] {
  const all: RuleHit[] = [];
  for (const [, , quoted = ""] of [...text.matchAll(/(["'`])((?:\\.|(?!\1)[^\\\n]){2,256})\1/g)].slice(
    0,
    64,
  )) {
    const place = pathPlace(quoted.replace(/^~(?=\/)/, home), false, cwd, { workspace, home });
    if (isSensitive("credential", place, false, { workspace, home }))
      all.push(ruleHit("secret-read", span, quoted));
    else if (isSensitive("process", place, false, { workspace, home }))
      all.push(ruleHit("process-memory", span, quoted));
    else if (quoted.startsWith("/") && place.area === "system" && WRITE.test(text))
      all.push(ruleHit("write-system", span, quoted));
    else if (isSensitive("persistent", place, false, { workspace, home }) && WRITE.test(text))
      all.push(ruleHit("persistence", span, quoted));
  }
  const names = [
    ...text.matchAll(/(?:process\.env\.|ENV\[["']|getenv\(["']|\$ENV\{["']?|ENVIRON\[["'])(\w+)/g),
  ].map(([, name = ""]) => name);
  if (names.some(isSecretName) && /console\.log|puts|print|echo|fetch|https?\.|warn|say/.test(text))
    all.push(ruleHit("secret-variable", span));
  return all;
}

/** These languages read their input; only what they write, run or connect to counts. */
function awkAndSed({ language, text, span }: Code, context: Context): RuleHit[] {
  const written =
    language === "sed"
      ? /(?:^|[;/}]|[gp\d])\s*w\s+([^\s;}]+)/.exec(text)?.[1]
      : />>?\s*"([^"]+)"/.exec(text)?.[1];
  const place = written ? pathPlace(written, false, context.cwd, context) : undefined;
  const all: RuleHit[] = [];
  if (place && (place.area === "system" || place.area === "device"))
    all.push(ruleHit("write-system", span, place.path));
  if (place && (place.area === "home" || place.area === "outside"))
    all.push(ruleHit("write-outside", span, place.path));
  if (/\/inet\d?\/(tcp|udp)\//.test(text)) all.push(ruleHit("reverse-shell", span));
  if (language === "awk" && /\bENVIRON\b(?!\s*\[)/.test(text)) all.push(ruleHit("secret-dump", span));
  if (language === "awk" && /\bsystem\s*\(\s*[$\w]/.test(text)) all.push(ruleHit("dynamic-code", span));
  return all;
}
