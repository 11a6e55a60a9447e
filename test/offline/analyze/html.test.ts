import { closeSync, mkdirSync, openSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { unreadable } from "../../people/console/readable.js";
import { root } from "../../support/root.js";
import { PYTHON, Scene } from "./scene.js";

/** Rewrites the pictures in docs/: HERMES_SCREENSHOTS=1 npm test -- test/offline/analyze/html.test.ts */
const SCREENSHOTS = process.env.HERMES_SCREENSHOTS === "1";

const HOSTILE = '<img src=x onerror="document.title=1"><script>document.title=2</script>';
const SCRIPT = `import json, os, socket, subprocess, sys, threading
def ask(path):
    s = socket.create_connection(("127.0.0.1", PORT))
    s.sendall(f"GET {path} HTTP/1.1\\r\\nHost: updates.example.org\\r\\n\\r\\n".encode()); s.recv(65536); s.close()
os.makedirs("out", exist_ok=True)
for i in range(12): open(f"out/part{i}.json", "w").write(json.dumps(list(range(200 * (i + 1)))))
ask("/version")
open(".ssh/id_rsa").read()
try: open("/etc/shadow").read()
except OSError: pass
children = [subprocess.Popen(["sh", "-c", "cat out/*.json | sort | uniq -c | wc -l; ls -R /usr/share/doc/bash"], stdout=subprocess.DEVNULL) for _ in range(3)]
t = threading.Thread(target=lambda: [ask(f"/beat{i}") for i in range(5)]); t.start()
open("out/tool", "wb").write(open("/bin/true", "rb").read()); os.chmod("out/tool", 0o755); subprocess.run(["out/tool", sys.argv[1]])
for c in children: c.wait()
t.join()
for i in range(4): os.unlink(f"out/part{i}.json")
open(sys.argv[1].replace("/", "_"), "w").write("x")
s = socket.socket(); s.connect_ex(("127.0.0.1", 9)); s.close()
`;

let scene: Scene;
let browser: Browser;
beforeAll(async () => {
  scene = await Scene.make();
  browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
});
afterAll(async () => {
  await browser?.close();
  scene.close();
});

interface Opened {
  readonly page: Page;
  readonly requests: string[];
  readonly errors: string[];
}

async function open(file: string, colorScheme: "light" | "dark" = "light", width = 1400): Promise<Opened> {
  const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme });
  const requests: string[] = [];
  const errors: string[] = [];
  page.setDefaultTimeout(100_000);
  page.on("request", (request) => requests.push(request.url()));
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  await page.goto(`file://${file}`);
  await page.waitForSelector("#events .scroller .line");
  return { page, requests, errors };
}

describe("hermes analyze --html", () => {
  let file: string;
  beforeAll(async () => {
    const script = scene.file("app.py", SCRIPT.replaceAll("PORT", String(scene.port)));
    const policy = scene.file(
      "p.yaml",
      "name: demo\nrules: [{ id: accounts, deny: read, path: /etc/shadow, reason: Passwords. }]\n",
    );
    await scene.hermes(["run", "-q", "-p", policy, "-t", scene.trace, "--", PYTHON, script, HOSTILE]);
    file = join(scene.folder, "report.html");
    const { status, stderr } = await scene.hermes(["analyze", "--html", file, scene.trace]);
    expect(status, stderr).toBe(0);
  });

  it("is one file that asks for nothing else, and has no errors", async () => {
    const { page, requests, errors } = await open(file);
    expect(requests).toEqual([`file://${file}`]);
    expect(errors).toEqual([]);
    await page.close();
  });

  it.each([
    ["light", 1400],
    ["dark", 1400],
    ["light", 375],
    ["dark", 375],
  ] as const)(
    "can be read %s, %i pixels wide: contrast, one heading, no wider than the screen",
    async (theme, width) => {
      const { page } = await open(file, theme, width);
      for (const finding of await page.locator("details").all())
        await finding.evaluate("(one) => { one.open = true }");
      expect(await unreadable(page)).toEqual([]);
      await page.close();
    },
  );

  it("shows what was found, every part of it", async () => {
    const { page } = await open(file);
    const text = await page.locator("main").innerText();
    for (const part of ["Worth a look", "Timeline", "Files", "Network", "Processes", "Latency", "Events"])
      expect(text).toContain(part);
    expect(text).toContain("had been read");
    expect(await page.locator(".tile.bad").count()).toBe(2);
    expect(await page.locator("#network .peer").allTextContents()).toEqual(
      expect.arrayContaining([expect.stringContaining(`127.0.0.1:${scene.port}`)]),
    );
    expect(await page.locator("#processes .node").count()).toBeGreaterThan(10);
    const drawn = await page
      .locator("#timeline canvas")
      .evaluate(
        (canvas: {
          width: number;
          height: number;
          getContext(kind: string): { getImageData(...a: number[]): { data: Uint8Array } };
        }) => {
          const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
          const colours = new Set<number>();
          for (let i = 0; i < data.length; i += 4)
            if (data[i + 3]! > 0) colours.add((data[i]! << 16) | (data[i + 1]! << 8) | data[i + 2]!);
          return colours.size;
        },
      );
    expect(drawn).toBeGreaterThan(5);
    await page.close();
  });

  it("never takes what a program was named or told for markup", async () => {
    const { page } = await open(file);
    expect(await page.locator("img").count()).toBe(0);
    expect(await page.locator("script").count()).toBe(2);
    expect(await page.title()).toContain("<img src=x");
    await page.fill("#events input", "onerror");
    await expectRows(page, /onerror/);
    expect(await page.locator("#events .line").filter({ hasText: "<img src=x" }).count()).toBeGreaterThan(0);
    await page.close();
  });

  it("finds events by words, fields and exclusions", async () => {
    const { page } = await open(file);
    const rows = async (search: string) => {
      await page.fill("#events input", search);
      await page.evaluate(
        "new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))",
      );
      return page.locator("#events .scroller .line").allInnerTexts();
    };
    const denied = await rows("action:deny");
    expect(denied).toHaveLength(1);
    expect(denied[0]).toContain("/etc/shadow");
    for (const row of await rows("openat errno:enoent")) expect(row).toMatch(/openat[\s\S]*ENOENT/);
    for (const row of await rows("part -openat")) expect(row).not.toContain("openat");
    expect(await rows("nothing has this in it")).toEqual([]);
    await page.close();
  });

  it("zooms the timeline, and the events follow; a process can be looked at alone", async () => {
    const { page } = await open(file);
    const shown = async () =>
      Number((await page.locator("#events output").innerText()).split(" ")[0]!.replaceAll(",", ""));
    const all = await shown();
    const canvas = page.locator("#timeline canvas");
    await canvas.focus();
    await page.keyboard.press("+");
    await expect.poll(shown).toBeLessThan(all);
    await page.getByText("Whole run").click();
    await expect.poll(shown).toBe(all);
    await canvas.hover({ position: { x: 700, y: 40 } });
    expect(await page.locator(".tip").innerText()).toMatch(/python3/);
    await page.mouse.wheel(0, -600);
    await expect.poll(shown).toBeLessThan(all);
    await page.getByText("Whole run").click();
    await page.locator("#processes .node").nth(2).click();
    await expect.poll(shown).toBeLessThan(all / 2);
    await page.locator("#events .chip").click();
    await expect.poll(shown).toBe(all);
    await page.close();
  });

  it("is dark for those who like it dark, and can be switched", async () => {
    const { page } = await open(file, "dark");
    const background = () => page.evaluate("getComputedStyle(document.body).backgroundColor");
    const dark = await background();
    await page.click(".theme");
    expect(await background()).toBe(dark);
    await page.click(".theme");
    expect(await background()).not.toBe(dark);
    await page.close();
  });

  const pictures = async () => {
    const folder = join(root, "docs/images");
    mkdirSync(folder, { recursive: true });
    for (const scheme of ["light", "dark"] as const) {
      const { page } = await open(file, scheme);
      await page.evaluate("document.querySelector('h1').textContent = 'python3 app.py'");
      await page.locator("#findings summary").first().click();
      await page.screenshot({ path: join(folder, `report-${scheme}.png`) });
      if (scheme === "light") {
        await page.setViewportSize({ width: 1400, height: 2400 });
        await page.locator(".pair").screenshot({ path: join(folder, "report-files-network.png") });
      }
      await page.close();
    }
  };
  if (SCREENSHOTS) it("has pictures in the documents", pictures);
});

async function expectRows(page: Page, pattern: RegExp): Promise<void> {
  await expect
    .poll(async () =>
      (await page.locator("#events .scroller .line").allInnerTexts()).every((text) => pattern.test(text)),
    )
    .toBe(true);
}

describe("a report of 500,000 events", () => {
  it("keeps few lines in the page, and reaches all", async () => {
    const trace = join(scene.folder, "many.jsonl");
    const fd = openSync(trace, "w");
    const count = 500_000;
    for (let i = 0; i < count; ) {
      let block = "";
      for (const end = i + 5_000; i < end; i++)
        block += `{"kind":"syscall","time":${1e9 + i / 1000},"pid":${7 + (i % 20)},"tid":${7 + (i % 20)},"name":"${i % 3 ? "read" : "openat"}","args":{"fd":3},"path":"/data/${i % 5000}/file","action":"allow","result":1,"elapsed":0.00001}\n`;
      writeSync(fd, block);
    }
    closeSync(fd);
    const file = join(scene.folder, "many.html");
    await scene.hermes(["analyze", "--html", file, trace]);
    const { page, errors } = await open(file);
    expect(await page.locator("#events output").innerText()).toBe("500,000 of 500,000 events");
    expect(await page.locator("#events .scroller .line").count()).toBeLessThan(100);
    await page.locator("#events .scroller").evaluate((element) => {
      element.scrollTop = element.scrollHeight;
    });
    await expect
      .poll(() => page.locator("#events .scroller .line").last().innerText())
      .toContain("499.999000");
    await page.fill("#events input", "/data/4321/file");
    await expect.poll(() => page.locator("#events output").innerText()).toBe("100 of 500,000 events");
    expect(errors).toEqual([]);
    await page.close();
  });

  it("leaves out ordinary calls of longer traces, and says so", async () => {
    const { Events } = await import("../../../src/offline/analyze/events.js");
    const events = new Events(1000);
    const process = { id: 0 } as never;
    for (let i = 0; i < 50_000; i++) {
      const name = i % 1000 === 0 ? "execve" : "read";
      events.take(
        { kind: "syscall", time: i, pid: 1, tid: 1, name, args: {}, action: i === 77 ? "deny" : "allow" },
        process,
      );
    }
    const { total, count, calls, bytes } = events.table();
    expect(total).toBe(50_000);
    expect(count).toBeLessThanOrEqual(1000);
    expect(bytes.length).toBe(count * (8 + 8 + 4 + 4 + 4 + 2 + 1 + 1));
    const call = new Uint16Array(
      bytes.buffer.slice(bytes.byteOffset + count * 28, bytes.byteOffset + count * 30),
    );
    const execs = [...call].filter((n) => calls[n]![0] === "execve").length;
    expect(execs).toBe(50);
    const time = new Float64Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + count * 8));
    expect([...time]).toContain(77);
    expect(Math.max(...time)).toBeGreaterThan(45_000);
  });
});

it("says when a report cannot be written", async () => {
  writeFileSync(scene.trace, "");
  const { status, stderr } = await scene.hermes(["analyze", "--html", "/proc/no/such", scene.trace]);
  expect([status, stderr]).toEqual([125, expect.stringContaining("cannot be written")]);
});
