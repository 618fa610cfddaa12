import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Aws, AwsService, AwsTransport } from "@mailproof/functions/aws/requests";
import { createAwsTransport } from "@mailproof/functions/aws/transport";
import { findTools } from "../../scripts/tools.ts";

// DynamoDB, SQS and S3 as npm ships them. docs/design/aws.md says what they do not do, and what is
// done about it.

type Ports = { readonly dynamodb: string; readonly others: string };

/** The emulator of DynamoDB, one of the tools; npm leaves it out on anything but Linux on x64. */
export const DYNAMODB = join(findTools(), "../@dynoxide/linux-x64/dynoxide");

let started: Promise<Ports> | undefined;

/** One set of them for a process, however many files it tests; they end with it. */
export const startEmulators = (): Promise<Ports> => (started ??= start());

const start = async (): Promise<Ports> => {
  const script = new URL("./emulator-process.ts", import.meta.url).pathname;
  const child = spawn(process.execPath, [script, DYNAMODB], { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface(child.stdout);
  const [line] = (await Promise.race([
    once(lines, "line"),
    once(child, "exit").then(([code]) => {
      throw new Error(`the emulators ended with ${code}`);
    }),
  ])) as [string];
  lines.close();
  // They do not keep us here; and when we are gone their input ends, and they with it.
  child.unref();
  for (const pipe of [child.stdin, child.stdout]) (pipe as unknown as { unref(): void }).unref();
  return JSON.parse(line) as Ports;
};

const sockets = createAwsTransport();

type Emulated = Partial<Pick<Aws, "credentials" | "endpoints" | "random" | "sleep">> & {
  readonly now?: () => Date;
  /** What happens between us and them. */
  readonly between?: (next: AwsTransport) => AwsTransport;
};

export const REGION = "eu-central-1";
export const CREDENTIALS = {
  accessKeyId: "AKIDEXAMPLE",
  secretAccessKey: "the secret of these tests",
};

export const createEmulatedAws = async (how: Emulated = {}): Promise<Aws> => {
  const { dynamodb, others } = await startEmulators();
  const { now = () => new Date(), between = (next) => next } = how;
  const withClock: AwsTransport = (request, timeoutMs) => {
    const headers = { ...request.headers, "x-clock": String(now().getTime()) };
    return sockets({ ...request, headers }, timeoutMs);
  };
  const endpoints: Record<AwsService, string> = {
    dynamodb,
    sqs: others,
    s3: others,
    lambda: "http://127.0.0.1:1",
  };
  return {
    region: REGION,
    credentials: how.credentials ?? CREDENTIALS,
    endpoints: { ...endpoints, ...how.endpoints },
    transport: between(withClock),
    now,
    random: how.random ?? (() => 0),
    sleep: how.sleep ?? (async () => {}),
  };
};
