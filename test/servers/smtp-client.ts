import { Resolver } from "node:dns/promises";
import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import type { Lab } from "@mailproof/lab/lab";

/** A mail client of few words, written apart from the product's: it only sends lines and reads replies. */
export type Client = {
  /** The next reply with all its lines, "" when the host closed instead, "…" when it was silent so long. */
  readonly reply: (waitMs?: number) => Promise<string>;
  readonly say: (line: string) => Promise<string>;
  readonly send: (bytes: string | Buffer) => void;
  readonly startTls: () => Promise<void>;
  readonly socket: () => Socket;
  readonly close: () => void;
};

const WHOLE_REPLY = /^(?:\d{3}-[^\n]*\n)*(?:\d{3}(?: [^\n]*)?|(?!\d{3}-)[^\n]*)\n/;

export const dial = async (
  host: string,
  port: number,
  from?: { readonly localAddress: string },
): Promise<Client> => {
  let socket = connect({ host, port, ...from });
  let text = "";
  let isOpen = true;
  let wake = () => {};
  const attach = () => {
    socket.on("data", (chunk: Buffer) => {
      text += chunk.toString();
      wake();
    });
    socket.on("error", () => socket.destroy());
    for (const event of ["end", "close"] as const)
      socket.on(event, () => {
        isOpen = false;
        wake();
      });
  };
  await new Promise<void>((resolve, reject) => {
    socket.once("connect", resolve);
    socket.once("error", reject);
  });
  attach();
  const reply = async (waitMs = 5_000): Promise<string> => {
    const deadline = Date.now() + waitMs;
    for (;;) {
      const [match] = WHOLE_REPLY.exec(text) ?? [];
      if (match !== undefined) {
        text = text.slice(match.length);
        return match.trimEnd();
      }
      if (!isOpen) return "";
      if (Date.now() >= deadline) return "…";
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, deadline - Date.now());
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  };
  const say = (line: string) => {
    if (socket.writable) socket.write(`${line}\r\n`);
    return reply();
  };
  const startTls = async () => {
    socket.removeAllListeners();
    const secured = connectTls({ socket, rejectUnauthorized: false });
    await new Promise<void>((resolve, reject) => {
      secured.once("secureConnect", resolve);
      secured.once("error", reject);
      secured.once("close", () => reject(new Error("closed")));
    });
    socket = secured;
    attach();
  };
  return {
    reply,
    say,
    startTls,
    send: (bytes) => void socket.write(bytes),
    socket: () => socket,
    close: () => socket.destroy(),
  };
};

export const createResolver = (lab: Lab): Resolver => {
  const resolver = new Resolver({ timeout: 1_000, tries: 1 });
  resolver.setServers([lab.dns]);
  return resolver;
};

/** The addresses of a domain's mail hosts, best first. */
export const findMailHosts = async (lab: Lab, domain: string): Promise<readonly string[]> => {
  const resolver = createResolver(lab);
  const records = await resolver.resolveMx(domain).catch(() => [{ priority: 0, exchange: domain }]);
  const sorted = records.toSorted((one, other) => one.priority - other.priority).slice(0, 3);
  const found = await Promise.all(
    sorted.map(({ exchange }) => resolver.resolve4(exchange).catch(() => [])),
  );
  return found.flat();
};

/** Everything a host says, from the greeting to its answers about these recipients. */
export const converse = async (
  lab: Lab,
  host: string,
  recipients: readonly string[],
): Promise<readonly string[]> => {
  const client = await dial(host, lab.smtpPort);
  try {
    const replies = [await client.reply()];
    if (!replies[0]?.startsWith("220")) return replies;
    const hello = await client.say("EHLO client.example");
    if (hello.startsWith("5")) await client.say("HELO client.example");
    if (hello.includes("STARTTLS") && (await client.say("STARTTLS")).startsWith("220")) {
      await client.startTls();
      await client.say("EHLO client.example");
    }
    const utf8 = hello.includes("SMTPUTF8") ? " SMTPUTF8" : "";
    replies.push(await client.say(`MAIL FROM:<probe@client.example>${utf8}`));
    for (const to of recipients) replies.push(await client.say(`RCPT TO:<${to}>`));
    return replies;
  } finally {
    client.close();
  }
};
