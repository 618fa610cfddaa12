import { Socket, type TcpNetConnectOpts } from "node:net";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { parentPort, workerData } from "node:worker_threads";
import { createContext } from "../aws/events.ts";

// One instance of a Lambda: its bundle in a thread, with its own environment and nothing else. The thread's network stands
// for the internet: an address of 11.0.0.0/8 is the same one of 127.0.0.0/8, since a Lambda refuses to connect to loopback.

export type ThreadData = {
  readonly file: string;
  readonly timeoutMs: number;
  /** Where each port of the internet is on this machine; `issuerPort` is port 443 of 127.0.0.1. */
  readonly network: {
    readonly smtpPort: number;
    readonly issuerPort: number;
    readonly httpsPort: number;
  };
  /** Certificates that the Lambda trusts beside those of the world. */
  readonly trusted: readonly string[];
};

export type Outcome = { readonly result: unknown } | { readonly error: string };

const { file, timeoutMs, network, trusted } = workerData as ThreadData;
const LOOPBACK = /^(?:127\.|localhost$)/;
const INTERNET = /^11\./;
/** No server of this machine has it. */
const CLOSED_PORT = 1;

const toPort = (host: string, port: number): number => {
  if (port === 25) return network.smtpPort;
  if (port !== 443) return CLOSED_PORT;
  return host === "11.0.0.1" ? network.issuerPort : network.httpsPort;
};

const relocate = (options: TcpNetConnectOpts): TcpNetConnectOpts => {
  const { host = "localhost", port } = options;
  if (LOOPBACK.test(host)) return options;
  const isKnown = INTERNET.test(host);
  return {
    ...options,
    host: host.replace(INTERNET, "127."),
    port: isKnown ? toPort(host, Number(port)) : CLOSED_PORT,
    ...(!isKnown && { host: "127.0.0.1" }),
  };
};

const connect = Reflect.get(Socket.prototype, "connect") as (...args: unknown[]) => Socket;
Socket.prototype.connect = function (this: Socket, ...args: unknown[]) {
  // Node passes its own list of arguments on as one, with a mark on it.
  const [list] = args;
  const given = (Array.isArray(list) ? list : args) as TcpNetConnectOpts[];
  if (typeof given[0] !== "object") throw new Error("the options of a connection are no object");
  given[0] = relocate(given[0]);
  return Reflect.apply(connect, this, args);
};

setDefaultCACertificates([...getCACertificates("default"), ...trusted]);

const { handler } = await import(file);

const handle = async (event: unknown): Promise<Outcome> => {
  try {
    const result: unknown = await handler(event, createContext(timeoutMs));
    // As JSON, which is what Lambda carries.
    return { result: JSON.parse(JSON.stringify(result ?? null)) };
  } catch (error) {
    return { error: String(error) };
  }
};

parentPort?.on("message", (event: unknown) => {
  void handle(event).then((outcome) => parentPort?.postMessage(outcome));
});
