import { type AddressInfo, createServer, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { TLSSocket } from "node:tls";
import { onTestFinished } from "vitest";
import { SELF_SIGNED } from "./self-signed.ts";

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

/** A port that nobody listens at. */
export const closedPort = async (): Promise<number> => {
  const server = createServer();
  await new Promise<void>((resolve) => void server.listen(0, HOST, resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => void server.close(resolve));
  return port;
};

/** What a mail server answers to a line; nothing is silence. */
export type Answers = (said: string) => string | undefined;

export const answerLines = (stream: Socket, answers: Answers): void => {
  createInterface({ input: stream }).on("line", (line) => {
    const answer = answers(line);
    if (answer !== undefined && stream.writable) stream.write(answer);
  });
};

/** The server's side of the handshake, and the name that was asked for. */
export const secure = (socket: Socket): TLSSocket => {
  const secured = new TLSSocket(socket, { isServer: true, ...SELF_SIGNED });
  return secured.on("error", () => secured.destroy());
};

/** A mail server that takes everybody in, knows ann, and offers STARTTLS. */
export const mailServer = (heard: string[] = []) =>
  listen((socket) => {
    socket.write("220-mail.test\r\n220 at your service\r\n");
    answerUntilTls(socket, heard);
  });

const plain =
  (heard: string[], offers: string): Answers =>
  (said) => {
    heard.push(said);
    if (said.startsWith("EHLO")) return `250-mail.test\r\n${offers}250 SIZE\r\n`;
    if (said.startsWith("RCPT") && !said.includes("<ann@")) return "550 5.1.1 No such user\r\n";
    return said === "QUIT" ? "221 bye\r\n" : "250 2.0.0 OK\r\n";
  };

const answerUntilTls = (socket: Socket, heard: string[]): void => {
  const answers = plain(heard, "250-STARTTLS\r\n");
  const onData = (bytes: Buffer) => {
    const said = bytes.toString().trim();
    if (said !== "STARTTLS") return void socket.write(answers(said) ?? "");
    socket.off("data", onData);
    socket.write("220 go\r\n");
    const secured = secure(socket);
    secured.on("secure", () => heard.push(`(TLS for ${secured.servername || "nobody"})`));
    answerLines(secured, plain(heard, ""));
  };
  socket.on("data", onData);
};
