import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe } from "vitest";
import { crowdSuite } from "./crowd.js";
import { storeSuite } from "./suite.js";
import { unique } from "./unique.js";

describe("SQLite", () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "hermes-store-"));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const place = () => ({ fresh: async () => join(folder, `${unique()}.db`) });
  storeSuite(place);
  crowdSuite(place, { kills: 60 });
});
