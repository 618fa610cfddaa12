import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline/promises";
import { text } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import { promisify } from "node:util";
import type { Environment } from "../settings.ts";

// A deployment uses AWS's command line, SST's, and a person who reads and answers.

export type Programs = {
  /** Runs `aws …` and reads its output as JSON. Fails with the words of AWS. No name in the command contains a space. */
  readonly aws: (command: string) => Promise<any>;
  /** Runs a program and shows its output to the operator. Throws if the program fails. The failure names the arguments, so secrets are in `more`. */
  readonly run: (program: string, args: readonly string[], more?: Environment) => Promise<void>;
  /** Runs a program without showing it, and returns its output. */
  readonly read: (program: string, args: readonly string[], input?: string) => Promise<string>;
  readonly sleep: (ms: number) => Promise<unknown>;
  readonly say: (line: string) => void;
  /** A yes-or-no question to a person. */
  readonly agree: (question: string) => Promise<boolean>;
};

type ProgramError = {
  readonly stderr?: string;
  readonly message: string;
  readonly code?: string | number;
};

export const UNREACHABLE = "AWS cannot be reached: the network, a proxy or the region is wrong.";
const SIGNED_OUT = "You are not signed in, or no longer.";

/** Translates messages of AWS and SST. Their XML and addresses do not help; their codes can be looked up. */
const FAULTS: readonly (readonly [words: RegExp, says: (found: RegExpExecArray) => string])[] = [
  [
    /could not connect|connect timeout|timed out|no such host|dial tcp|\bENOTFOUND\b|name resolution|unreachable/i,
    () => UNREACHABLE,
  ],
  [
    /unable to locate credentials|no valid credential|ExpiredToken|token.{0,40}expired|InvalidClientTokenId|UnrecognizedClient|AuthFailure|SignatureDoesNotMatch|config profile/i,
    () => SIGNED_OUT,
  ],
  [
    /not authorized to perform:? ([\w:*]+)/i,
    ([, action]) => `You may not do it: the right ${action} is missing.`,
  ],
  [
    /(?:AccessDenied|UnauthorizedOperation|Forbidden)[^]*?(?:calling the (\w+)|$)/,
    ([, operation]) => `You may not do it${operation ? `: ${operation} was refused` : ""}.`,
  ],
];

/** Returns one sentence about the failure. */
export const toWords = (error: unknown): string => {
  const { stderr = "", message, code } = error as ProgramError;
  if (code === "ENOENT") return `${message.split(" ")[1]} is not installed.`;
  const text = (stderr || message).trim();
  for (const [words, says] of FAULTS) {
    const found = words.exec(text);
    if (found) return says(found);
  }
  const lines = text.split("\n");
  const line = (lines.find((one) => one.includes("rror")) ?? lines.at(-1) ?? "").trim();
  return line.replace(/<[^]*/, "").trim() || "It failed without words.";
};

export const openPrograms = (environment: Environment): Programs => {
  // SST fetches Bun only to install packages, which npm does, too (scripts/prepare-infra.mjs).
  const env = { ...environment, SST_TELEMETRY_DISABLED: "1", SST_NO_BUN: "1", AWS_PAGER: "" };
  const read: Programs["read"] = async (program, args, input = "") => {
    const child = execFile(program, args, { env, maxBuffer: 2 ** 26 });
    const ended = once(child, "close");
    child.stdin?.end(input);
    const [out, err] = await Promise.all([text(child.stdout!), text(child.stderr!)]);
    const [code] = await ended;
    if (code !== 0) throw new Error(toWords({ stderr: err, message: `${program} failed` }));
    return out;
  };
  return {
    read,
    aws: async (command) => {
      try {
        const { stdout } = await promisify(execFile)("aws", `${command} --output json`.split(" "), {
          env,
          maxBuffer: 2 ** 26,
        });
        return stdout.trim() === "" ? {} : JSON.parse(stdout);
      } catch (error) {
        throw new Error(toWords(error), { cause: error });
      }
    },
    run: async (program, args, more) => {
      const child = spawn(program, args, { env: { ...env, ...more }, stdio: "inherit" });
      const [code] = await once(child, "close");
      if (code !== 0) throw new Error(`${program} ${args.join(" ")} ended with ${code}.`);
    },
    sleep: setTimeout,
    say: (line) => void process.stdout.write(`${line}\n`),
    agree: async (question) => {
      const terminal = createInterface({ input: process.stdin, output: process.stdout });
      try {
        return /^y(?:es)?$/i.test(await terminal.question(`${question} [y/N] `));
      } finally {
        terminal.close();
      }
    },
  };
};
