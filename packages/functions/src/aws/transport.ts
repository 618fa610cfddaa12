import { Agent } from "node:http";
import { Agent as TlsAgent } from "node:https";
import type { Socket } from "node:net";
import { NodeHttpHandler } from "@smithy/node-http-handler";
import { AWS_TIMEOUT_MS, type AwsResponse, type AwsTransport } from "./requests.ts";

/** A handshake from a cold Lambda takes a third of this. */
const CONNECT_TIMEOUT_MS = 1_500;
/** More than 16 requests at once for messages, and as many for pages. */
const SOCKETS = { keepAlive: true, maxSockets: 50 };
/** No AWS service closes an idle connection sooner. */
const IDLE_MS = 5_000;

export const createAwsTransport = (now: () => number = Date.now): AwsTransport => {
  const agents = [new Agent(SOCKETS), new TlsAgent(SOCKETS)] as const;
  const dropStale = createStaleSocketDropper(agents, now);
  const sockets = new NodeHttpHandler({
    httpAgent: agents[0],
    httpsAgent: agents[1],
    connectionTimeout: CONNECT_TIMEOUT_MS,
    throwOnRequestTimeout: true,
    // A body without data for this long will not continue.
    socketTimeout: AWS_TIMEOUT_MS,
  });
  return async (request, timeoutMs) => {
    if (timeoutMs > AWS_TIMEOUT_MS)
      throw new RangeError(`no socket stays silent for ${timeoutMs} ms`);
    dropStale();
    const { response } = await sockets.handle(request as never, {
      requestTimeout: timeoutMs,
    });
    return response as AwsResponse;
  };
};

/**
 * A Lambda is frozen between two calls. When it resumes, AWS may have closed its sockets without the Lambda's knowledge:
 * a request on such a socket is lost, with unknown outcome. So an idle socket is not reused.
 */
const createStaleSocketDropper = (agents: readonly Agent[], now: () => number): (() => void) => {
  const idleSince = new WeakMap<Socket, number>();
  for (const agent of agents)
    agent.on("free", (socket: Socket) => void idleSince.set(socket, now()));
  const isStale = (socket: Socket) => now() - (idleSince.get(socket) ?? 0) >= IDLE_MS;
  return () => {
    for (const { freeSockets } of agents)
      for (const socket of Object.values(freeSockets).flatMap((some = []) => some))
        if (isStale(socket)) socket.destroy();
  };
};
