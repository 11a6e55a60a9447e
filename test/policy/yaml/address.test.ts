import { describe, expect, test } from "vitest";
import { connect, errorOf, event, load, ruleOf, rules } from "./policies.js";

const hit = async (pattern: string, address: string) =>
  ruleOf(await rules(`deny: connect, address: ${pattern}`), connect(address)) === "r1";

describe("an address", () => {
  test.each([
    ["10.0.0.0/8", "10.1.2.3:80"],
    ["10.0.0.1", "10.0.0.1:9"],
    ["10.0.0.1:80", "10.0.0.1:80"],
    ['"10.0.0.0/8:443"', "10.1.1.1:443"],
    ['"*:53"', "8.8.8.8:53"],
    ['"*:53"', "[::2]:53"],
    ['":53"', "8.8.8.8:53"],
    ['"*:8000-8999"', "1.1.1.1:8999"],
    ['"[::1]:80"', "[::1]:80"],
    ['"::1"', "[::1]:80"],
    ['"fd00::/8"', "[fd12::1]:1"],
    ['"[fd00::/8]:443"', "[fd12::1]:443"],
    ['"::ffff:10.0.0.1"', "10.0.0.1:80"],
    ["10.0.0.0/8", "[::ffff:a00:1]:80"],
    ["loopback", "127.9.9.9:1"],
    ["loopback", "0.0.0.0:80"],
    ["loopback", "[::]:80"],
    ["private", "192.168.1.1:1"],
    ["metadata", "169.254.169.254:80"],
    ["internet", "[::1]:1"],
    ["any", "unix:/x"],
    ["unix", "unix:/x"],
    ['"unix:/run/*.sock"', "unix:/run/a.sock"],
    ['"unix:/run/{a,b}.sock"', "unix:/run/b.sock"],
    ['"unix:/run/a"', "unix:/run/x/../a"],
    ['"unix:/srv/space/s"', "unix:s"],
    ['"unix:@dbus-*"', "unix:@dbus-1"],
    ["example.org", "93.184.216.34:1"],
    ["example.org", "[2606:2800:220:1::1]:1"],
    ['"example.org:443"', "93.184.216.34:443"],
    ['[internet, "!127.0.0.0/8"]', "8.8.8.8:1"],
    ['["!loopback"]', "8.8.8.8:1"],
    ["0.0.0.0/0", "1.2.3.4:5"],
  ])("in %s is %s", async (pattern, address) =>
    expect(
      ruleOf(
        await rules(`deny: connect, address: ${pattern}`),
        event("connect", { address, process: { cwd: "/srv/space" } }),
      ),
    ).toBe("r1"),
  );

  test.each([
    ["10.0.0.0/8", "11.0.0.1:80"],
    ["10.0.0.1:80", "10.0.0.1:81"],
    ['"*:8000-8999"', "1.1.1.1:9000"],
    ["0.0.0.0/0", "[::1]:1"],
    ["internet", "unix:/x"],
    ['"unix:/run/**"', "unix:@/run/x"],
    ['"unix:@x"', "unix:/x"],
    ['[internet, "!127.0.0.0/8"]', "127.0.0.1:1"],
    ['[internet, "!127.0.0.0/8"]', "0.0.0.0:1"],
    ['"example.org:443"', "93.184.216.34:80"],
    ["private", "8.8.8.8:1"],
  ])("in %s is not %s", async (pattern, address) => expect(await hit(pattern, address)).toBe(false));

  test("that is bound is compared as it is: 0.0.0.0 is every interface", async () => {
    const policy = await rules("deny: bind, address: 0.0.0.0");
    expect(ruleOf(policy, event("bind", { address: "0.0.0.0:80" }))).toBe("r1");
    expect(ruleOf(policy, event("bind", { address: "127.0.0.1:80" }))).toBeUndefined();
  });

  test("of every message of a sendmmsg counts", async () => {
    const policy = await rules("deny: connect, address: 10.0.0.0/8");
    expect(ruleOf(policy, event("sendmmsg", { addresses: ["8.8.8.8:1", "10.0.0.1:1"] }))).toBe("r1");
    expect(ruleOf(policy, event("sendmmsg", { addresses: ["8.8.8.8:1", "8.8.4.4:1"] }))).toBeUndefined();
  });

  test("of a datagram with family 0 is the IPv4 address behind it", async () => {
    const policy = await rules("deny: connect, address: 10.0.0.0/8");
    const sneaky = event("sendto", { address: "1.1.1.1:1" });
    const bytes = Uint8Array.from([0, 80, 10, 0, 0, 1, 0, 0]);
    const address = { family: "unspecified", number: 0, bytes } as const;
    expect(policy.decide({ ...sneaky, address, ...{ addresses: [address] } })?.rule).toBe("r1");
  });

  test.each([
    ["300.1.1.1", "is not an address: IPv4 is four decimal numbers"],
    ["127.1", "is not an address: IPv4 is four decimal numbers"],
    ["10.0.0.1/8", 'has bits set after the first 8: is "10.0.0.0/8" meant'],
    ["10.0.0.0/33", "a number of bits from 0 to 32"],
    ["10.0.0.1:99999", "is not a port"],
    ["10.0.0.1:90-80", "is not a port"],
    ['"*.example.org"', "names cannot have wildcards"],
    ["no-such.example", "cannot look up the host no-such.example: ENOTFOUND"],
    ["empty.example", "it has no address"],
    ["0.0.0.0", "as a destination is this machine: write loopback"],
    ['"unix:80"', "would match nothing"],
    ['"netlink:80"', "has no ports"],
    ['"a b"', "is not an address: write 10.0.0.1"],
  ])("%s is refused", async (pattern, message) =>
    expect(await errorOf(`name: x\nrules:\n  - { id: a, deny: connect, address: ${pattern} }`)).toContain(
      message,
    ),
  );

  test("of a host is looked up once, when the policy is loaded", async () => {
    let asked = 0;
    const lookUp = async () => {
      asked++;
      return ["1.2.3.4"];
    };
    const policy = await load(
      "name: x\nrules:\n  - { id: a, deny: connect, address: [h.example, 'h.example:80'] }",
      { lookUp },
    );
    for (let i = 0; i < 5; i++) expect(ruleOf(policy, connect("1.2.3.4:80"))).toBe("a");
    expect(asked).toBe(1);
  });
});
