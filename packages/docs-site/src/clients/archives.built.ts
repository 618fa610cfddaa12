import { packClients } from "./archives.ts";

/** Each file of a client in base64. A clone builds all of them at the first request; bundles contain them. */
export const ARCHIVES: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(await packClients()).map(([path, bytes]) => [path, bytes.toString("base64")]),
);
