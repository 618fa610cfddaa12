import { once } from "node:events";
import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { createFolder, spawnMailproof, whenStarted } from "../servers/running.ts";

// Whether a fresh server can see mail servers. The lab plays each network.

test.each([
  ["open", "valid.lab.mailproof.test,refused.lab.mailproof.test"],
  ["dns_only", "refused.lab.mailproof.test"],
  ["lab", "nxdomain.lab.mailproof.test"],
])("a server whose reach is %s says so in its health", async (state, domains) => {
  const { ready } = await whenStarted(createFolder(), [], { REACH_DOMAINS: domains });

  let reach: any;
  do {
    await setTimeout(50);
    ({ reach } = (await (await fetch(`${ready.base_url}/health`)).json()) as any);
  } while (reach.state === "not_measured");

  expect(reach).toMatchObject({ state, refused_by: [], measured_at: expect.any(String) });
});

test("the first screen is followed by what can be reached", async () => {
  const server = spawnMailproof(["start"], {
    MAILPROOF_DIR: createFolder(),
    PORT: "0",
    REACH_DOMAINS: "refused.lab.mailproof.test",
  });
  let printed = "";
  for await (const piece of server.stdout as AsyncIterable<Buffer>) {
    printed += piece.toString();
    if (printed.includes("  reach      ")) break;
  }
  server.kill("SIGTERM");
  await once(server, "exit");

  expect(printed).toContain(
    "  reach      This server cannot reach mail servers: port 25 is closed.",
  );
});
