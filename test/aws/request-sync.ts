import {
  MessageChannel,
  receiveMessageOnPort,
  type Transferable,
  Worker,
} from "node:worker_threads";

// Stories look into a table as if it lay in memory. Where it lies in an emulator, a thread asks and this one stands
// still until there is an answer.

export type SyncRequest = {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
};

const THREAD = `
  const { workerData: { port, flag } } = require("node:worker_threads");
  port.on("message", async ({ number, url, headers, body }) => {
    const method = body === undefined ? "GET" : "POST";
    const reply = await fetch(url, { method, headers, body }).then(
      async (answer) => ({ status: answer.status, text: await answer.text() }),
      (error) => ({ status: 0, text: String(error.cause ?? error) }),
    );
    port.postMessage({ number, ...reply });
    Atomics.add(flag, 0, 1);
    Atomics.notify(flag, 0);
  });`;

/** `flag` counts the replies, so that none is missed between a look and the wait for the next. */
type Thread = { readonly port: MessageChannel["port1"]; readonly flag: Int32Array };
type Reply = { readonly number: number; readonly status: number; readonly text: string };

let thread: Thread | undefined;
let requests = 0;

const startThread = (): Thread => {
  const { port1, port2 } = new MessageChannel();
  const flag = new Int32Array(new SharedArrayBuffer(4));
  const transferList = [port2] as unknown as Transferable[];
  new Worker(THREAD, { eval: true, workerData: { port: port2, flag }, transferList }).unref();
  port1.unref();
  return { port: port1, flag };
};

/** It ends what hangs. */
const REPLY_TIMEOUT_MS = 55_000;

/** The reply to this request: one that came too late for an earlier one is none. */
const waitForReply = ({ port, flag }: Thread, number: number): Reply => {
  for (;;) {
    const replies = Atomics.load(flag, 0);
    const reply = receiveMessageOnPort(port)?.message as Reply | undefined;
    if (reply?.number === number) return reply;
    if (reply === undefined && Atomics.wait(flag, 0, replies, REPLY_TIMEOUT_MS) === "timed-out")
      throw new Error("the emulator has not answered");
  }
};

export const requestSync = (request: SyncRequest): string => {
  thread ??= startThread();
  requests += 1;
  thread.port.postMessage({ number: requests, ...request });
  const { status, text } = waitForReply(thread, requests);
  if (status !== 200) throw new Error(`the emulator answered ${status}: ${text}`);
  return text;
};
