import { type AddressInfo, createServer, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { TLSSocket } from "node:tls";
import { onTestFinished } from "vitest";
import { SELF_SIGNED } from "./https-servers.ts";

export const HOST = "127.0.0.1";

/** A server of one test on loopback; it ends with the test, and whatever is connected with it. */
export const listen = async (serve: (socket: Socket) => void): Promise<number> => {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => socket.destroy()).on("close", () => sockets.delete(socket));
    serve(socket);
  });
  await new Promise<void>((resolve) => void server.listen(0, HOST, resolve));
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => void server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
};

/** A port at which no server listens. */
export const closedPort = async (): Promise<number> => {
  const server = createServer();
  await new Promise<void>((resolve) => void server.listen(0, HOST, resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => void server.close(resolve));
  return port;
};

/** What a mail server answers to a line; nothing is silence. */
export type Answers = (command: string) => string | undefined;

export const answerLines = (stream: Socket, answers: Answers): void => {
  const lines = createInterface({ input: stream });
  lines.on("line", (line) => {
    const answer = answers(line);
    if (answer !== undefined && stream.writable) stream.write(answer);
  });
  // It passes on the stream's own, such as a reset, and nobody else listens to it here.
  lines.on("error", () => stream.destroy());
};

/** The server's side of the handshake, and the name that was asked for. */
export const startSecure = (socket: Socket): TLSSocket => {
  const secured = new TLSSocket(socket, { isServer: true, ...SELF_SIGNED });
  return secured.on("error", () => secured.destroy());
};

/** A mail server that takes everybody in, knows ann, and offers STARTTLS. */
export const createMailServer = (commands: string[] = []) =>
  listen((socket) => {
    socket.write("220-mail.test\r\n220 at your service\r\n");
    answerUntilTls(socket, commands);
  });

const startPlain =
  (commands: string[], offers: string): Answers =>
  (command) => {
    commands.push(command);
    if (command.startsWith("EHLO")) return `250-mail.test\r\n${offers}250 SIZE\r\n`;
    if (command.startsWith("RCPT") && !command.includes("<ann@"))
      return "550 5.1.1 No such user\r\n";
    return command === "QUIT" ? "221 bye\r\n" : "250 2.0.0 OK\r\n";
  };

const answerUntilTls = (socket: Socket, commands: string[]): void => {
  const answers = startPlain(commands, "250-STARTTLS\r\n");
  const onData = (bytes: Buffer) => {
    const command = bytes.toString().trim();
    if (command !== "STARTTLS") return void socket.write(answers(command) ?? "");
    socket.off("data", onData);
    socket.write("220 go\r\n");
    const secured = startSecure(socket);
    secured.on("secure", () => commands.push(`(TLS for ${secured.servername || "nobody"})`));
    answerLines(secured, startPlain(commands, ""));
  };
  socket.on("data", onData);
};
