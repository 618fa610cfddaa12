import type { AppWorld } from "@mailproof/core/app-world";
import { createCatchAllCache } from "@mailproof/core/smtp-pool/catch-all-cache";
import { createProbe } from "@mailproof/core/smtp-pool/scheduler";
import { createReplyReader } from "@mailproof/mail/smtp/reply-reader";
import type { SmtpConnect } from "@mailproof/mail/smtp/wire";
import { expect, test } from "vitest";
import { whenReconciled, whenWorked } from "../drain-queues.ts";
import { formatRows, givenChunked, readJob, whenBatched } from "../jobs.ts";
import { readCredits, thenConsistent } from "../ledger.ts";

// A list at a mail server that greylists a recipient that it has not seen for five minutes, a random one, too:
// the second attempt of the job finds out which mailboxes exist.

const DELAY_MS = 5 * 60_000;
const MINUTE_MS = 60_000;

const greylistingServer = (
  { now }: Pick<AppWorld, "now">,
  isRemembered: (local: string) => boolean,
) => {
  const seen = new Map<string, number>();
  const replyTo = (line: string): string => {
    const [, local = ""] = /^RCPT TO:<([^@]*)/.exec(line) ?? [];
    if (local === "") return "250 ok";
    const atMs = now().getTime();
    const firstMs = seen.get(line) ?? atMs;
    seen.set(line, firstMs);
    if (atMs - firstMs < DELAY_MS) return "450 4.2.0 Greylisted, see you in five minutes";
    return isRemembered(local) ? "250 2.1.5 Ok" : "550 5.1.1 User unknown";
  };
  const connect: SmtpConnect = async () => {
    let next = "220 hi";
    return {
      send: (line) => {
        next = replyTo(line);
      },
      receive: async () => createReplyReader()(Buffer.from(`${next}\r\n`))[0] ?? "closed",
      startTls: async () => "tls_failed",
      close: async () => {},
    };
  };
  return connect;
};

test.each([
  ["knows its people", (local: string) => /^ann|^bob/.test(local), ["valid", "valid", "invalid"]],
  ["accepts everybody", () => true, ["catch_all", "catch_all", "catch_all"]],
])(
  "a batch at a server that greylists and %s is settled by its second attempt",
  async (_, isRemembered, statuses) => {
    const ctx = await givenChunked();
    const { world } = ctx;
    const hosts = [{ host: "mx.x.com", priority: 10, ips: ["192.0.2.1"] }];
    const connect = greylistingServer(world, isRemembered);
    const smtp = { helo: "probe.example", from: "probe@example.org", port: 25 };
    // Each attempt is made by a process that remembers nothing.
    const inNewProcess = () => ({
      ...ctx,
      world: {
        ...world,
        engine: {
          ...world.engine,
          findMailHosts: async () => ({
            kind: "hosts" as const,
            hosts,
            implicit: false,
            dnsQueries: [],
          }),
          probe: createProbe({
            ...world,
            connect,
            catchAllCache: createCatchAllCache(ctx.table, world.now),
            smtp,
          }),
        },
      },
    });
    const emails = ["ann@x.com", "bob@x.com", "zoe@x.com"];
    await whenBatched(world, ctx.liveKey, { emails });

    await whenWorked(inNewProcess());
    expect(await readJob(ctx)).toMatchObject({ deferred: { count: 3 } });
    ctx.later(6 * MINUTE_MS + 1);
    const second = inNewProcess();
    await whenReconciled(second);
    await whenWorked(second);

    const job = await readJob(ctx);
    expect(job).toMatchObject({ status: "completed" });
    expect(formatRows(job)).toEqual(emails.map((email, n) => `${n + 1} ${email} ${statuses[n]}`));
    expect(await readCredits(ctx)).toMatchObject({ available: 97, held: 0, spent: 3 });
    await thenConsistent(ctx);
  },
);
