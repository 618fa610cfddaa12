import { createCatchAllCache } from "@mailproof/core/smtp-pool/catch-all-cache";
import { createProbe } from "@mailproof/core/smtp-pool/scheduler";
import { createReplyReader } from "@mailproof/mail/smtp/reply-reader";
import type { SmtpConnect } from "@mailproof/mail/smtp/wire";
import { expect, test } from "vitest";
import { givenWorld } from "../../app/given.ts";

// A server that ends a session after so many refused recipients, as chasquid does after three, has a budget for each
// session, and no quarrel with us.

const TOO_MANY = "421 4.7.0 Too many errors, bye";

const givenServer = (refusalsMost: number, isBanned = false) => {
  const { world, table } = givenWorld();
  const endings: number[] = [];
  const connect: SmtpConnect = async () => {
    let next = "220 hi";
    let refused = 0;
    const answer = (local: string): string => {
      if (isBanned) return TOO_MANY;
      if (local.startsWith("known")) return "250 Ok";
      refused += 1;
      if (refused <= refusalsMost) return "550 5.1.1 User unknown";
      endings.push(refused);
      return TOO_MANY;
    };
    return {
      send: (line) => {
        const [, local] = /^RCPT TO:<([^@]*)/.exec(line) ?? [];
        next = local === undefined ? "250 ok" : answer(local);
      },
      receive: async () => createReplyReader()(Buffer.from(`${next}\r\n`))[0] ?? "closed",
      startTls: async () => "tls_failed",
      close: async () => {},
    };
  };
  const startedAtMs = world.now().getTime();
  const smtp = { helo: "probe.example", from: "probe@example.org", port: 25 };
  const catchAllCache = createCatchAllCache(table, world.now);
  const probe = createProbe({ ...world, connect, catchAllCache, smtp });
  const ask = async (locals: readonly string[]) =>
    Promise.all(
      locals.map((local) =>
        probe({
          recipient: `${local}@example.com`,
          domain: "example.com",
          hosts: [{ host: "mx.example.com", priority: 10, ips: ["192.0.2.1"] }],
          probeCatchAll: true,
        }),
      ),
    );
  return { ask, endings, countMs: () => world.now().getTime() - startedAtMs };
};

const UNKNOWN = Array.from({ length: 20 }, (_, n) => `gone${n}`);

test.each([2, 3, 5])(
  "the engine asks about every recipient at a server that ends a session after %i refusals",
  async (most) => {
    const { ask, endings, countMs } = givenServer(most);

    const found = await ask([...UNKNOWN, "known1", "known2"]);

    expect(found.slice(0, 20).map(({ finding }) => finding.verdict)).toEqual(
      Array(20).fill("invalid"),
    );
    expect(found.slice(20).map(({ finding }) => finding.verdict)).toEqual(["valid", "valid"]);
    expect(endings).toHaveLength(1);
    // No wait: a pause after a throttle is half a minute.
    expect(countMs()).toBeLessThan(30_000);
  },
);

test("the engine returns the rows of a new session whose first reply repeats the refusal", async () => {
  const { ask } = givenServer(0, true);

  const [first] = await ask(["gone1", "known1"]);

  expect(first?.finding).toMatchObject({ verdict: "unknown", aboutUs: true });
});
