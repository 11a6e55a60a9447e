import { domainToASCII, domainToUnicode } from "node:url";
import { parse as parseDomain } from "tldts";
import type { Action } from "../finding.js";
import { isMixed, isWholeTwin, skeleton, unicodeScripts } from "../reading/unicode-script.js";
import { BRANDS, type Brand, LURES } from "./brands.js";

/** A reason why a person misreads a host. */
interface HostLook {
  readonly rule: string;
  readonly action: Action;
  readonly reason: string;
}

/** Characters that look like the slashes, dots and question marks that end a host. */
const PUNCTUATION =
  /[\u2044\u2215\u29f8\u2571\u2024\u05c3\u02d0\ua789\u0589\u2236\uff0f\uff1f\uff03\u01c3\u203c\u2025-\u2027\u0660\u06d4\u0701\u0702\ufe52\uff0e]/;

const DOMAINS = new Map(BRANDS.flatMap((brand) => brand.domains.map((domain) => [domain, brand] as const)));
/** Hosting domains where each project has its own name. */
const HOMES = new Set(["readthedocs.io", "readthedocs.org", "rtfd.io", "wikimedia.org"]);
/** `microsoftonline` of microsoftonline.com: as well known as the brand itself. */
const LABELS = new Set(
  [...DOMAINS.keys()].map((domain) => domain.split(".")[0]!).filter((label) => label.length >= 7),
);
const NAMES = new Map(BRANDS.map((brand) => [brand.name, brand]));

/** Judges how a host looks: mixed scripts, brands where they do not belong, near misses of brands. */
export function hostLooks(given: string): HostLook[] {
  const host = given.toLowerCase().replace(/\.+$/, "");
  if (/^[\d.]+$|^\[|:/.test(host) || host === "") return [];
  if (PUNCTUATION.test(host))
    return [
      look("fake-separator", "deny", `${host} contains characters that only look like the end of the host.`),
    ];
  const unicode = host.includes("xn--") ? domainToUnicode(host) : host.normalize("NFC");
  if (unicode === "") return [look("bad-punycode", "deny", `${host} cannot be decoded as a host name.`)];
  const foreign = /[^\x00-\x7f]/.test(unicode) ? foreignLooks(unicode, host) : [];
  return foreign.length > 0 ? foreign : brandLooks(domainToASCII(unicode) || host);
}

/** Whether a word is a brand that people trust with their passwords. */
export function isTrustedName(word: string): boolean {
  return NAMES.has(word);
}

const look = (rule: string, action: Action, reason: string): HostLook => ({ rule, action, reason });

function foreignLooks(unicode: string, host: string): HostLook[] {
  const labels = unicode.split(".");
  const latinEnd = /^[\x00-\x7f]+$/.test(labels.at(-1)!);
  for (const label of labels) {
    if (!/[^\x00-\x7f]/.test(label)) continue;
    const scripts = unicodeScripts(label);
    if (isMixed(scripts))
      return [
        look(
          "mixed-script",
          "deny",
          `${unicode} mixes ${[...scripts].join(" and ")} letters in one name${shown(host, unicode)}.`,
        ),
      ];
    if (latinEnd && isWholeTwin(label))
      return [
        look(
          "homograph",
          "deny",
          `${unicode} is written in ${[...scripts][0]} letters that look like “${skeleton(label)}”${shown(host, unicode)}.`,
        ),
      ];
    const twin = NAMES.get(skeleton(label));
    if (!twin && scripts.has("Latin") && nearName(skeleton(label), label).length > 0)
      return [
        look(
          "homograph",
          "ask",
          `${unicode} differs by one letter from a trusted name${shown(host, unicode)}.`,
        ),
      ];
    if (twin && label !== twin.name)
      return [
        look("homograph", "deny", `${unicode} looks like ${twin.name} but is not${shown(host, unicode)}.`),
      ];
    if (
      /\p{M}{2}|[\u0300-\u036f\u0335-\u0338](?!\p{L})/u.test(label.normalize("NFC")) &&
      scripts.has("Latin")
    )
      return [look("homograph", "ask", `${unicode} has accents that no language uses there.`)];
  }
  return [];
}

function shown(host: string, unicode: string): string {
  return host === unicode ? "" : `, shown as ${host}`;
}

function owns(brand: Brand, host: string): boolean {
  return brand.domains.some((domain) => host === domain || host.endsWith(`.${domain}`));
}

/** Fast path: most hosts contain nothing that looks like a brand. */
const ANY_NAME = new RegExp([...NAMES.keys(), ...LABELS].join("|"));

function brandLooks(host: string): HostLook[] {
  const { domain, domainWithoutSuffix: name, subdomain, publicSuffix, isIcann } = parseDomain(host);
  if (!domain || !name || !isIcann) return [];
  if (DOMAINS.has(domain) || HOMES.has(domain) || (NAMES.has(name) && isCountry(publicSuffix))) return [];
  if (!ANY_NAME.test(host) && ![...disguises(name)].some((form) => ANY_NAME.test(form)))
    return nearName(name, domain);
  return [
    ...impersonated(host, subdomain ?? "", domain),
    ...disguisedName(name, domain),
    ...nearName(name, domain),
    ...lure(name, subdomain ?? "", domain),
  ].slice(0, 1);
}

/** google.de, amazon.co.uk: brands also own their country domains. */
function isCountry(suffix: string | null): boolean {
  return (
    /^(?:(?:co|com|net|org)\.)?[a-z]{2}$/.test(suffix ?? "") &&
    !/^(?:tk|ml|ga|cf|gq|cc|ws|su|pw|to)$/.test(suffix ?? "")
  );
}

/** `paypal.com.evil.org`, `www-github-com.evil.org`. */
function impersonated(host: string, subdomain: string, domain: string): HostLook[] {
  for (const [trusted, brand] of DOMAINS) {
    if (owns(brand, host)) continue;
    const at = Math.max(`.${subdomain}.`.indexOf(`.${trusted}.`), `.${host}`.indexOf(`.${trusted}-`));
    const joined =
      `.${subdomain.replaceAll("-", ".")}.${domain.split(".")[0]!.replaceAll("-", ".")}.`.includes(
        `.${trusted}.`,
      );
    if (at >= 0 || (joined && brand.distinct))
      return [
        look(
          "trusted-name-in-host",
          "deny",
          `This leads to ${domain}; ${trusted} is only a prefix of the name.`,
        ),
      ];
  }
  return [];
}

/** Digits and pairs of letters that look like another letter. */
function unleet(name: string): string {
  return name
    .replace(/rn/g, "m")
    .replace(/vv/g, "w")
    .replace(/cl(?=o|e)/g, "d")
    .replace(/0/g, "o")
    .replace(/[1|!]/g, "l")
    .replace(/3/g, "e")
    .replace(/4/g, "a")
    .replace(/5/g, "s")
    .replace(/7/g, "t");
}

function disguises(name: string): Set<string> {
  const plain = unleet(name);
  return new Set([
    plain,
    plain.replace(/l/g, "i"),
    name.replace(/rn/g, "m"),
    name.replace(/1/g, "i").replace(/0/g, "o"),
  ]);
}

function disguisedName(name: string, domain: string): HostLook[] {
  const words = name.split("-");
  for (const form of disguises(name)) {
    if (form === name) continue;
    const brand =
      NAMES.get(form) ??
      form
        .split("-")
        .map((word) => NAMES.get(word))
        .find((one) => one?.distinct && !words.includes(one.name));
    if (brand && brand.name !== name)
      return [look("look-alike-name", "deny", `${domain} looks like ${brand.name} but is not.`)];
  }
  return [];
}

function nearName(name: string, domain: string): HostLook[] {
  const near = BRANDS.find(
    (brand) => brand.distinct && brand.name.length >= 6 && name !== brand.name && isSlip(name, brand.name),
  );
  return near ? [look("look-alike-name", "ask", `${domain} differs by one letter from ${near.name}.`)] : [];
}

/**
 * One letter doubled, missing or swapped. A wrong letter counts only in long names: short names have honest
 * neighbours.
 */
function isSlip(name: string, of: string): boolean {
  if (Math.abs(name.length - of.length) > 1) return false;
  let i = 0;
  while (i < of.length && name[i] === of[i]) i++;
  const rest = (a: number, b: number) => name.slice(i + a) === of.slice(i + b);
  if (name.length === of.length + 1) return rest(1, 0) && (name[i] === name[i - 1] || of.length >= 8);
  if (name.length === of.length - 1) return rest(0, 1);
  const swapped = name[i] === of[i + 1] && name[i + 1] === of[i] && rest(2, 2);
  return swapped || (of.length >= 8 && rest(1, 1));
}

/** `paypal-login.com`, `paypal.verify-account.com`. */
function lure(name: string, subdomain: string, domain: string): HostLook[] {
  const words = name.split("-");
  const above = subdomain.split(/[.-]/);
  const borrowed = words.length > 1 ? words.find((word) => LABELS.has(word)) : undefined;
  if (borrowed && LURES.test(words.filter((word) => word !== borrowed).join("-")))
    return [look("credential-lure", "deny", `${domain} uses the name of ${borrowed} to ask for a password.`)];
  for (const brand of BRANDS) {
    const rest = words.filter((word) => word !== brand.name).join("-");
    if (words.length > 1 && words.includes(brand.name) && LURES.test(rest))
      return [
        look("credential-lure", "deny", `${domain} uses the name of ${brand.name} to ask for a password.`),
      ];
    if (!brand.distinct) continue;
    const glued =
      name !== brand.name && name.startsWith(brand.name)
        ? name.slice(brand.name.length)
        : name.endsWith(brand.name)
          ? name.slice(0, -brand.name.length)
          : "";
    if (glued && LURES.test(glued.replace(/^-|-$/g, "")))
      return [
        look("credential-lure", "deny", `${domain} uses the name of ${brand.name} to ask for a password.`),
      ];
    if (above.includes(brand.name) && LURES.test(`${subdomain}.${name}`))
      return [
        look(
          "credential-lure",
          "deny",
          `This leads to ${domain}; ${brand.name} is only a prefix of the name.`,
        ),
      ];
  }
  return [];
}
