import * as z from "zod";

/** `mcp:` in hermes.yaml. A project's file may only make it stricter. */
export const mcpSection = z.strictObject({
  osv: z
    .strictObject({
      /**
       * `online` queries the API when the guard may use the network; `offline` uses the database and the cache; `off`
       * checks nothing.
       */
      mode: z.enum(["online", "offline", "off"]).default("online"),
      url: z.url().default("https://api.osv.dev"),
      /** A file of advisories in OSV's format (JSON, or JSON lines), or a folder of such files. */
      database: z.string().optional(),
      cache_hours: z
        .number()
        .min(0)
        .max(24 * 30)
        .default(24),
      /** Seconds. */
      timeout: z.number().positive().max(60).default(10),
      /** When no source answers: true allows, false refuses. */
      fail_open: z.boolean().default(false),
    })
    .prefault({}),
  sampling: z
    .strictObject({
      /** Models that a server may ask for; an empty list means none. */
      models: z.array(z.string()).default([]),
      /** One of them, for requests that name no model; without it they are refused. */
      default_model: z.string().optional(),
      max_tokens_cap: z.number().int().positive().default(4096),
      max_rpm: z.number().int().positive().default(10),
      max_tool_rounds: z.number().int().min(0).default(5),
    })
    .prefault({}),
});
export type McpSection = z.infer<typeof mcpSection>;
