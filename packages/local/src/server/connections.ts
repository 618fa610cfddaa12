import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** What one connection, and all of them together, may hold of this process. See docs/operating.md. */
export const CONNECTION_LIMITS = {
  /** Below the 1,024 file descriptors that many systems allow a process. */
  connectionsMax: 800,
  /** Real clients send one request at a time; the few that pipeline send less than ten ahead. */
  unansweredMax: 16,
  /** Of whole responses, in all: about 150 of the largest document, or 60 of the largest page of results. */
  unsentBytesMax: 64_000_000,
  /** As nginx waits between two reads or writes. A proxy with a slow client behind it may take half of that. */
  stallMs: 60_000,
  /** Headers fit in a few packets. */
  headersMs: 20_000,
  /** As long as a link for an upload is valid. */
  requestMs: 3_600_000,
  /** Longer than clients and balancers keep an idle connection, mostly a minute: no request meets a closed one. */
  idleMs: 65_000,
} as const;

export type ConnectionLimits = { readonly [name in keyof typeof CONNECTION_LIMITS]: number };

/** At 27 bytes for the shortest request, a slice adds fewer than 40 of them to those that wait. */
const SLICE_BYTES = 1_024;

/** `waitForClient`: says that the rest of the body is not needed, so this connection may make room for another one. */
type ServeRequest = (
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  waitForClient: () => void,
) => Promise<void>;

type Connection = {
  unanswered: number;
  /** The request whose turn it is. */
  current: IncomingMessage | null;
  /** Bytes of its response that the client has not taken. */
  unsentBytes: number;
  /** Ends when the last response is sent. */
  turn: Promise<void>;
};

/**
 * Serves the requests of a connection one after the other, each when the response before it has left this process.
 * Over a limit, the connection ends that has waited longest for its client.
 */
export const serveInTurn = (
  server: Server,
  limits: ConnectionLimits,
  serve: ServeRequest,
): void => {
  const registry = createRegistry(limits);

  const serveTurn = async (
    connection: Connection,
    incoming: IncomingMessage,
    out: ServerResponse,
  ) => {
    const { socket } = incoming;
    if (socket.destroyed) return;
    registry.stopWaiting(socket);
    connection.current = incoming;
    await serve(incoming, out, () => registry.wait(socket, 0));
    if (!socket.destroyed && !out.writableFinished && !out.destroyed) {
      registry.wait(socket, socket.writableLength);
      await waitForClose(out, socket);
    }
    connection.current = null;
    connection.unanswered--;
    if (socket.destroyed) return;
    registry.wait(socket, 0);
    if (connection.unanswered < limits.unansweredMax) socket.resume();
  };

  // A client that says it sends nothing more still takes its responses. Else Node drops those that wait their turn.
  Object.assign(server, { httpAllowHalfOpen: true });
  server.on("connection", (socket: Socket) => {
    const connection = registry.add(socket);
    parseInSlices(socket, () => connection.unanswered >= limits.unansweredMax);
  });
  server.on("request", (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const connection = registry.find(incoming.socket);
    if (!connection) return void incoming.socket.destroy();
    connection.unanswered++;
    connection.turn = connection.turn.then(() => serveTurn(connection, incoming, outgoing));
  });
  server.setTimeout(limits.stallMs, (socket: Socket) => {
    if (!isOurTurn(socket, registry.find(socket)?.current ?? null)) registry.end(socket);
  });
};

/** The open connections, and what they hold. */
const createRegistry = (limits: ConnectionLimits) => {
  const connections = new Map<Socket, Connection>();
  /** Those where the next move is the client's: to send a request or to take a response. Longest wait first. */
  const waiting = new Set<Socket>();
  let unsentBytes = 0;

  const forget = (socket: Socket): void => {
    unsentBytes -= connections.get(socket)?.unsentBytes ?? 0;
    connections.delete(socket);
    waiting.delete(socket);
  };
  const end = (socket: Socket): void => {
    forget(socket);
    socket.destroy();
  };

  return {
    end,
    find: (socket: Socket) => connections.get(socket),
    add: (socket: Socket): Connection => {
      const [longest = socket] = waiting;
      const connection = { unanswered: 0, current: null, unsentBytes: 0, turn: Promise.resolve() };
      connections.set(socket, connection);
      waiting.add(socket);
      socket.once("close", () => forget(socket));
      if (connections.size > limits.connectionsMax) end(longest);
      return connection;
    },
    stopWaiting: (socket: Socket) => waiting.delete(socket),
    wait: (socket: Socket, bytes: number): void => {
      const connection = connections.get(socket);
      if (!connection) return;
      unsentBytes += bytes - connection.unsentBytes;
      connection.unsentBytes = bytes;
      waiting.delete(socket);
      waiting.add(socket);
      for (const slow of waiting) {
        if (unsentBytes <= limits.unsentBytesMax) return;
        if (connections.get(slow)?.unsentBytes) end(slow);
      }
    },
  };
};

/** This process has the whole request, or chose not to read on, and nothing that the client should take. */
const isOurTurn = (socket: Socket, current: IncomingMessage | null): boolean =>
  current !== null && (current.complete || socket.isPaused()) && socket.writableLength === 0;

/** Until the response has left this process, or its connection has ended. */
const waitForClose = (outgoing: ServerResponse, socket: Socket): Promise<void> => {
  const { promise, resolve } = Promise.withResolvers<void>();
  outgoing.once("close", resolve);
  socket.once("close", resolve);
  return promise.finally(() => socket.off("close", resolve));
};

/**
 * Node's parser takes all of a packet, whatever is in it: 2,400 requests in one read. It is handed a slice at a time,
 * and what it may not have yet goes back into the socket's own buffer. (`maxRequestsPerSocket` counts the answered, too,
 * and Node's own pause looks after a read, not within.)
 */
const parseInSlices = (socket: Socket, isFull: () => boolean): void => {
  const [parse] = socket.listeners("data") as ((slice: Buffer) => void)[];
  if (!parse) return;
  socket.off("data", parse);
  socket.on("data", (read: Buffer) => {
    for (let at = 0; at < read.length && !socket.destroyed; at += SLICE_BYTES) {
      if (at > 0 ? isFull() || socket.isPaused() : isFull()) {
        socket.pause();
        socket.unshift(read.subarray(at));
        return;
      }
      parse.call(socket, read.subarray(at, at + SLICE_BYTES));
    }
  });
};
