import * as z from "zod";

const size = z.string().regex(/^[1-9]\d*[kmg]?$/i, { error: "is a number of bytes such as 512m or 2g" });
/** It goes into a command line: nothing that could be read as an option, nothing that a shell would see. */
const plain = (what: string) => z.string().regex(/^[\w.%:[\]][\w.%:[\]@/+-]*$/, { error: `is not ${what}` });
const path = z.string().regex(/^\/[^"\n]*$/, { error: "is not an absolute path" });

/** `backend:` in hermes.yaml: where commands run. The user's file alone may say it. */
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
        .describe("auto: with an image podman, else docker; with a rootfs crun, else runc."),
      image: plain("an image's name")
        .optional()
        .describe("An image that the engine has. It is never pulled."),
      rootfs: path.optional().describe("A folder to be the container's root: for crun and runc."),
      network: z
        .enum(["bridge", "none"])
        .optional()
        .describe("Default: bridge. crun and runc have only none. Commands without network get none."),
      memory: size.default("512m"),
      pids: z.int().positive().default(256),
      cpu_shares: z.int().min(2).default(512),
      read_only: z.boolean().default(true).describe("Of the container's own files; /tmp is its own memory."),
    })
    .prefault({}),
  ssh: z
    .strictObject({
      host: plain("a host's name").optional(),
      user: plain("a user's name").optional(),
      port: z.int().min(1).max(65535).optional(),
      identity: path.optional().describe("The private key. Default: those that ssh finds in ~/.ssh."),
      known_hosts: path.optional().describe("Keys of hosts. Default: ~/.ssh/known_hosts."),
      workspace: path.optional().describe("Where the workspace lies over there. Default: the same path."),
      hermes: z
        .string()
        .regex(/^[\w./~+-]+$/, { error: "is a path without spaces" })
        .default("hermes")
        .describe("The command over there."),
    })
    .prefault({}),
});
export type BackendSection = z.infer<typeof backendSection>;
