import { randomBytes } from "node:crypto";
import { join } from "node:path";
import * as v from "valibot";
import { createFileAtomic, readJsonFile } from "./atomic-file.ts";

const Secrets = v.object({ key_pepper: v.string(), link_secret: v.string() });
export type Secrets = v.InferOutput<typeof Secrets>;

/** Created on the first start and stored beside the data that they protect. Without them no stored key is valid. */
export const loadSecrets = (directory: string): Secrets => {
  const file = join(directory, "secrets.json");
  const stored = readJsonFile(file, Secrets);
  if (stored) return stored;
  createFileAtomic(file, { key_pepper: createSecret(), link_secret: createSecret() });
  return loadSecrets(directory);
};

const createSecret = () => randomBytes(32).toString("base64url");
