import { expect, it } from "vitest";
import { defaultConfig } from "../../../src/intent/guard/config/default.js";

it("the configuration without a file is data: the build writes it into the bundles as JSON", () => {
  const config = defaultConfig();
  expect(JSON.parse(JSON.stringify(config))).toStrictEqual(config);
});
