import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import * as v from "valibot";
import { ServiceUrl } from "../environment.ts";
import { PROGRAM } from "../installation.ts";
import { type CommandInput, defineCommand, describeOption, UsageError } from "./define-command.ts";
import { EXIT_CODES } from "./exit-codes.ts";
import { writeNote } from "./notes.ts";
import {
  DEFAULT_PROFILE,
  findProfile,
  ProfileName,
  removeProfile,
  saveProfile,
} from "./profiles.ts";
import { createServiceClient, QUIET } from "./service.ts";

const Name = v.optional(ProfileName);

/** Stores a key once it has opened the service. A key on a command line would be in the shell's history. */
export const loginCommand = defineCommand({
  usage: "--api URL [--profile NAME]",
  options: v.strictObject({
    api: describeOption(
      v.optional(ServiceUrl),
      "URL of the service (or MAILPROOF_API, or that of the profile so far)",
      { value: "URL" },
    ),
    profile: describeOption(Name, `name to store it under (default: ${DEFAULT_PROFILE})`, {
      value: "NAME",
    }),
    ...QUIET,
  }),
  examples: [
    "login --api https://mail.example.com",
    "login --api https://mail.example.com --profile client < key.txt",
  ],
  async run({ environment, options }) {
    const profile = getProfileName(options.profile, environment);
    const api = options.api ?? environment.MAILPROOF_API ?? findProfile(profile)?.api;
    if (api === undefined)
      throw new UsageError("Missing URL of the service: add --api URL, or set MAILPROOF_API.");
    const key = await readKey();
    const account = await createServiceClient(api, key).getAccount();
    const file = saveProfile(profile, { api, key });
    writeNote(
      `${api} accepts the ${account.key.mode} key of ${account.name}. It is stored in ${file}, as the profile ${profile}.\n`,
    );
    return EXIT_CODES.done.code;
  },
});

export const logoutCommand = defineCommand({
  options: v.strictObject({
    profile: describeOption(Name, `name that it is stored under (default: ${DEFAULT_PROFILE})`, {
      value: "NAME",
    }),
    ...QUIET,
  }),
  examples: ["logout", "logout --profile client"],
  async run({ environment, options }) {
    const profile = getProfileName(options.profile, environment);
    if (!removeProfile(profile))
      throw new UsageError(`No profile ${profile}. "${PROGRAM} login --api URL" stores one.`);
    writeNote(`The profile ${profile} is removed.\n`);
    return EXIT_CODES.done.code;
  },
});

const getProfileName = (
  option: string | undefined,
  { MAILPROOF_PROFILE }: CommandInput["environment"],
): string => option ?? MAILPROOF_PROFILE ?? DEFAULT_PROFILE;

const readKey = async (): Promise<string> => {
  const isTerminal = process.stdin.isTTY;
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: nowhere, terminal: isTerminal });
  if (isTerminal) process.stderr.write("API key: ");
  let key = "";
  try {
    for await (const line of lines) {
      key = line.trim();
      break;
    }
  } finally {
    lines.close();
    if (isTerminal) process.stderr.write("\n");
  }
  if (key === "")
    throw new UsageError(
      `Missing API key: type it, or send it to standard input: ${PROGRAM} login --api URL < key.txt`,
    );
  return key;
};
