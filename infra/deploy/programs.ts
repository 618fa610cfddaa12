import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline/promises";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import type { Environment } from "../settings.ts";

// What a deployment uses of its machine: AWS's own command line, SST's, and a person.

export type Programs = {
  /** What `aws …` prints, read as JSON. It fails with AWS's own words. No name in it has a space. */
  readonly aws: (command: string) => Promise<any>;
  /** Runs a program in the person's sight, and fails if it fails. The failure names the arguments, so secrets are in `more`. */
  readonly run: (program: string, args: readonly string[], more?: Environment) => Promise<void>;
  /** Runs a program out of sight, and returns what it prints. */
  readonly read: (program: string, args: readonly string[], input?: string) => Promise<string>;
  readonly say: (line: string) => void;
  /** A question to which a person says yes or no. */
  readonly agree: (question: string) => Promise<boolean>;
};

type ProgramError = {
  readonly stderr?: string;
  readonly message: string;
  readonly code?: string | number;
};

/** The words of AWS, without what stands around them: "An error occurred (AccessDenied) when calling …: User … is not". */
const toWords = (error: unknown): string => {
  const { stderr = "", message, code } = error as ProgramError;
  if (code === "ENOENT") return `${message.split(" ")[1]} is not installed.`;
  const lines = (stderr || message).trim().split("\n");
  return (lines.find((line) => line.includes("rror")) ?? lines.at(-1) ?? "").trim();
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
