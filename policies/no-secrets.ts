import { type CallEvent, definePolicy, deny } from "hermes-runtime";

/** Files that hold keys, tokens and passwords, below any home folder. */
const SECRETS = [
  /\/\.ssh\/(?!known_hosts$)/,
  /\/\.aws\//,
  /\/\.gnupg\//,
  /\/\.netrc$/,
  /\/\.docker\/config\.json$/,
  /\/\.env(\.[\w-]+)?$/,
  /^\/etc\/shadow$/,
];

function guard(e: CallEvent) {
  for (const { path } of e.paths)
    if (SECRETS.some((secret) => secret.test(path)))
      return { ...deny(`${path} holds secrets.`, "EACCES"), rule: "secrets" };
}

export default definePolicy({ name: "no-secrets", actions: ["deny"], on: { "%file": guard } });
