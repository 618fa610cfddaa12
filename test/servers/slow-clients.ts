import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { onTestFinished } from "vitest";

// What a program says that speaks HTTP by hand, to be rude.

/** A connection to a server on this machine, which reads nothing until it is resumed. */
const openSocket = async (port: number): Promise<Socket> => {
  const socket = connect(port, "127.0.0.1").pause();
  socket.on("error", () => undefined);
  await once(socket, "connect");
  return socket;
};

/** A request of no body. */
export const get = (path: string, headers: readonly string[] = []): string =>
  ["GET " + path + " HTTP/1.1", "Host: x.example", ...headers, "", ""].join("\r\n");

/** A connection to a server on this machine, which reads nothing until a test lets it. */
export const connectTo = async (port: number): Promise<Socket> => {
  const socket = await openSocket(port);
  onTestFinished(() => void socket.destroy());
  return socket;
};

/** Resolves when the server has ended this connection. What it sent before is discarded. */
export const waitForEnd = async (socket: Socket): Promise<void> => {
  if (socket.closed) return;
  socket.resume();
  await once(socket, "close");
};

export const isOpen = (socket: Socket): boolean => !socket.destroyed && !socket.readableEnded;

/** Full rounds through the server's event loop: what it could do by itself it has done. */
export const afterRounds = async (port: number, rounds = 20): Promise<void> => {
  for (let round = 0; round < rounds; round++)
    await (await fetch(`http://127.0.0.1:${port}/nowhere`)).text();
};

/** Resolves when each byte has been handed over, so that each is a TLS record of its own. */
export const sendByteByByte = async (socket: Socket, bytes: Buffer): Promise<void> => {
  for (let at = 0; at < bytes.length; at++)
    await new Promise<void>((resolve, reject) => {
      socket.write(bytes.subarray(at, at + 1), (error) => (error ? reject(error) : resolve()));
    });
};

/** Resident memory of a process. */
export const residentMegabytes = (pid: number): number =>
  Number(execFileSync("ps", ["-o", "rss=", "-p", String(pid)]).toString()) / 1024;
