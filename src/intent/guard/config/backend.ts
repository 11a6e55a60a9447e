import * as z from "zod";

const size = z.string().regex(/^[1-9]\d*[kmg]?$/i, { error: "is a number of bytes such as 512m or 2g" });
/** Used in a command line: it must not look like an option, and must have no character that a shell interprets. */
const plain = (what: string) => z.string().regex(/^[\w.%:[\]][\w.%:[\]@/+-]*$/, { error: `is not ${what}` });
const path = z.string().regex(/^\/[^"\n]*$/, { error: "is not an absolute path" });

/** `backend:` in hermes.yaml: where commands run. Only the user's file may set it. */
export const backendSection = z.strictObject({
  kind: z
    .enum(["local", "oci", "ssh"])
    .default("local")
    .describe("local: on this machine. oci: in a container. ssh: on another machine that has HERMES."),
  oci: z
    .strictObject({
      engine: z
        .enum(["auto", "podman", "docker", "crun", "runc"])
        .default("auto")
        .describe("auto: podman, else docker, for an image; crun, else runc, for a rootfs."),
      image: plain("an image's name")
        .optional()
        .describe("An image that the engine already has. HERMES never pulls one."),
      rootfs: path.optional().describe("A folder that becomes the container's root: for crun and runc."),
      network: z
        .enum(["bridge", "none"])
        .optional()
        .describe("Default: bridge. crun and runc support only none. Commands without network get none."),
      memory: size.default("512m"),
      pids: z.int().positive().default(256),
      cpu_shares: z.int().min(2).default(512),
      read_only: z.boolean().default(true).describe("Limit on the container's own files; /tmp is in memory."),
    })
    .prefault({}),
  ssh: z
    .strictObject({
      host: plain("a host's name").optional(),
      user: plain("a user's name").optional(),
      port: z.int().min(1).max(65535).optional(),
      identity: path.optional().describe("The private key. Default: the keys that ssh finds in ~/.ssh."),
      known_hosts: path.optional().describe("The known_hosts file. Default: ~/.ssh/known_hosts."),
      workspace: path.optional().describe("The workspace on the other machine. Default: the same path."),
      hermes: z
        .string()
        .regex(/^[\w./~+-]+$/, { error: "is a path without spaces" })
        .default("hermes")
        .describe("The hermes command on the other machine."),
    })
    .prefault({}),
});
export type BackendSection = z.infer<typeof backendSection>;
