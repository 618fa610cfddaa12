import type { Socket } from "node:net";
import { get, openSocket } from "../../servers/sockets.ts";
import { type Attack, ask, hold, type Means, many, type Round, sendFile } from "./attack.ts";

// Clients that send slowly, or take nothing of what they asked for.

const HOLD_MS = 25_000;
const DRIP_MS = 4_000;

const opened = async ({ port, note }: Means, count: number): Promise<Socket[]> => {
  const sockets: Socket[] = [];
  for (let n = 0; n < count; n++) {
    const socket = await openSocket(port).catch(() => undefined);
    if (!socket) continue;
    socket.once("close", () => note("ended"));
    note("opened");
    sockets.push(socket);
  }
  return sockets;
};

/** Sockets that say something, then drip, and never read. */
const rude =
  (count: number, first: () => string, drip = "") =>
  (means: Means): Round =>
  async (signal) => {
    const sockets = await opened(means, count);
    for (const socket of sockets) socket.write(first());
    const untilMs = performance.now() + HOLD_MS;
    while (!signal.aborted && performance.now() < untilMs) {
      await hold(DRIP_MS, signal);
      if (drip) for (const socket of sockets) if (socket.writable) socket.write(drip);
    }
    for (const socket of sockets) socket.destroy();
  };

const LIST_ROWS = 20_000;
const UNREAD = 16;

/** The export of a long list, asked for many times and not taken. */
const unreadDownloads = (means: Means): Round => {
  let job: string | undefined;
  const key = means.testKey;
  return async (signal) => {
    const rows = many(LIST_ROWS, (n) => `ada.lovelace+${n}@example.com,${"x".repeat(100)}`);
    job ??= await sendFile(means, `email,note\n${rows.join("\n")}\n`, { key, signal });
    if (job === undefined) return;
    const path = `/v1/jobs/${job}/download`;
    for (let looks = 0; looks < 30 && !signal.aborted; looks++) {
      const state = `GET /v1/jobs/${job}?include_results=false`;
      if ((await ask(means, state, { key, signal }))?.status === "completed") break;
      await hold(1_000, signal);
    }
    await rude(UNREAD, () => get(path, [`x-api-key: ${key}`]))(means)(signal);
  };
};

/** Many connections that put a file to one link, and send a byte of it. */
const stalledPuts =
  (means: Means): Round =>
  async (signal) => {
    const wanted = { action: "get_upload_url", file_name: "list.csv" };
    const key = means.liveKey;
    const to = await ask(means, "POST /v1/verify/file", { key, body: wanted, signal });
    if (!to) return;
    const { pathname, search } = new URL(to.upload_url);
    const put = `PUT ${pathname}${search} HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\ne`;
    await rude(40, () => put, "x")(means)(signal);
  };

export const connectionAttacks: readonly Attack[] = [
  {
    name: "pipelined GETs, never read",
    plan: null,
    pauseMs: 2_000,
    begin: rude(10, () => get("/openapi.json").repeat(500)),
  },
  {
    name: "headers that never end",
    plan: null,
    pauseMs: 1_000,
    begin: rude(200, () => "GET /health HTTP/1.1\r\nHost: x\r\n", "x-more: 1\r\n"),
  },
  {
    name: "bodies that never end, no key",
    plan: null,
    pauseMs: 1_000,
    begin: rude(
      100,
      () => "POST /v1/verify HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n{",
      " ",
    ),
  },
  { name: "downloads, never read", plan: "scale", pauseMs: 2_000, begin: unreadDownloads },
  { name: "stalled PUTs on one link", plan: "scale", pauseMs: 2_000, begin: stalledPuts },
];
