import ipaddr from "ipaddr.js";
import { type CommandArguments, hasOption, readArguments } from "../arguments.js";
import { isShell } from "../interpreters.js";
import { programOptions } from "../programs/options.js";
import type { Invocation, Word } from "../script.js";
import {
  type CheckContext,
  type CommandCheck,
  FETCHERS,
  isLoopback,
  type RuleHit,
  ruleHit,
} from "./check.js";

const CLIENTS = /^(curl|wget|wget2|http|https|xh|httpie|aria2c)$/;
const SOCKETS = /^(nc|ncat|netcat|socat|telnet)$/;
const LOOKUPS = /^(ping|ping6|dig|nslookup|host|drill|traceroute|whois|nsupdate)$/;

/** Judges data that leaves this machine, and where it goes. */
export const checkNetwork: CommandCheck = (invocation, situation) => {
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
        ? [ruleHit("exfiltration", span)]
        : copied(invocation, situation);
  return [
    ...addressed,
    ...sockets.map(({ target }) => ruleHit("reverse-shell", target.span)),
    ...more,
    ...shellOnSocket(invocation, situation),
  ];
};

const METADATA =
  /^(169\.254\.169\.254|169\.254\.170\.2|169\.254\.170\.23|100\.100\.100\.200|192\.0\.0\.192|168\.63\.129\.16|\[?fd00:ec2::254\]?|metadata\.google\.internal|metadata\.goog|metadata|instance-data(\.ec2\.internal)?|metadata\.azure\.com|metadata\.packet\.net|metadata\.tencentyun\.com)$/i;

/** Addresses of metadata services in any spelling, and addresses of the private network. */
function addresses({ text, span }: Word, program: string): RuleHit[] {
  if (text.length > 2048) return [];
  // An address starts with one of these characters, unless it is a URL.
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
    return [ruleHit("internal-address", span, host)];
  return isPrivate(host) ? [ruleHit("private-address", span, host)] : [];
}

const reaches = (program: string) =>
  CLIENTS.test(program) || SOCKETS.test(program) || LOOKUPS.test(program) || FETCHERS.has(program);

/** The URL parser turns every spelling of an IPv4 address into the usual one. */
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

/** Orders to delete in the body of a request. */
const ORDERS =
  /\bmutation\b[^"']*\b\w*(?:delete|destroy|remove|purge|terminate|drop)\w*|"(?:action|method|op|command)"\s*:\s*"[\w.:-]*(?:delete|destroy|purge|terminate|drop|wipe)/i;
/** Paths of APIs that delete with every HTTP method. */
const DELETES =
  /\/_(?:delete_by_query|forcemerge|close)\b|\/(?:delete|destroy|purge|wipe|terminate)(?:[-_/]?all)?(?:[?#]|$)/i;

function client(
  args: CommandArguments,
  { argv, input, span }: Invocation,
  { program }: CheckContext,
): RuleHit[] {
  const all: RuleHit[] = [];
  // `name:value` is a header for httpie, and a host with a port for curl.
  const header = /^(http|https|xh|httpie)$/.test(program) ? /^[\w-]+[:=]+[^/]/ : /^[\w-]+=/;
  const urls = args.operands.filter(({ text }) => /[.:/]|localhost/.test(text) && !header.test(text));
  const daemon = args.options.find(
    ({ name, value }) => name === "--unix-socket" && /docker|containerd|podman|crio/.test(value?.text ?? ""),
  );
  const api = urls.find(({ text }) => /:(2375|2376|10250|10255|2379)(\/|$)/.test(text));
  if (api) return [ruleHit("container-escape", api.span)];
  if (daemon) return [ruleHit("container-escape", daemon.word.span)];
  const deletes = args.options.some(
    ({ name, value }) => /^(-X|--request|--method)$/.test(name) && /^delete$/i.test(value?.text ?? ""),
  );
  const everything = deletes ? urls.find(({ text }) => /\/(?:_all|\*)/.test(text)) : undefined;
  if (everything) return [ruleHit("remote-change", everything.span)];
  const posts = args.options.some(({ name }) => BODY.test(name) || /^(-X|--request|--method)$/.test(name));
  const path = posts ? urls.find(({ text }) => DELETES.test(text)) : undefined;
  if (path) return [ruleHit("remote-change", path.span)];
  if (urls.length > 0 && urls.every(({ text }) => isLoopback(text))) return [];
  for (const { name, value } of args.options) {
    if (!value) continue;
    if (FILE_BODY.test(name) || (BODY.test(name) && carriesFile(value)))
      all.push(ruleHit("exfiltration", value.span));
  }
  const orders = args.options.find(({ name, value }) => BODY.test(name) && ORDERS.test(value?.text ?? ""));
  if (orders) all.push(ruleHit("remote-change", orders.word.span));
  if (deletes || (/^(http|https|xh)$/.test(program) && /^delete$/i.test(args.operands[0]?.text ?? "")))
    all.push(ruleHit("remote-change", span));
  // Only the output of other programs can be a secret; an unknown part of a URL can be anything.
  for (const word of argv.slice(1))
    if (
      word.from.some(
        (one) =>
          !/^(date|uname|arch|nproc|git|basename|cat|jq|lsb_release|dpkg|id|mktemp|curl|echo|printf|tr|sed|rustc|go|getconf)$/.test(
            one.program,
          ) || readsAll(one),
      )
    )
      all.push(ruleHit("exfiltration", word.span));
  if (input?.kind === "pipe" && args.options.some(({ value }) => /^@?-$/.test(value?.text ?? "")))
    all.push(ruleHit("exfiltration", span));
  return all;
}

/** `$(cat VERSION)` is a version; `$(cat ~/notes)` can be anything. */
const readsAll = (one: Invocation) =>
  one.program === "cat" &&
  !one.argv
    .slice(1)
    .every(({ text }) =>
      /^(\.?\/?[\w./-]*(version|VERSION|\.nvmrc|\.tool-versions|\.python-version)[\w.]*)$/.test(text),
    );

const carriesFile = ({ text, from }: Word) => /^@(?!-$)|=[@<]|^[\w-]+@/.test(text) || from.some(readsAll);

function socket({ argv, input, redirects, span }: Invocation, { program }: CheckContext): RuleHit[] {
  const args = readArguments(argv.slice(1), programOptions(program));
  if (
    hasOption(args, "-e", "--exec", "--sh-exec", "--lua-exec") ||
    (program !== "socat" && hasOption(args, "-c"))
  )
    return [ruleHit("reverse-shell", span)];
  if (program === "socat" && args.operands.some(({ text }) => /^(exec|system|shell):/i.test(text)))
    return [ruleHit("reverse-shell", span)];
  if (hasOption(args, "-z", "-h", "--help", "--version", "-U")) return [];
  const local = args.operands.some(({ text }) => isLoopback(text));
  const fed = input !== undefined || redirects.some(({ operator }) => operator === "<");
  return local && !fed ? [] : [ruleHit("exfiltration", span)];
}

/** One end of the pipe is a shell, the other a socket. */
function shellOnSocket({ input, span }: Invocation, { program }: CheckContext): RuleHit[] {
  const left = input?.from.map((one) => one.program) ?? [];
  const isSocket = (name: string) => SOCKETS.test(name) || name === "openssl";
  const shelled = isSocket(program) && left.some((name) => isShell(name));
  return shelled || (isShell(program) && left.some(isSocket)) ? [ruleHit("reverse-shell", span)] : [];
}

/** Copies to another machine. */
function copied({ argv, span }: Invocation, { program }: CheckContext): RuleHit[] {
  if (program !== "rsync" && program !== "scp") return [];
  const { operands } = readArguments(argv.slice(1), programOptions(program));
  const target = operands.at(-1)?.text ?? "";
  return /^([\w.-]+@)?[\w.-]+::?[^\\]|^rsync:\/\//.test(target) ? [ruleHit("exfiltration", span)] : [];
}
