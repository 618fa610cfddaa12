import { randomBytes, randomUUID } from "node:crypto";
import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";

const Secrets = v.object({ key_pepper: v.string(), link_secret: v.string() });
export type Secrets = v.InferOutput<typeof Secrets>;

/** Made on the first start and kept beside the data they protect: without them no stored key fits. */
export const secretsIn = (directory: string): Secrets => {
  const file = join(directory, "secrets.json");
  if (!existsSync(file)) makeSecrets(file);
  return v.parse(Secrets, JSON.parse(readFileSync(file, "utf8")));
};

/** By a link, which never replaces: of a server and a command that start together, one makes them. */
const makeSecrets = (file: string): void => {
  const draft = `${file}.${randomUUID()}`;
  const secrets: Secrets = { key_pepper: newSecret(), link_secret: newSecret() };
  writeFileSync(draft, JSON.stringify(secrets), { mode: 0o600 });
  try {
    linkSync(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    rmSync(draft);
  }
};

const newSecret = () => randomBytes(32).toString("base64url");
