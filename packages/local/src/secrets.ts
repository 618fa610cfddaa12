import { randomBytes } from "node:crypto";
import { join } from "node:path";
import * as v from "valibot";
import { makeWhole, readWhole } from "./whole-file.ts";

const Secrets = v.object({ key_pepper: v.string(), link_secret: v.string() });
export type Secrets = v.InferOutput<typeof Secrets>;

/** Made on the first start and kept beside the data they protect: without them no stored key fits. */
export const secretsIn = (directory: string): Secrets => {
  const file = join(directory, "secrets.json");
  const kept = readWhole(file, Secrets);
  if (kept) return kept;
  makeWhole(file, { key_pepper: newSecret(), link_secret: newSecret() });
  return secretsIn(directory);
};

const newSecret = () => randomBytes(32).toString("base64url");
