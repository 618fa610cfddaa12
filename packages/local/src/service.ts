import { type Client, createClient } from "@mailproof/client/client";
import * as v from "valibot";
import { type Asked, Misuse } from "./command.ts";
import { ServiceUrl } from "./environment.ts";

// A service that is asked in the place of the engine in this process.

/** The options of every command that may ask one. */
export const SERVICE = {
  api: v.optional(ServiceUrl),
  key: v.optional(v.pipe(v.string(), v.minLength(1, "must not be empty"))),
};

export const SERVICE_USAGE = "[--api URL --key K]";

export type Service = { readonly client: Client; readonly url: string };

type Named = {
  readonly environment: Asked["environment"];
  readonly options: { readonly api?: string | undefined; readonly key?: string | undefined };
};

/** The service that was named, by an option or a setting; null when none was. */
export const serviceIn = ({ environment, options }: Named): Service | null => {
  const url = options.api ?? environment.MAILPROOF_API;
  const key = options.key ?? environment.MAILPROOF_KEY;
  if (url === undefined && options.key !== undefined)
    throw new Misuse("A key is for a service: name it with --api or MAILPROOF_API.");
  if (url === undefined) return null;
  if (key === undefined)
    throw new Misuse("A service wants a key: name it with --key or MAILPROOF_KEY.");
  return { client: createClient({ baseUrl: url, key }), url };
};

export const serviceNeeded = (named: Named, otherwise = ""): Service => {
  const service = serviceIn(named);
  if (service) return service;
  throw new Misuse(`This asks a service: name it with --api and --key.${otherwise}`);
};

/** Ctrl-C gives calls up, so that what they meant for the money can still be told. A second one ends at once. */
export const untilInterrupted = (): { readonly signal: AbortSignal; readonly end: () => void } => {
  const leaving = new AbortController();
  const stop = () => leaving.abort();
  process.once("SIGINT", stop);
  return { signal: leaving.signal, end: () => process.off("SIGINT", stop) };
};
