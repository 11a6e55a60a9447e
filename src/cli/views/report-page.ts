import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HermesError } from "../../nouns/errors.js";
import { HOME } from "../../nouns/home.js";

const PATIENCE_MS = 5 * 60_000;
const TOLD = 2000;

/** Runs `hermes analyze --html` in a separate process, to keep its time and memory out of the console's. */
export async function reportPage(trace: string): Promise<Buffer> {
  const folder = mkdtempSync(join(tmpdir(), "hermes-report-"));
  try {
    const file = join(folder, "report.html");
    const words = [join(HOME, "dist/cli/main.cjs"), "analyze", "--html", file, trace];
    const child = spawn(process.execPath, words, {
      stdio: ["ignore", "ignore", "pipe"],
      timeout: PATIENCE_MS,
    });
    let told = "";
    child.stderr.setEncoding("utf8").on("data", (piece: string) => {
      told = (told + piece).slice(0, TOLD);
    });
    const [code] = await once(child, "close");
    if (code !== 0)
      throw new HermesError("EVENTS", {
        file: trace,
        message: told.replace(/^hermes: /, "").trim() || "the report could not be written",
      });
    return readFileSync(file);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
