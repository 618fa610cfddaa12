import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** The limits of one connection and of all connections together. See docs/operating.md. */
export const CONNECTION_LIMITS = {
  /** Less than the 1,024 file descriptors that many systems allow a process. */
  connectionsMax: 800,
  /** Real clients send one request at a time; the few that pipeline send less than ten ahead. */
  unansweredMax: 16,
  /** Unsent bytes of whole responses, in all: about 150 of the largest document, or 60 of the largest result page. */
  unsentBytesMax: 64_000_000,
  /** nginx also waits this long between two reads or writes. A proxy with a slow client may use half of this time. */
  stallMs: 60_000,
  /** Short, because headers fit in a few packets. */
  headersMs: 20_000,
  /** As long as an upload link is valid. */
  requestMs: 3_600_000,
  /** Longer than the minute for which most clients and load balancers keep idle connections: no request meets a closed connection. */
  idleMs: 65_000,
} as const;

export type ConnectionLimits = { readonly [name in keyof typeof CONNECTION_LIMITS]: number };

/** At 27 bytes for the shortest request, a slice adds fewer than 40 waiting requests. */
const SLICE_BYTES = 1_024;

/** `waitForClient`: nothing needs the rest of the body, so the server may close this connection in favour of another. */
type ServeRequest = (
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  waitForClient: () => void,
) => Promise<void>;

type Connection = {
  unanswered: number;
  /** The request in progress. */
  current: IncomingMessage | null;
  /** Bytes that certainly belong to the body of the last request. */
  bodyBytesLeft: number;
  /** Bytes of its response that the client has not read. */
  unsentBytes: number;
  /** Ends when the last response is sent. */
  turn: Promise<void>;
};

/**
 * Serves the requests of a connection one after the other, each when the previous response has left this process.
 * Over a limit, it closes the connection that has waited longest for its client.
 */
export const serveInTurn = (
  server: Server,
  limits: ConnectionLimits,
  stopping: AbortSignal,
  serve: ServeRequest,
): void => {
  const registry = createRegistry(limits);
  /** Responses that have not ended. */
  const responses = new Set<ServerResponse>();
  stopping.addEventListener("abort", () => responses.forEach(closeAfter), { once: true });

  const serveTurn = async (
    connection: Connection,
    incoming: IncomingMessage,
    out: ServerResponse,
  ) => {
    const { socket } = incoming;
    if (socket.destroyed) return;
    registry.stopWaiting(socket);
    connection.current = incoming;
    if (stopping.aborted) closeAfter(out);
    responses.add(out);
    await serve(incoming, out, () => registry.wait(socket, 0)).finally(() => responses.delete(out));
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

  // A client that has ended its side still reads its responses. Without this handler Node drops waiting requests.
  Object.assign(server, { httpAllowHalfOpen: true });
  server.on("connection", (socket: Socket) => {
    const connection = registry.add(socket);
    parseInSlices(socket, connection, limits);
  });
  server.on("request", (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const connection = registry.find(incoming.socket);
    if (!connection) return void incoming.socket.destroy();
    connection.unanswered++;
    // The slice that contained the end of the headers may also contain a part of the body.
    connection.bodyBytesLeft = Number(incoming.headers["content-length"] ?? 0) - SLICE_BYTES;
    connection.turn = connection.turn.then(() => serveTurn(connection, incoming, outgoing));
  });
  server.setTimeout(limits.stallMs, (socket: Socket) => {
    if (!isOurTurn(socket, registry.find(socket)?.current ?? null)) registry.end(socket);
  });
};

/** The client then sends its next request on another connection, perhaps to another server. */
const closeAfter = (out: ServerResponse): void => {
  if (!out.headersSent) out.setHeader("connection", "close");
};

/** The open connections, and their unsent bytes. */
const createRegistry = (limits: ConnectionLimits) => {
  const connections = new Map<Socket, Connection>();
  /** Connections that wait for the client to send a request or to read a response. Longest wait first. */
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
      const connection = {
        unanswered: 0,
        current: null,
        bodyBytesLeft: 0,
        unsentBytes: 0,
        turn: Promise.resolve(),
      };
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

/** True when this process reads no more of the request and has no bytes left to send. */
const isOurTurn = (socket: Socket, current: IncomingMessage | null): boolean =>
  current !== null && (current.complete || socket.isPaused()) && socket.writableLength === 0;

/** Waits until the response has left this process or its connection has closed. */
const waitForClose = (outgoing: ServerResponse, socket: Socket): Promise<void> => {
  const { promise, resolve } = Promise.withResolvers<void>();
  outgoing.once("close", resolve);
  socket.once("close", resolve);
  return promise.finally(() => socket.off("close", resolve));
};

/**
 * Node's parser parses everything that one read returns: up to 2,400 requests. This passes it a slice at a time, or what is
 * of one body, and puts the rest back into the socket's buffer. (`maxRequestsPerSocket` also counts answered requests, and
 * Node's own pause works after a read, not within one.)
 */
const parseInSlices = (
  socket: Socket,
  connection: Connection,
  { unansweredMax }: ConnectionLimits,
): void => {
  const [parse] = socket.listeners("data") as ((slice: Buffer) => void)[];
  if (!parse) return;
  const isFull = () => connection.unanswered >= unansweredMax;
  socket.off("data", parse);
  socket.on("data", (read: Buffer) => {
    for (let at = 0; at < read.length && !socket.destroyed; ) {
      if (at > 0 ? isFull() || socket.isPaused() : isFull()) {
        socket.pause();
        socket.unshift(read.subarray(at));
        return;
      }
      const end = at + Math.max(SLICE_BYTES, connection.bodyBytesLeft);
      connection.bodyBytesLeft -= Math.min(end, read.length) - at;
      parse.call(socket, read.subarray(at, end));
      at = end;
    }
  });
};
