import { type Client, createClient } from "@mailproof/client/client";
import * as v from "valibot";
import { ServiceUrl } from "../environment.ts";
import { START } from "../installation.ts";
import { type CommandInput, UsageError } from "./define-command.ts";

// A service that verifies instead of this process.

/** The options of every command that may ask one. */
export const SERVICE = {
  api: v.optional(ServiceUrl),
  key: v.optional(v.pipe(v.string(), v.minLength(1, "must not be empty"))),
};

export const SERVICE_USAGE = "[--api URL --key K]";

export type Service = { readonly client: Client; readonly url: string; readonly key: string };

type ServiceOptions = {
  readonly environment: CommandInput["environment"];
  readonly options: { readonly api?: string | undefined; readonly key?: string | undefined };
};

/** The service that was named, by an option or a setting; null when none was. */
export const findService = ({ environment, options }: ServiceOptions): Service | null => {
  const url = options.api ?? environment.MAILPROOF_API;
  const key = options.key ?? environment.MAILPROOF_KEY;
  if (url === undefined && options.key !== undefined)
    throw new UsageError("--key needs the URL of a service: add --api URL, or set MAILPROOF_API.");
  if (url === undefined) return null;
  if (key === undefined)
    throw new UsageError("Missing API key: add --key KEY, or set MAILPROOF_KEY.");
  return { client: createServiceClient(url, key), url, key };
};

const createServiceClient = (baseUrl: string, key: string): Client => {
  try {
    return createClient({ baseUrl, key });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
};

/** `otherwise`: the command that does the same without a service. */
export const requireService = (input: ServiceOptions, otherwise?: string): Service => {
  const service = findService(input);
  if (service) return service;
  const how = `Set MAILPROOF_API and MAILPROOF_KEY (${START} prints both)`;
  throw new UsageError(`${how}${otherwise ? `, or check locally with "${otherwise}"` : ""}.`);
};

/** Ctrl-C aborts calls, so that their money sentence can still be printed. A second Ctrl-C exits at once. */
export const watchInterrupt = (): { readonly signal: AbortSignal; readonly end: () => void } => {
  const interrupt = new AbortController();
  const stop = () => interrupt.abort();
  process.once("SIGINT", stop);
  return { signal: interrupt.signal, end: () => process.off("SIGINT", stop) };
};
