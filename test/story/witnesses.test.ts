import { createLocalSlots } from "@mailproof/core/smtp-pool/slots/local-slots";
import { createEngine } from "@mailproof/core/verify/engine";
import { createReplyReader } from "@mailproof/mail/smtp/reply-reader";
import type { SmtpConnect } from "@mailproof/mail/smtp/wire";
import { expect, test } from "vitest";
import { whenQuiet } from "../app/drain-queues.ts";
import { given } from "../app/given.ts";
import { listMoves, readCredits, thenConsistent } from "../app/ledger.ts";
import { send } from "../app/send.ts";
import { createZoneDns, type Zone } from "../app/zone.ts";
import { createProcessRequest, formatCsv, givenUpload, whenFiled } from "../things/jobs.ts";

// A provider that refuses everybody as unknown, beside two that know their people.

const ZONE: Zone = {
  "firm.example": { MX: ["10 mx.firm.example"] },
  "mx.firm.example": { A: ["9.9.9.9"] },
  "shop.example": { MX: ["10 mx.shop.example"] },
  "mx.shop.example": { A: ["9.9.9.10"] },
};
const UNKNOWN = "550 5.1.1 User unknown";

type Mind = "knows" | "refuses all" | "accepts all";

const createServers =
  (getMind: () => Mind): SmtpConnect =>
  async ({ host }) => {
    let next = "220 hello";
    return {
      send: (line) => {
        const isPerson = /^RCPT TO:<(?:person\d+|witness)@/.test(line);
        const mind = host === "mx.firm.example" ? getMind() : "knows";
        const isTaken = mind === "accepts all" || (mind === "knows" && isPerson);
        next = line.startsWith("RCPT") && !isTaken ? UNKNOWN : "250 ok";
      },
      receive: async () => createReplyReader()(Buffer.from(`${next}\r\n`))[0] ?? "closed",
      startTls: async () => "tls_failed",
      close: async () => undefined,
    };
  };

type Setup = { readonly witnesses: readonly string[]; readonly getMind?: () => Mind };

const givenLyingProvider = async ({ witnesses, getMind = () => "refuses all" }: Setup) => {
  const ctx = await given({ balance: 500 });
  const { world } = ctx;
  const engine = createEngine({
    ...world,
    dns: createZoneDns(ZONE),
    connect: createServers(getMind),
    lists: world.engine.lists,
    allowed: [],
    smtp: { helo: "probe.example", from: "probe@example.org", port: 25 },
    slots: createLocalSlots(world),
    witnesses,
  });
  return { ...ctx, world: { ...world, engine } };
};

const peopleAt = (domain: string): string[] =>
  Array.from({ length: 40 }, (_, n) => `person${n}@${domain}`);

const whenListed = async (ctx: Awaited<ReturnType<typeof givenLyingProvider>>) => {
  const { world, liveKey: key } = ctx;
  const emails = [...peopleAt("firm.example"), ...peopleAt("shop.example")];
  const fileKey = await givenUpload(ctx, key, formatCsv(emails));
  const { data } = await whenFiled(world, key, createProcessRequest(fileKey));
  await whenQuiet(ctx);
  return (await send(world, `GET /v1/jobs/${data.job_id}`, { key })).data;
};

test("a list refunds the rows of a provider that refuses its witness", async () => {
  const ctx = await givenLyingProvider({ witnesses: ["witness@firm.example"] });

  const { summary, status } = await whenListed(ctx);

  expect(status).toBe("completed");
  expect(summary.reasons).toEqual({ accepted: 40, witness_refused: 40 });
  expect(summary.suspicions).toEqual([]);
  expect(listMoves(ctx)).toEqual(["hold 80", "settle 80", "refund 40"]);
  expect(await readCredits(ctx)).toMatchObject({ available: 460, spent: 40, held: 0 });
  await thenConsistent(ctx);
});

test("the summary of a list without a witness lists the provider's domain as a suspicion", async () => {
  const ctx = await givenLyingProvider({ witnesses: [] });

  const { summary } = await whenListed(ctx);

  expect(summary.reasons).toEqual({ accepted: 40, mailbox_not_found: 40 });
  expect(summary.suspicions).toEqual([
    {
      at: "firm.example",
      count: 40,
      confidence: 0.5,
      message: "All 40 addresses at firm.example were refused; this may be about us.",
    },
  ]);
  expect(await readCredits(ctx)).toMatchObject({ available: 420, spent: 80 });
});

test("the summary lists no suspicion when no provider refuses every row", async () => {
  const ctx = await givenLyingProvider({ witnesses: [], getMind: () => "knows" });

  expect((await whenListed(ctx)).summary).toMatchObject({
    reasons: { accepted: 80 },
    suspicions: [],
  });
});

test.each<[Mind, Record<string, number>]>([
  ["accepts all", { accepted: 40, catch_all: 40 }],
  ["knows", { accepted: 80 }],
])(
  "refused rows that are verified again become valid only by a fresh refusal: the server %s",
  async (after, reasons) => {
    let mind: Mind = "refuses all";
    const ctx = await givenLyingProvider({ witnesses: [], getMind: () => mind });
    const { world, liveKey: key } = ctx;
    const { job_id: id } = await whenListed(ctx);
    mind = after;

    await send(world, `POST /v1/jobs/${id}/again`, { key, body: { filter: "status:invalid" } });
    await whenQuiet(ctx);

    const { data } = await send(world, `GET /v1/jobs/${id}`, { key });
    expect(data.summary.reasons).toEqual(reasons);
    await thenConsistent(ctx);
  },
);

test.each([
  ["of the same pass", 500],
  ["that an earlier pass stored", 50],
])(
  "a list takes back and refunds the refusals %s when the provider refuses a witness",
  async (_, rows) => {
    let mind: Mind = "knows";
    const ctx = await givenLyingProvider({
      witnesses: ["witness@firm.example"],
      getMind: () => mind,
    });
    const { liveKey: key } = ctx;
    const settings = { ...ctx.world.settings, chunkRows: { batch: rows, file: rows } };
    const world = { ...ctx.world, settings };
    const file = async (names: readonly string[]) => {
      const emails = names.map((name) => `${name}@firm.example`);
      const fileKey = await givenUpload(ctx, key, formatCsv(emails));
      return (await whenFiled(world, key, createProcessRequest(fileKey))).data.job_id;
    };
    // The witness is accepted, so that the next refusals are only unproven.
    await file(["gone1"]);
    await whenQuiet({ ...ctx, world });
    mind = "refuses all";
    const id = await file(Array.from({ length: 260 }, (_, n) => `gone${n + 2}`));
    await whenQuiet({ ...ctx, world });

    const { data } = await send(world, `GET /v1/jobs/${id}`, { key });

    expect(data.summary.reasons).toEqual({ witness_refused: 260 });
    expect(data.progress).toMatchObject({ processed: 260, invalid: 0, unknown: 260 });
    expect(await readCredits(ctx)).toMatchObject({ available: 499, spent: 1, held: 0 });
    await thenConsistent(ctx);
  },
);

test("POST /v1/verify charges nothing when the provider refuses the witness", async () => {
  const ctx = await givenLyingProvider({ witnesses: ["witness@firm.example"] });

  const body = { email: "person1@firm.example" };
  const { data } = await send(ctx.world, "POST /v1/verify", { key: ctx.liveKey, body });

  expect(data).toMatchObject({ status: "unknown", reason: "witness_refused", credits_used: 0 });
  expect(await readCredits(ctx)).toMatchObject({ available: 500, spent: 0, held: 0 });
});
