// hermes.yaml is described by a schema that takes milliseconds to make and to apply. Where there is no file, the result
// is always the same: it is computed here.
import * as esbuild from "esbuild";

const SOURCE = "src/intent/guard/config/default.ts";

async function computed() {
  const { outputFiles } = await esbuild.build({
    entryPoints: [SOURCE],
    bundle: true,
    write: false,
    format: "esm",
    platform: "node",
    target: "node20",
    logLevel: "warning",
  });
  const { defaultConfig } = await import(
    `data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString("base64")}`
  );
  return JSON.stringify(defaultConfig());
}

/** For esbuild. */
export const defaultConfig = {
  name: "default-config",
  setup(build) {
    build.onLoad({ filter: /\/src\/intent\/guard\/config\/default\.ts$/ }, async () => ({
      contents: `export const defaultConfig = () => (${await computed()});`,
    }));
  },
};
