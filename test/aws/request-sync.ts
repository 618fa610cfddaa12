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
  port.on("message", async ({ url, headers, body }) => {
    const method = body === undefined ? "GET" : "POST";
    const reply = await fetch(url, { method, headers, body }).then(
      async (answer) => ({ status: answer.status, text: await answer.text() }),
      (error) => ({ status: 0, text: String(error.cause ?? error) }),
    );
    port.postMessage(reply);
    Atomics.store(flag, 0, 1);
    Atomics.notify(flag, 0);
  });`;

type Thread = { readonly port: MessageChannel["port1"]; readonly flag: Int32Array };

let thread: Thread | undefined;

const startThread = (): Thread => {
  const { port1, port2 } = new MessageChannel();
  const flag = new Int32Array(new SharedArrayBuffer(4));
  const transferList = [port2] as unknown as Transferable[];
  new Worker(THREAD, { eval: true, workerData: { port: port2, flag }, transferList }).unref();
  port1.unref();
  return { port: port1, flag };
};

export const requestSync = (request: SyncRequest): string => {
  thread ??= startThread();
  const { port, flag } = thread;
  Atomics.store(flag, 0, 0);
  port.postMessage(request);
  Atomics.wait(flag, 0, 0, 10_000);
  const { status, text } = (receiveMessageOnPort(port)?.message ?? {}) as {
    status?: number;
    text?: string;
  };
  if (status !== 200) throw new Error(`the emulator answered ${status}: ${text}`);
  return text ?? "";
};
