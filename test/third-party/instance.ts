import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

// One instance of a Lambda, as the Lambda service runs it: a process, and the Runtime API that the runtime client in it
// asks for invocations (https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html).

export type Outcome =
  | { readonly kind: "response"; readonly response: unknown }
  | { readonly kind: "error"; readonly errorType: string; readonly errorMessage: string }
  /** The time-out of the Lambda passed, and the service killed its process. */
  | { readonly kind: "timeout" }
  | { readonly kind: "exit" };

type Process = {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
};

type Invocation = {
  readonly id: string;
  readonly event: unknown;
  readonly timeoutMs: number;
  readonly end: (outcome: Outcome) => void;
};

export type Instance = Awaited<ReturnType<typeof startInstance>>;

let invocations = 0;

export const startInstance = async ({ args, cwd, environment }: Process) => {
  let poll: ServerResponse | undefined;
  let waiting: Invocation | undefined;
  let current: Invocation | undefined;
  let deadline: NodeJS.Timeout | undefined;
  let printed = "";

  const end = (outcome: Outcome): void => {
    clearTimeout(deadline);
    const { end: report } = current ?? waiting ?? {};
    current = waiting = undefined;
    report?.(outcome);
  };

  /** The time-out begins when the process has the invocation. */
  const deliver = (): void => {
    if (!poll || !waiting) return;
    const { id, event, timeoutMs } = waiting;
    current = waiting;
    waiting = undefined;
    deadline = setTimeout(() => {
      child.kill("SIGKILL");
      end({ kind: "timeout" });
    }, timeoutMs);
    poll.writeHead(200, {
      "content-type": "application/json",
      "lambda-runtime-aws-request-id": id,
      "lambda-runtime-deadline-ms": String(Date.now() + timeoutMs),
      "lambda-runtime-invoked-function-arn": `arn:aws:lambda:eu-central-1:000000000000:function:${environment["AWS_LAMBDA_FUNCTION_NAME"]}`,
      "lambda-runtime-trace-id": "Root=1-5bef4de7-ad49b0e87f6ef6c87fc2e700;Sampled=0",
    });
    poll.end(JSON.stringify(event));
    poll = undefined;
  };

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { url = "" } = request;
    const body = await text(request);
    if (url.endsWith("/runtime/invocation/next")) {
      poll = response;
      deliver();
      return;
    }
    response.writeHead(202).end("{}");
    if (url.endsWith(`/${current?.id}/response`))
      end({ kind: "response", response: JSON.parse(body || "null") });
    else if (url.endsWith("/error")) end({ kind: "error", ...JSON.parse(body) });
  };

  const server = createServer((request, response) => {
    // A process that is killed breaks off what it was sending.
    answer(request, response).catch(() => response.destroy());
  });
  // The Runtime API keeps the client's connection through a freeze; Node's default would close it after five seconds,
  // perhaps in the moment in which the client asks again.
  server.keepAliveTimeout = 0;
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;

  const child = spawn(process.execPath, args, {
    cwd,
    env: { ...environment, AWS_LAMBDA_RUNTIME_API: `127.0.0.1:${port}` },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const gone = once(child, "exit").then(() => end({ kind: "exit" }));
  for (const pipe of [child.stdout, child.stderr])
    pipe.on("data", (data: Buffer) => void (printed += data.toString()));

  return {
    /** One at a time, as Lambda does. */
    invoke: (event: unknown, timeoutMs: number): Promise<Outcome> =>
      new Promise((report) => {
        if (current ?? waiting) throw new Error("an instance has one invocation at a time");
        invocations += 1;
        const id = `00000000-0000-4000-8000-${String(invocations).padStart(12, "0")}`;
        waiting = { id, event, timeoutMs, end: report };
        if (child.exitCode === null && child.signalCode === null) deliver();
        else end({ kind: "exit" });
      }),
    /** Between two invocations a Lambda's process is stopped, for as long as it is not called. */
    freeze: () => void child.kill("SIGSTOP"),
    thaw: () => void child.kill("SIGCONT"),
    /** What the process has written to its log. */
    getLog: () => printed,
    stop: async (): Promise<void> => {
      child.kill("SIGKILL");
      await gone;
      server.close();
      server.closeAllConnections();
    },
  };
};
