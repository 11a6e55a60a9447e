import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe } from "vitest";
import { storeSuite, unique } from "./suite.js";

describe("SQLite", () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "hermes-store-"));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  storeSuite(() => ({ fresh: async () => join(folder, `${unique()}.db`) }));
});
