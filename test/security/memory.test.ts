import { expect, test } from "vitest";
import { createFolder, whenStarted } from "../local/running.ts";
import { afterRounds, connectTo, get, residentMegabytes } from "./slow-clients.ts";

// The same attacks as in connections.test.ts, whole, on a process of its own: what is asserted is its resident memory.

/** Of its own, a server grows by some tens of megabytes in its first requests. */
const GROWTH_MEGABYTES = 150;

test.each([
  ["one name", () => get("/openapi.json")],
  ["compressed forms", () => get("/openapi.json", ["Accept-Encoding: br"])],
  ["a name for each request", (n: number) => get("/openapi.json").replace("x.example", `h${n}`)],
])(
  "20,000 pipelined requests whose responses are not read cost a process little memory: %s",
  async (_, nth) => {
    const { ready, pid } = await whenStarted(createFolder());
    const port = Number(new URL(ready.base_url).port);
    await (await fetch(`${ready.base_url}/openapi.json`)).text();
    const before = residentMegabytes(pid);
    const sockets = await Promise.all(Array.from({ length: 4 }, () => connectTo(port)));

    const requests = Array.from({ length: 20_000 }, (_one, n) => nth(n)).join("");
    for (const socket of sockets) socket.write(requests);
    await afterRounds(port, 300);

    expect(residentMegabytes(pid) - before).toBeLessThan(GROWTH_MEGABYTES);
  },
);
