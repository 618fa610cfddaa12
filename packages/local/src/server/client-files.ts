import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import {
  CLIENTS_PATH,
  createNoClientFailure,
  getClientFileType,
} from "@mailproof/api/http/client-files";
import type { HttpAnswer } from "@mailproof/api/http/respond";
import { isClone, readAsset } from "../installation.ts";

/** Beside the program, in a package and in the executable: each file in base64, by its path below CLIENTS_PATH. */
export const CLIENTS = "clients.json";

/** The same of a clone. */
export const CLIENTS_OF_CLONE = fileURLToPath(
  new URL(`../../../../.cache/${CLIENTS}`, import.meta.url),
);

/** Undefined: they were not built in this clone. */
const loadClients = (): string | undefined => {
  if (!isClone) return readAsset(CLIENTS);
  return existsSync(CLIENTS_OF_CLONE) ? readFileSync(CLIENTS_OF_CLONE, "utf8") : undefined;
};

type ClientRequest = { readonly method: string; readonly rawPath: string };

/** They are read when the first is asked for: most servers are never asked. */
export const createClientFiles = (load: () => string | undefined = loadClients) => {
  let files: Readonly<Record<string, string>> | undefined;
  const find = (path: string): Buffer => {
    files ??= JSON.parse(load() ?? "null") ?? undefined;
    const found = files && Object.hasOwn(files, path) ? files[path] : undefined;
    if (found === undefined) throw createNoClientFailure();
    return Buffer.from(found, "base64");
  };

  /** Undefined: the request is for something else. */
  return ({ method, rawPath }: ClientRequest): HttpAnswer<Uint8Array> | undefined => {
    const isRead = method === "GET" || method === "HEAD";
    if (!isRead || !rawPath.startsWith(CLIENTS_PATH) || rawPath === CLIENTS_PATH) return undefined;
    const body = find(rawPath.slice(CLIENTS_PATH.length));
    return {
      statusCode: 200,
      headers: {
        "content-type": getClientFileType(rawPath),
        // The next release of the server may have another one of the same name.
        "cache-control": "no-cache",
        "x-content-type-options": "nosniff",
      },
      body,
    };
  };
};
