import ipaddr from "ipaddr.js";
import { type Arguments, hasOption, readArguments } from "../arguments.js";
import { isShell } from "../interpreters.js";
import { programOptions } from "../programs/options.js";
import type { Invocation, Word } from "../script.js";
import { type Check, FETCHERS, type Found, found, isLoopback, type Situation } from "./check.js";

const CLIENTS = /^(curl|wget|wget2|http|https|xh|httpie|aria2c)$/;
const SOCKETS = /^(nc|ncat|netcat|socat|telnet)$/;
const LOOKUPS = /^(ping|ping6|dig|nslookup|host|drill|traceroute|whois|nsupdate)$/;

/** Whatever leaves this machine, and where it goes. */
export const network: Check = (invocation, situation) => {
  const { program } = situation;
  const { argv, span } = invocation;
  const addressed = [...argv, ...invocation.redirects.map(({ target }) => target)].flatMap((word) =>
    addresses(word, program),
  );
  const sockets = invocation.redirects.filter(({ target }) => /^\/dev\/(tcp|udp)\//.test(target.text));
  const more = CLIENTS.test(program)
    ? client(readArguments(argv.slice(1), programOptions(program)), invocation, situation)
    : SOCKETS.test(program)
      ? socket(invocation, situation)
      : LOOKUPS.test(program) && argv.some((word) => word.from.length > 0)
        ? [found("exfiltration", span)]
        : copied(invocation, situation);
  return [
    ...addressed,
    ...sockets.map(({ target }) => found("reverse-shell", target.span)),
    ...more,
    ...shellOnSocket(invocation, situation),
  ];
};

const METADATA =
  /^(169\.254\.169\.254|169\.254\.170\.2|169\.254\.170\.23|100\.100\.100\.200|192\.0\.0\.192|168\.63\.129\.16|\[?fd00:ec2::254\]?|metadata\.google\.internal|metadata\.goog|metadata|instance-data(\.ec2\.internal)?|metadata\.azure\.com|metadata\.packet\.net|metadata\.tencentyun\.com)$/i;

/** Addresses that hand out credentials, however they are written, and those of the private network. */
function addresses({ text, span }: Word, program: string): Found[] {
  if (text.length > 2048) return [];
  // No address begins with any other letter, unless it is a URL.
  if (!text.includes("://") && !/^[\d[fimFIM]/.test(text)) return [];
  const written = /(?:^|[=@\s"'])((?:https?|ftp|gopher|dict|ws|wss|tcp):\/\/[^\s"'<>]+)/i.exec(text)?.[1];
  const host = written
    ? hostOf(written)
    : (METADATA.test(text.split("/")[0]!) && (/[.:]/.test(text) || reaches(program))) ||
        /^169\.254\./.test(text)
      ? text.split(/[/:]/)[0]!
      : undefined;
  if (host === undefined) return [];
  if (METADATA.test(host.replace(/\.$/, "")) || /^169\.254\./.test(host))
    return [found("internal-address", span, host)];
  return isPrivate(host) ? [found("private-address", span, host)] : [];
}

const reaches = (program: string) =>
  CLIENTS.test(program) || SOCKETS.test(program) || LOOKUPS.test(program) || FETCHERS.has(program);

/** The URL parser turns every way to write an IPv4 address into the usual one. */
function hostOf(url: string): string | undefined {
  try {
    return new URL(url.replaceAll("\0", "x").replace(/^(gopher|dict|tcp):/i, "http:")).hostname;
  } catch {
    return undefined;
  }
}

function isPrivate(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, "");
  if (!/^[\d.]+$|:/.test(bare)) return false;
  try {
    const address = ipaddr.parse(bare);
    return /^(private|uniqueLocal|linkLocal|carrierGradeNat)$/.test(address.range());
  } catch {
    return false;
  }
}

const BODY =
  /^(-d|--data|--data-binary|--data-raw|--data-urlencode|--data-ascii|--json|-F|--form|--post-data|--body-data|--url-query)$/;
const FILE_BODY = /^(-T|--upload-file|--post-file|--body-file)$/;

/** What an API is told to do in the body of a request. */
const ORDERS =
  /\bmutation\b[^"']*\b\w*(?:delete|destroy|remove|purge|terminate|drop)\w*|"(?:action|method|op|command)"\s*:\s*"[\w.:-]*(?:delete|destroy|purge|terminate|drop|wipe)/i;
/** Paths that delete whatever method asks for them. */
const DELETES =
  /\/_(?:delete_by_query|forcemerge|close)\b|\/(?:delete|destroy|purge|wipe|terminate)(?:[-_/]?all)?(?:[?#]|$)/i;

function client(args: Arguments, { argv, input, span }: Invocation, { program }: Situation): Found[] {
  const all: Found[] = [];
  // `name:value` is a header to httpie, and a host with a port to curl.
  const header = /^(http|https|xh|httpie)$/.test(program) ? /^[\w-]+[:=]+[^/]/ : /^[\w-]+=/;
  const urls = args.operands.filter(({ text }) => /[.:/]|localhost/.test(text) && !header.test(text));
  const daemon = args.options.find(
    ({ name, value }) => name === "--unix-socket" && /docker|containerd|podman|crio/.test(value?.text ?? ""),
  );
  const api = urls.find(({ text }) => /:(2375|2376|10250|10255|2379)(\/|$)/.test(text));
  if (api) return [found("container-escape", api.span)];
  if (daemon) return [found("container-escape", daemon.word.span)];
  const deletes = args.options.some(
    ({ name, value }) => /^(-X|--request|--method)$/.test(name) && /^delete$/i.test(value?.text ?? ""),
  );
  const everything = deletes ? urls.find(({ text }) => /\/(?:_all|\*)/.test(text)) : undefined;
  if (everything) return [found("remote-change", everything.span)];
  const posts = args.options.some(({ name }) => BODY.test(name) || /^(-X|--request|--method)$/.test(name));
  const path = posts ? urls.find(({ text }) => DELETES.test(text)) : undefined;
  if (path) return [found("remote-change", path.span)];
  if (urls.length > 0 && urls.every(({ text }) => isLoopback(text))) return [];
  for (const { name, value } of args.options) {
    if (!value) continue;
    if (FILE_BODY.test(name) || (BODY.test(name) && carriesFile(value)))
      all.push(found("exfiltration", value.span));
  }
  const orders = args.options.find(({ name, value }) => BODY.test(name) && ORDERS.test(value?.text ?? ""));
  if (orders) all.push(found("remote-change", orders.word.span));
  if (deletes || (/^(http|https|xh)$/.test(program) && /^delete$/i.test(args.operands[0]?.text ?? "")))
    all.push(found("remote-change", span));
  // Only what other programs have said can be a secret: a hole in a URL may be anything.
  for (const word of argv.slice(1))
    if (
      word.from.some(
        (one) =>
          !/^(date|uname|arch|nproc|git|basename|cat|jq|lsb_release|dpkg|id|mktemp|curl|echo|printf|tr|sed|rustc|go|getconf)$/.test(
            one.program,
          ) || readsAll(one),
      )
    )
      all.push(found("exfiltration", word.span));
  if (input?.kind === "pipe" && args.options.some(({ value }) => /^@?-$/.test(value?.text ?? "")))
    all.push(found("exfiltration", span));
  return all;
}

/** `$(cat VERSION)` is a version; `$(cat ~/notes)` may be anything. */
const readsAll = (one: Invocation) =>
  one.program === "cat" &&
  !one.argv
    .slice(1)
    .every(({ text }) =>
      /^(\.?\/?[\w./-]*(version|VERSION|\.nvmrc|\.tool-versions|\.python-version)[\w.]*)$/.test(text),
    );

const carriesFile = ({ text, from }: Word) => /^@(?!-$)|=[@<]|^[\w-]+@/.test(text) || from.some(readsAll);

function socket({ argv, input, redirects, span }: Invocation, { program }: Situation): Found[] {
  const args = readArguments(argv.slice(1), programOptions(program));
  if (
    hasOption(args, "-e", "--exec", "--sh-exec", "--lua-exec") ||
    (program !== "socat" && hasOption(args, "-c"))
  )
    return [found("reverse-shell", span)];
  if (program === "socat" && args.operands.some(({ text }) => /^(exec|system|shell):/i.test(text)))
    return [found("reverse-shell", span)];
  if (hasOption(args, "-z", "-h", "--help", "--version", "-U")) return [];
  const local = args.operands.some(({ text }) => isLoopback(text));
  const fed = input !== undefined || redirects.some(({ operator }) => operator === "<");
  return local && !fed ? [] : [found("exfiltration", span)];
}

/** One end of a pipe is a shell, the other a socket. */
function shellOnSocket({ input, span }: Invocation, { program }: Situation): Found[] {
  const left = input?.from.map((one) => one.program) ?? [];
  const isSocket = (name: string) => SOCKETS.test(name) || name === "openssl";
  const shelled = isSocket(program) && left.some((name) => isShell(name));
  return shelled || (isShell(program) && left.some(isSocket)) ? [found("reverse-shell", span)] : [];
}

/** Copies to another machine. */
function copied({ argv, span }: Invocation, { program }: Situation): Found[] {
  if (program !== "rsync" && program !== "scp") return [];
  const { operands } = readArguments(argv.slice(1), programOptions(program));
  const target = operands.at(-1)?.text ?? "";
  return /^([\w.-]+@)?[\w.-]+::?[^\\]|^rsync:\/\//.test(target) ? [found("exfiltration", span)] : [];
}
