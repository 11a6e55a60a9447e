import type { Secret } from "./secrets.js";
import { hasRandomRun, isCodeExpression, isPlaceholder } from "./value-shapes.js";

/** Secrets recognized by the structure around them: a PEM block, a URL with a password, a header. */
export const STRUCTURES: readonly ((text: string) => Iterable<Secret>)[] = [
  pem,
  urlPassword,
  authorization,
  azureKey,
  signedUrl,
  botTokens,
  netrc,
  registryLogin,
  commandPassword,
  loginPair,
];

const LONGEST_KEY = 20_000;

/** A truncated key is still a key: without an end line, everything that looks like its body is redacted. */
function* pem(text: string): Iterable<Secret> {
  let foot = -1;
  for (let at = text.indexOf("-----BEGIN "); at >= 0; at = text.indexOf("-----BEGIN ", at + 1)) {
    const head = /-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----/y;
    head.lastIndex = at;
    if (!head.test(text)) continue;
    const body = head.lastIndex;
    // A program that only mentions keys.
    if (/["'`]/.test(text[body] ?? "")) continue;
    foot = nextFrom(text, "-----END ", body, foot);
    let end = foot - body < LONGEST_KEY ? text.indexOf("-----", foot + 9) + 5 : body;
    if (end < body) end = body;
    if (end === body)
      while (end < text.length && end - body < LONGEST_KEY && /[A-Za-z0-9+/=\s\\]/.test(text[end]!)) end++;
    // A program that generates keys contains the lines around them, and no key between.
    if (foot - body >= LONGEST_KEY || /[A-Za-z0-9+/]{16}/.test(text.slice(body, foot)))
      yield secret("private-key", "a private key", at, end);
    at = end - 1;
  }
  const putty = text.indexOf("PuTTY-User-Key-File-");
  const lines = putty < 0 ? -1 : text.indexOf("Private-Lines:", putty);
  if (lines >= 0) yield secret("private-key", "a private key", lines, Math.min(text.length, lines + 3000));
}

/** The next position of `word`, without searching the same text twice. */
function nextFrom(text: string, word: string, from: number, known: number): number {
  if (known >= from) return known;
  const found = text.indexOf(word, from);
  return found < 0 ? Number.POSITIVE_INFINITY : found;
}

function secret(rule: string, what: string, start: number, end: number): Secret {
  return { rule, what, start, end, certain: true };
}

/** The last group of a match is the secret; it ends where the match ends. */
function tail(rule: string, what: string, match: RegExpMatchArray): Secret {
  const end = match.index! + match[0].length;
  return secret(rule, what, end - match.at(-1)!.length, end);
}

/** postgres://user:password@host: only the password, so that the rest stays readable. */
function* urlPassword(text: string): Iterable<Secret> {
  for (let at = text.indexOf("://"); at >= 0; at = text.indexOf("://", at + 3)) {
    const userinfo = /:\/\/([^\s/?#"'<>:@]{0,128}):([^\s"'<>/?#\\]{1,256})@[\w.[\]$-]/y;
    userinfo.lastIndex = at;
    const match = userinfo.exec(text);
    if (!match || match[1] === match[2] || isNoPassword(match[2]!) || match[2]!.startsWith("pserver:"))
      continue;
    const start = at + 4 + match[1]!.length;
    yield secret("url-password", "a password in a URL", start, start + match[2]!.length);
  }
}

function isNoPassword(text: string): boolean {
  return (
    text.length < 4 ||
    /^(?:(?:some|my|the|your|user|db|test|root|admin)?[_-]?(?:pass(?:word|wd)?|pwd|pw|secret)\d{0,3}|\d{1,5})$/i.test(
      text,
    ) ||
    isPlaceholder(text)
  );
}

const HEADER =
  /(?:authorization|x-api-key|x-auth-token|private-token|x-goog-api-key|api-key)["']?\s{0,3}[:=]\s{0,3}["']?(?:(?:bearer|basic|token|apikey|digest|negotiate)\s{1,3})?([A-Za-z0-9._~+/=:-]{8,4096})/gi;
const BEARER = /\bbearer\s{1,3}([A-Za-z0-9._~+/=-]{20,4096})/gi;

function* authorization(text: string): Iterable<Secret> {
  for (const form of [HEADER, BEARER])
    for (const match of text.matchAll(form))
      if (
        (/\d/.test(match[1]!) || hasRandomRun(match[1]!)) &&
        !isPlaceholder(match[1]!) &&
        !isCodeExpression(match[1]!)
      )
        yield tail("authorization", "an authorization header", match);
}

const AZURE = [
  /(?:AccountKey|SharedAccessKey)=([A-Za-z0-9+/]{40,88}={0,2})/g,
  /(?<![\w~.-])([A-Za-z0-9_~.-]{3}\d?8Q~[A-Za-z0-9_~.-]{31,34})/g,
];

function* azureKey(text: string): Iterable<Secret> {
  for (const form of AZURE)
    for (const match of text.matchAll(form)) yield tail("azure-key", "an Azure key", match);
}

/** A signature in a query grants access to what the URL names. */
function* signedUrl(text: string): Iterable<Secret> {
  const signature = /[?&](?:X-Amz-Signature|X-Goog-Signature|Signature|sig)=([A-Za-z0-9%+/=_-]{32,600})/g;
  for (const match of text.matchAll(signature)) yield tail("signed-url", "a signature of a URL", match);
}

/** Tokens without a prefix, but with parts that nothing else has. */
const PARTS: readonly (readonly [rule: string, what: string, form: RegExp])[] = [
  ["telegram-token", "a Telegram token", /(?<![\w-])(?:bot)?(\d{8,11}:AA[\w-]{32,34})(?![\w-])/g],
  [
    "discord-token",
    "a Discord token",
    /(?<![\w.-])([MNO][A-Za-z\d]{23,27}\.[\w-]{6}\.[\w-]{27,40})(?![\w-])/g,
  ],
  ["mailchimp-key", "a Mailchimp key", /(?<![\w-])([a-f0-9]{32}-us\d{1,2})(?!\w)/g],
  ["terraform-token", "a Terraform Cloud token", /(?<!\w)([A-Za-z0-9]{14}\.atlasv1\.[\w-]{60,80})/g],
];

function* botTokens(text: string): Iterable<Secret> {
  for (const [rule, what, form] of PARTS)
    for (const match of text.matchAll(form)) yield tail(rule, what, match);
}

function* netrc(text: string): Iterable<Secret> {
  const entry = /\blogin\s{1,8}\S{1,200}\s{1,8}password\s{1,8}(\S{4,200})/g;
  for (const match of text.matchAll(entry))
    if (!isPlaceholder(match[1]!)) yield tail("netrc-password", "a password of a netrc file", match);
}

/** Docker's `"auth": "…"` and npm's `_auth=…`: user and password in base64. */
function* registryLogin(text: string): Iterable<Secret> {
  for (const match of text.matchAll(
    /(?:"auth"\s{0,3}:\s{0,3}"|\b_auth\s{0,3}=\s{0,3}"?)([A-Za-z0-9+/=]{8,600})/g,
  ))
    if (/^[\x21-\x7e]+:[\x20-\x7e]+$/.test(Buffer.from(match[1]!, "base64").toString("latin1")))
      yield tail("registry-login", "a login of a registry", match);
}

/** curl -u user:password, sshpass -p, mysql -pSecret: the option, and the program earlier on the line. */
const OPTIONS: readonly (readonly [program: RegExp, form: RegExp])[] = [
  [/\b(?:curl|wget|http)(?:\s[^\n]*)?$/, /\s(?:-u|--user)[ =]["']?[^\s:"'$]{1,100}:([^\s"'$]{4,200})/g],
  [/\b(?:http|https|xh|ab)(?:\s[^\n]*)?$/, /\s(?:-a|-A|--auth)[ =]["']?[^\s:"'$]{1,100}:([^\s"'$]{4,200})/g],
  [/\bsshpass$/, /\s-p\s?["']?([^\s"'$]{4,200})/g],
  [/\b(?:mysql|mysqldump|mysqladmin|mariadb)(?:\s[^\n]*)?$/, /\s-p([^\s"'$]{4,200})/g],
  [
    /\b(?:docker|podman|buildah|nerdctl|helm|oras|crane|skopeo|oc|az|cf|heroku)\s[^\n]*login(?:\s[^\n]*)?$|\b(?:mongo|mongosh|mongodump|mongorestore|mongoexport|ncftpput|ncftpget|lftp|vncviewer|ipmitool)\s(?:[^\n]*)?$/,
    /\s-[pP][ =]["']?([^\s"'$-][^\s"'$]{5,200})/g,
  ],
  [/\bredis-cli(?:\s[^\n]*)?$/, /\s(?:-a|--pass)[ =]["']?([^\s"'$-][^\s"'$]{4,200})/g],
  [
    /\bldap(?:search|modify|add|delete|passwd|whoami)(?:\s[^\n]*)?$/,
    /\s-w[ =]["']?([^\s"'$-][^\s"'$]{4,200})/g,
  ],
  [
    /\b(?:smbclient|rpcclient|net|smbget|mount\.cifs)(?:\s[^\n]*)?$/,
    /\s(?:-U|--user)[ =]["']?[^\s%"'$]{1,100}%([^\s"'$]{4,200})/g,
  ],
  [
    /\b(?:sqlcmd|bcp|isql|zip|7z|7za|unrar|rar)(?:\s[^\n]*)?$/,
    /\s-[pP][ =]?["']?([^\s"'$-][^\s"'$]{5,200})/g,
  ],
  [
    /\b(?:xfreerdp|wfreerdp|mstsc|net use|cmdkey)(?:\s[^\n]*)?$/,
    /\s\/(?:p|pass|password):["']?([^\s"'$]{4,200})/g,
  ],
  [/\bopenssl(?:\s[^\n]*)?$/, /\s(?:-k\s|-pass(?:in|out)?\s(?:pass:))["']?([^\s"'$-][^\s"'$]{4,200})/g],
  [/\brabbitmqctl\s(?:add_user|change_password)$/, /\s[\w.@-]{1,60}\s["']?([^\s"'$-][^\s"'$]{5,200})/g],
];
/** `creds: bob / Winter2024x`, `net use x: \\\\host\\share /user:bob Winter2024x`. */
function* loginPair(text: string): Iterable<Secret> {
  const pair =
    /\b(?:creds?|credentials?|login|logon|account)\b[ \t]?[:=][ \t]?[\w.@-]{2,40}[ \t]{0,2}[/:|,][ \t]{0,2}([^\s"'<>,;]{8,64})|\/user:[\w.@\\-]{2,40}[ \t]([^\s"'<>/][^\s"'<>]{7,64})/gi;
  for (const match of text.matchAll(pair)) {
    const password = match[1] ?? match[2]!;
    if (/\d/.test(password) && /[a-z]/.test(password) && /[A-Z]/.test(password) && !isPlaceholder(password))
      yield secret(
        "login-pair",
        "the password of a login",
        match.index + match[0].length - password.length,
        match.index + match[0].length,
      );
  }
}

const LINE = 300;

function* commandPassword(text: string): Iterable<Secret> {
  for (const [program, form] of OPTIONS)
    for (const match of text.matchAll(form))
      if (!isPlaceholder(match[1]!) && program.test(text.slice(Math.max(0, match.index - LINE), match.index)))
        yield tail("command-password", "a password on a command line", match);
}
