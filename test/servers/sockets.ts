import { once } from "node:events";
import { connect, type Socket } from "node:net";

// What a program says that speaks HTTP by hand, to be rude.

/** A connection to a server on this machine, which reads nothing until it is resumed. */
export const openSocket = async (port: number): Promise<Socket> => {
  const socket = connect(port, "127.0.0.1").pause();
  socket.on("error", () => undefined);
  await once(socket, "connect");
  return socket;
};

export const get = (path: string, headers: readonly string[] = []): string =>
  ["GET " + path + " HTTP/1.1", "Host: x.example", ...headers, "", ""].join("\r\n");
