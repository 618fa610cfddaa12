import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import type { MailHost } from "./dialogue.ts";
import { type SessionContext, serveSession } from "./session.ts";

const BACKLOG = 4_096;
const PORT_TRIES = 20;

export type MailServerCounts = {
  readonly sessions: number;
  readonly open: number;
  readonly recipients: number;
  readonly commands: Readonly<Record<string, number>>;
  readonly sessionsPerHost: Readonly<Record<string, number>>;
  readonly peakSessionsPerHost: Readonly<Record<string, number>>;
};

type Tally = { sessions: number; open: number; peak: number };

export const startMailServer = async (
  hosts: readonly MailHost[],
  port: number,
  context: Omit<SessionContext, "onCommand" | "onHangUp">,
) => {
  const sockets = new Set<Socket>();
  const tallies = new Map<string, Tally>();
  const commands = new Map<string, number>();
  const onCommand = (start: string) => {
    const verb = /^[a-z]+/i.exec(start)?.[0].toUpperCase() ?? "?";
    commands.set(verb, (commands.get(verb) ?? 0) + 1);
  };
  const receive = (host: MailHost) => (socket: Socket) => {
    const tally = tallies.get(host.name) ?? { sessions: 0, open: 0, peak: 0 };
    tallies.set(host.name, tally);
    sockets.add(socket);
    tally.sessions += 1;
    tally.open += 1;
    tally.peak = Math.max(tally.peak, tally.open);
    // A server counts a session until it has closed the connection itself.
    let isOpen = true;
    const onHangUp = (): void => {
      if (isOpen) tally.open -= 1;
      isOpen = false;
    };
    socket.on("close", () => {
      sockets.delete(socket);
      onHangUp();
    });
    const isTooMany = tally.open > (host.behavior.sessionsMax ?? Number.POSITIVE_INFINITY);
    serveSession(socket, host, { ...context, onCommand, onHangUp }, isTooMany);
  };
  const servers = await listenAll(hosts, port, receive);
  const counts = () => {
    const countPerHost = (pick: (tally: Tally) => number) =>
      Object.fromEntries([...tallies].map(([name, tally]) => [name, pick(tally)]));
    const sum = (pick: (tally: Tally) => number) =>
      [...tallies.values()].reduce((total, tally) => total + pick(tally), 0);
    return {
      sessions: sum(({ sessions }) => sessions),
      open: sum(({ open }) => open),
      recipients: commands.get("RCPT") ?? 0,
      commands: Object.fromEntries(commands),
      sessionsPerHost: countPerHost(({ sessions }) => sessions),
      peakSessionsPerHost: countPerHost(({ peak }) => peak),
    };
  };
  const close = async () => {
    for (const socket of sockets) socket.destroy();
    await closeAll(servers);
  };
  return { port: getPort(servers), counts, close };
};

/** The first host takes a free port; if another program uses that port at any other address, all hosts start again with another port. */
const listenAll = async (
  hosts: readonly MailHost[],
  port: number,
  receive: (host: MailHost) => (socket: Socket) => void,
): Promise<readonly Server[]> => {
  for (let tries = 1; ; tries += 1) {
    const servers: Server[] = [];
    try {
      for (const host of hosts) {
        const server = createServer({ noDelay: true }, receive(host));
        servers.push(server);
        const at = port === 0 && servers.length > 1 ? getPort(servers) : port;
        server.listen({ host: host.address, port: at, backlog: BACKLOG });
        await once(server, "listening");
      }
      return servers;
    } catch (error) {
      await closeAll(servers);
      const isPortInUse = (error as NodeJS.ErrnoException).code === "EADDRINUSE";
      if (!isPortInUse || port !== 0 || tries === PORT_TRIES) throw error;
    }
  }
};

const getPort = ([first]: readonly Server[]): number => {
  const address = first?.address() as AddressInfo | null | undefined;
  if (!address) throw new Error("No mail host is listening.");
  return address.port;
};

const closeAll = async (servers: readonly Server[]): Promise<void> => {
  await Promise.all(
    servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve()))),
  );
};
