import { decoded, type UrlReading } from "./host.js";

/** Services that show their owner every request. */
const COLLECTORS = [
  "webhook.site",
  "requestbin.com",
  "requestbin.net",
  "pipedream.net",
  "hookbin.com",
  "beeceptor.com",
  "requestcatcher.com",
  "postb.in",
  "ptsv2.com",
  "ptsv3.com",
  "burpcollaborator.net",
  "oastify.com",
  "oast.fun",
  "oast.live",
  "oast.me",
  "oast.online",
  "oast.pro",
  "oast.site",
  "interact.sh",
  "interactsh.com",
  "dnslog.cn",
  "ceye.io",
  "canarytokens.com",
  "canarytokens.org",
  "bxss.me",
  "xss.ht",
  "ezstat.ru",
  "grabify.link",
  "iplogger.org",
  "iplogger.com",
  "requestinspector.com",
  "smee.io",
  "webhook-test.com",
  "webhookrelay.com",
  "typedwebhook.tools",
];

export function collectorService(host: string): string | undefined {
  return COLLECTORS.find((domain) => host === domain || host.endsWith(`.${domain}`));
}

/** URLs passed as parameters, as redirectors and proxies take them. At most a few: the rest repeats. */
export function nestedUrls(url: UrlReading): { name: string; value: string }[] {
  const found: { name: string; value: string }[] = [];
  for (const pair of url.query.slice(1).split("&").slice(0, 64)) {
    const at = pair.indexOf("=");
    const value = decoded(decoded(at < 0 ? pair : pair.slice(at + 1)));
    if (/^\s*(?:[a-z][a-z0-9+.-]{1,15}:)?[/\\]{2}/i.test(value) && value.length <= 2048)
      found.push({ name: at < 0 ? "" : pair.slice(0, at), value });
    else if (
      /^(?:\d{1,3}\.){3}\d{1,3}(?:[:/]|$)/.test(value) &&
      /url|uri|host|target|dest|proxy|fetch/i.test(pair.slice(0, at))
    )
      found.push({ name: pair.slice(0, at), value: `http://${value}` });
    if (found.length === 8) break;
  }
  return found;
}
