import { type Client, createClient } from "@mailproof/client/client";
import * as v from "valibot";
import { NotEmpty, ServiceUrl } from "../environment.ts";
import { PROGRAM, START } from "../installation.ts";
import { type CommandInput, describeOption, Flag, UsageError } from "./define-command.ts";
import {
  DEFAULT_PROFILE,
  findProfile,
  listProfileNames,
  type Profile,
  ProfileName,
} from "./profiles.ts";

export const SERVICE = {
  api: describeOption(v.optional(ServiceUrl), "URL of the service (or MAILPROOF_API)", {
    value: "URL",
  }),
  key: describeOption(v.optional(NotEmpty), "API key (or MAILPROOF_KEY)", { value: "KEY" }),
  profile: describeOption(
    v.optional(ProfileName),
    `uses the URL and the key that "mailproof login" stored under this name (or MAILPROOF_PROFILE)`,
    { value: "NAME" },
  ),
};

export const LOCAL = {
  local: describeOption(Flag, "works in this process and costs nothing, whatever service is set"),
};

export const QUIET = {
  quiet: describeOption(Flag, "prints only results and errors", { short: "q" }),
};

export type Service = { readonly client: Client; readonly url: string; readonly key: string };

type ServiceOptions = {
  readonly environment: CommandInput["environment"];
  readonly options: {
    readonly api?: string | undefined;
    readonly key?: string | undefined;
    readonly profile?: string | undefined;
    readonly local?: boolean;
  };
};

/**
 * Finds the service: by an option, then by a setting, then by a login. Null when none of these names one. A stored key goes only to the
 * service that it was stored for.
 */
export const findService = (input: ServiceOptions): Service | null => {
  const { environment, options } = input;
  if (options.local) return null;
  const { url, chosen, stored } = findServiceUrl(input);
  if (url === undefined && options.key !== undefined)
    throw new UsageError("--key needs the URL of a service: add --api URL, or set MAILPROOF_API.");
  if (url === undefined) return null;
  const keyOf = (profile: Profile | undefined) => (profile?.api === url ? profile.key : undefined);
  const key = options.key ?? keyOf(chosen) ?? environment.MAILPROOF_KEY ?? keyOf(stored);
  if (key === undefined)
    throw new UsageError(
      `Missing API key: add --key KEY, set MAILPROOF_KEY, or run "${PROGRAM} login --api ${url}".`,
    );
  return { client: createServiceClient(url, key), url, key };
};

export const findServiceUrl = ({ environment, options }: ServiceOptions) => {
  const chosen = options.profile === undefined ? undefined : requireProfile(options.profile);
  const stored = chosen ?? findStoredProfile(environment.MAILPROOF_PROFILE);
  const url = options.api ?? chosen?.api ?? environment.MAILPROOF_API ?? stored?.api;
  return { url, chosen, stored };
};

const findStoredProfile = (name: string | undefined): Profile | undefined =>
  name === undefined ? findProfile(DEFAULT_PROFILE) : requireProfile(name);

const requireProfile = (name: string): Profile => {
  const profile = findProfile(name);
  if (profile) return profile;
  const names = listProfileNames();
  const others = names.length === 0 ? "There are none yet." : `There are: ${names.join(", ")}.`;
  throw new UsageError(
    `No profile ${name}. ${others} "${PROGRAM} login --profile ${name} --api URL" stores it.`,
  );
};

export const createServiceClient = (baseUrl: string, key: string): Client => {
  try {
    return createClient({ baseUrl, key });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    // The client's message names its own options, so it is translated to the command's.
    throw new UsageError(
      message
        .replace(/^baseUrl/, "The URL of the service (--api or MAILPROOF_API)")
        .replace(/^key/, "The API key (--key or MAILPROOF_KEY)"),
    );
  }
};

export const requireService = (input: ServiceOptions, otherwise?: string): Service => {
  const service = findService(input);
  if (service) return service;
  const how = `Run "${PROGRAM} login --api URL", or set MAILPROOF_API and MAILPROOF_KEY (${START} prints both)`;
  throw new UsageError(`${how}${otherwise ? `, or check locally with "${otherwise}"` : ""}.`);
};

/** Ctrl-C aborts calls, so that their money sentence can still be printed. A second Ctrl-C exits at once. */
export const watchInterrupt = (): { readonly signal: AbortSignal; readonly end: () => void } => {
  const interrupt = new AbortController();
  const stop = () => interrupt.abort();
  process.once("SIGINT", stop);
  return { signal: interrupt.signal, end: () => process.off("SIGINT", stop) };
};
