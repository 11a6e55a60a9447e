import { describe, expect, it } from "vitest";
import { Guard } from "../../../../src/intent/guard/guard.js";
import { urlsLayer } from "../../../../src/intent/guard/urls/layer.js";
import { BLOCKED_HOSTNAMES } from "../../../../src/intent/guard/urls/names.js";
import { BLOCKED_RANGES } from "../../../../src/intent/guard/urls/ranges.js";

const guard = new Guard([urlsLayer]);
const check = (input: string) => guard.check({ kind: "url", input });
const rules = (input: string) => check(input).findings.map(({ rule }) => rule);

describe("seed 004, layer 5: BLOCKED_IP_RANGES", () => {
  const ranges: [cidr: string, inside: string[], outside: string[]][] = [
    ["10.0.0.0/8", ["10.0.0.0", "10.255.255.255"], ["9.255.255.255", "11.0.0.0"]],
    ["172.16.0.0/12", ["172.16.0.0", "172.31.255.255"], ["172.15.255.255", "172.32.0.0"]],
    ["192.168.0.0/16", ["192.168.0.0", "192.168.255.255"], ["192.167.255.255", "192.169.0.0"]],
    ["127.0.0.0/8", ["127.0.0.0", "127.255.255.255"], ["126.255.255.255", "128.0.0.0"]],
    ["169.254.0.0/16", ["169.254.0.0", "169.254.255.255"], ["169.253.255.255", "169.255.0.0"]],
    ["100.64.0.0/10", ["100.64.0.0", "100.127.255.255"], ["100.63.255.255", "100.128.0.0"]],
    ["224.0.0.0/4", ["224.0.0.0", "239.255.255.255"], ["223.255.255.255"]],
    ["0.0.0.0/8", ["0.0.0.0", "0.255.255.255"], ["1.0.0.0"]],
  ];
  for (const [cidr, inside, outside] of ranges)
    it(`blocks ${cidr} from its first to its last address, and no neighbour`, () => {
      expect(BLOCKED_RANGES.map((row) => row.cidr)).toContain(cidr);
      for (const address of inside) expect(check(`http://${address}/`).action, address).toBe("deny");
      for (const address of outside) expect(check(`http://${address}/`).action, address).toBe("allow");
    });
});

describe("seed 004, layer 5: BLOCKED_HOSTNAMES", () => {
  for (const name of ["metadata.google.internal", "metadata.goog"])
    it(`blocks ${name}, with a trailing dot, in capitals and below it`, () => {
      for (const host of [name, `${name}.`, name.toUpperCase(), `x.${name}`, `${name}:80`])
        expect(check(`http://${host}/computeMetadata/v1/`).action, host).toBe("deny");
    });

  it("blocks the metadata names of every large cloud", () => {
    for (const { name } of BLOCKED_HOSTNAMES)
      expect(rules(`http://${name}/latest`), name).toContain("metadata-name");
  });
});

describe("a disguised address", () => {
  const loopback = [
    ["decimal", "http://2130706433/"],
    ["octal", "http://0177.0.0.1/"],
    ["one octal number", "http://017700000001/"],
    ["hexadecimal", "http://0x7f000001/"],
    ["hexadecimal parts", "http://0x7f.0x0.0x0.0x1/"],
    ["short", "http://127.1/"],
    ["a mix", "http://0x7f.1/"],
    ["leading zeros", "http://127.000.000.001/"],
    ["a trailing dot", "http://127.0.0.1./"],
    ["circled digits", "http://①②⑦.⓪.⓪.①/"],
    ["full-width digits and dots", "http://１２７．０．０．１/"],
    ["ideographic dots", "http://127。0。0。1/"],
    ["percent encoding", "http://%31%32%37.0.0.1/"],
    ["double percent encoding", "http://%2531%2532%2537.0.0.1/"],
    ["zero", "http://0/"],
    ["no slashes", "http:127.0.0.1"],
    ["one slash", "http:/127.0.0.1"],
    ["three slashes", "http:///127.0.0.1"],
    ["backslashes", "http:\\\\127.0.0.1\\"],
    ["no scheme", "127.0.0.1:8080/admin"],
    ["a relative scheme", "//127.0.0.1/"],
    ["white space before it", " \t\nhttp://127.0.0.1/"],
    ["a tab inside", "http://127.0.\t0.1/"],
    ["wrapping around 32 bits", "http://6425673729/"],
    ["IPv6 loopback", "http://[::1]/"],
    ["IPv6 loopback in full", "http://[0000:0000:0000:0000:0000:0000:0000:0001]/"],
    ["IPv4-mapped", "http://[::ffff:127.0.0.1]/"],
    ["IPv4-mapped in hexadecimal", "http://[::ffff:7f00:1]/"],
    ["IPv4-compatible", "http://[::127.0.0.1]/"],
    ["IPv4-translated", "http://[::ffff:0:127.0.0.1]/"],
    ["NAT64", "http://[64:ff9b::7f00:1]/"],
    ["local NAT64", "http://[64:ff9b:1::7f00:1]/"],
    ["6to4", "http://[2002:7f00:1::]/"],
    ["Teredo", "http://[2001:0:4136:e378:8000:63bf:80ff:fffe]/"],
    ["ISATAP", "http://[2001:470:1::5efe:7f00:1]/"],
    ["letters in circles", "http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/"],
    ["a name with a dot behind it", "http://localhost./"],
    ["a name below localhost", "http://app.localhost:3000/"],
    ["a soft hyphen in the name", "http://local\u00adhost/"],
    ["a public name for loopback", "http://x.localtest.me/"],
    ["an address in a name", "http://app.127.0.0.1.nip.io/"],
    ["an address in a name, with hyphens", "http://app-127-0-0-1.sslip.io/"],
    ["an address in a name, in hexadecimal", "http://7f000001.nip.io/"],
    ["a rebinding name", "http://7f000001.c0a80001.rbndr.us/"],
  ] as const;
  for (const [how, url] of loopback) it(`is refused: ${how}`, () => expect(check(url).action).toBe("deny"));

  it("is refused also when it is a public one: there is no honest reason to write it so", () => {
    expect(rules("http://134744072/")).toEqual(["obfuscated-address"]);
    expect(rules("http://0x08080808/")).toEqual(["obfuscated-address"]);
  });

  it("is read both ways when octal and decimal parsers differ", () => {
    expect(check("http://010.8.8.8/").action).toBe("deny");
    expect(check("http://012.0.0.1/").action).toBe("deny");
  });

  it("wraps around in parsers that do not check: 425.510.425.510", () =>
    expect(rules("http://425.510.425.510/")).toContain("metadata-address"));
});

describe("IPv6", () => {
  for (const [address, what] of [
    ["::", "unspecified"],
    ["fc00::1", "unique local"],
    ["fdff::1", "unique local"],
    ["fe80::1", "link-local"],
    ["fe80::1%25eth0", "link-local with a zone"],
    ["fec0::1", "site-local"],
    ["ff02::1", "multicast"],
    ["2001:db8::1", "documentation"],
    ["100::1", "discard"],
    ["fd00:ec2::254", "AWS metadata"],
    ["fd20:ce::254", "Google metadata"],
    ["4000::1", "not routed"],
  ] as const)
    it(`blocks ${what}: ${address}`, () => expect(check(`http://[${address}]/`).action).toBe("deny"));

  it("leaves public addresses alone", () => {
    for (const address of ["2606:4700:4700::1111", "2a00:1450:4001:81b::200e", "64:ff9b::808:808"])
      expect(check(`https://[${address}]/`).action, address).toBe("allow");
  });
});

describe("metadata addresses of the clouds", () => {
  for (const [host, of] of [
    ["169.254.169.254", "AWS, Google, Azure and others"],
    ["169.254.170.2", "AWS ECS"],
    ["169.254.170.23", "AWS EKS"],
    ["100.100.100.200", "Alibaba"],
    ["168.63.129.16", "Azure's wire server, in a public range"],
    ["192.0.0.192", "Oracle Classic"],
    ["169.254.42.42", "Scaleway"],
    ["[fd00:ec2::254]", "AWS over IPv6"],
    ["[::ffff:a9fe:a9fe]", "mapped"],
    ["[64:ff9b::a9fe:a9fe]", "through NAT64"],
    ["2852039166", "in decimal"],
    ["0xa9fea9fe", "in hexadecimal"],
    ["0251.0376.0251.0376", "in octal"],
  ] as const)
    it(`are refused: ${of}`, () =>
      expect(rules(`http://${host}/latest/meta-data/`)).toContain("metadata-address"));

  it("stay closed, even if the configuration opens them", () => {
    const open = new Guard([urlsLayer], { config: { urls: { allow: ["0.0.0.0/0", "metadata.goog"] } } });
    expect(open.check({ kind: "url", input: "http://10.0.0.1/" }).action).toBe("allow");
    expect(open.check({ kind: "url", input: "http://169.254.169.254/" }).action).toBe("deny");
    expect(open.check({ kind: "url", input: "http://metadata.goog/" }).action).toBe("deny");
  });
});

describe("confusion about the host", () => {
  for (const url of [
    "http://good.example.com\\@127.0.0.1/",
    "http://good.com#@10.0.0.1/",
    "http://a@10.0.0.1#@good.com",
    "http://good.com:80\\@169.254.169.254/",
    "http://1.1.1.1 &@10.2.2.2# @3.3.3.3/",
    "http://user@10.0.0.1:80@good.com/",
    "http://good.com?@10.0.0.1/",
  ])
    it(`is refused when any parser reads a blocked host: ${url}`, () =>
      expect(check(url).action).toBe("deny"));

  it("is refused even between two public hosts", () => {
    expect(rules("http://good.com\\@evil.com/")).toContain("ambiguous-host");
    expect(rules("http://good.com#@evil.com/")).toContain("ambiguous-host");
  });

  it("by a user name that looks like a host is refused", () => {
    expect(rules("https://www.paypal.com@evil.org/login")).toContain("userinfo-host");
    expect(rules("https://accounts.google.com%2F@evil.org/")).toContain("userinfo-host");
  });

  it("is not reported where there is none", () => {
    for (const url of [
      "https://medium.com/@someone/a-post-1a2b3c",
      "https://example.com?email=a@b.org",
      "https://www.npmjs.com/package/@types/node",
      "https://example.com/#/users/@me",
      "https://münchen.de/straße",
      "https://пример.рф/",
    ])
      expect(check(url).action, url).toBe("allow");
  });
});

describe("schemes", () => {
  for (const url of ["file:///etc/passwd", "FILE:/etc/passwd", "jar:http://x.org!/", "netdoc:///etc/hosts"])
    it(`that read the host's own files are refused: ${url}`, () =>
      expect(rules(url)).toEqual(["local-scheme"]));
  for (const url of [
    "gopher://x.org:6379/_SET",
    "dict://x.org:11211/stat",
    "ldap://x.org/a",
    "tftp://x.org/a",
  ])
    it(`that smuggle commands are refused: ${url}`, () => expect(rules(url)).toEqual(["smuggling-scheme"]));
  it("that run code are refused", () => expect(rules("javascript:alert(1)")).toEqual(["script-scheme"]));
  it("of other services are judged by their host", () => {
    expect(check("ssh://git@github.com/a/b.git").action).toBe("allow");
    expect(check("redis://127.0.0.1:6379/0").action).toBe("deny");
    expect(check("s3://bucket/key").action).toBe("allow");
  });
});

describe("the URL inside a URL", () => {
  it("is refused when it is a metadata address", () =>
    expect(check("https://proxy.example.com/?url=http%3A%2F%2F169.254.169.254%2Flatest").action).toBe(
      "deny",
    ));
  it("asks when it is a private host", () =>
    expect(check("https://proxy.example.com/fetch?u=http://10.0.0.5/admin").action).toBe("ask"));
  it("may be the client's own host after signing in", () =>
    expect(
      check("https://accounts.google.com/o/oauth2/auth?redirect_uri=http%3A%2F%2Flocalhost%3A8080%2Fcallback")
        .action,
    ).toBe("allow"));
});

describe("resolving a name", () => {
  const judge = (input: string, resolve: (host: string) => Promise<string[]>) =>
    new Guard([urlsLayer], { resolve }).judge({ kind: "url", input });

  it("refuses when any of several addresses is blocked", async () => {
    const mixed = await judge("https://rebind.example.com/", async () => ["93.184.216.34", "10.0.0.1"]);
    expect(mixed.action).toBe("deny");
    expect(mixed.findings[0]!.reason).toContain("resolves to 10.0.0.1");
  });
  it("fails closed when a name cannot be resolved", async () => {
    const failed = await judge("https://example.com/", async () => {
      throw new Error("SERVFAIL");
    });
    expect(failed).toMatchObject({ action: "deny", findings: [{ rule: "unresolved" }] });
    expect((await judge("https://example.com/", async () => [])).action).toBe("deny");
    expect((await judge("https://example.com/", async () => ["nonsense"])).action).toBe("deny");
  });
  it("allows a name whose addresses are all public", async () =>
    expect(
      (await judge("https://example.com/", async () => ["93.184.216.34", "2606:2800:220:1::1"])).action,
    ).toBe("allow"));
});

it("a hostile URL costs linear time", () => {
  for (const unit of ["@", "\\", "%25", "a.", "[", "0.", "//", "?u=http://", "#@", "1-"])
    expect(["allow", "ask", "deny"]).toContain(check(`http://${unit.repeat(7000)}`).action);
  expect(rules(`http://x.org/${"a".repeat(20_000)}`)).toEqual(["too-long"]);
});
