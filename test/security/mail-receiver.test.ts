import type { CheckWorld } from "@mailproof/core/deliverability/dns-lookups";
import { findMail } from "@mailproof/core/deliverability/mail-tests/items";
import { MAIL_LIMITS, type MailLimits } from "@mailproof/local/mail-receiver/limits";
import { startMailReceiver } from "@mailproof/local/mail-receiver/mail-receiver";
import { toNetwork } from "@mailproof/mail/ip";
import { expect, onTestFinished, test } from "vitest";
import { withTable } from "../app/faulty-worlds.ts";
import { given } from "../app/given.ts";
import { sendByteByByte } from "../servers/slow-clients.ts";
import { type Client, dial } from "../servers/smtp-client.ts";
import { whenTestCreated } from "../things/mail-tests.ts";
import { readReportsAddress } from "../things/reports.ts";

// Clients that cost the mail receiver memory, time or connections. What they cost a whole process is in memory.long.test.ts.

const HOST = "127.0.0.1";

type Context = Awaited<ReturnType<typeof given>>;

/** Clients come from 127.0.0.1, 127.0.0.2 and so on: each is a network. */
const start = async (
  world: CheckWorld,
  limits: Partial<MailLimits> = {},
  steadyMs?: () => number,
) => {
  const options = { MAIL_PORT: 0, MAIL_HOST: HOST, MAIL_TLS_FILE: undefined };
  const all = { ...MAIL_LIMITS, ...limits };
  const { port, stop } = await startMailReceiver(world, "mail.example.com", options, all, steadyMs);
  onTestFinished(stop);
  return async (network = 1): Promise<Client> => {
    const client = await dial(HOST, port, { localAddress: `127.0.0.${network}` });
    onTestFinished(client.close);
    return client;
  };
};

const setup = async (limits?: Partial<MailLimits>) => {
  const ctx = await given({ balance: 100 });
  const { data } = await whenTestCreated(ctx.world, ctx.liveKey);
  return {
    ...ctx,
    address: data.address,
    id: data.test_id,
    connect: await start(ctx.world, limits),
  };
};

const greeted = async (client: Client): Promise<Client> => {
  expect(await client.reply()).toMatch(/^220 /);
  return client;
};

/** Up to the reply to DATA. */
const begin = async (client: Client, address: string, parameters = "") => {
  await client.say("EHLO out.shop.example");
  await client.say(`MAIL FROM:<news@shop.example>${parameters}`);
  await client.say(`RCPT TO:<${address}>`);
  return client.say("DATA");
};

const readStored = async ({ world, blobs }: Context, id: string) => {
  const mail = await findMail(world.table, id);
  const found = mail && (await blobs.get(mail.blob));
  return found && Buffer.concat(await Array.fromAsync(found.content)).toString();
};

test("a hundred idle connections of ten networks keep no other client out", async () => {
  const { connect, address } = await setup();
  const idle: Client[] = [];
  for (let n = 0; n < 100; n++) idle.push(await greeted(await connect(2 + Math.floor(n / 10))));
  for (const client of idle) expect(await client.say("NOOP")).toMatch(/^250 /);

  const newcomer = await greeted(await connect());

  expect(await begin(newcomer, address)).toMatch(/^354 /);
  newcomer.send("x\r\n.\r\n");
  expect(await newcomer.reply()).toMatch(/^250 /);
  expect(await idle[0]?.reply()).toMatch(/^421 4.3.2 /);
});

test.each(["NOOP", "RSET", "EHLO a.example", "HELP", "VRFY ann"])(
  "a newcomer replaces the session furthest from a message, even after that session's command %s",
  async (command) => {
    const { connect } = await setup({ connectionsMax: 2 });
    const one = await greeted(await connect(2));
    const other = await greeted(await connect(3));
    await other.say("EHLO a.example");
    await one.say("EHLO a.example");
    await one.say("MAIL FROM:<a@shop.example>");
    await other.say(command);

    await greeted(await connect());

    expect(await other.reply()).toMatch(/^421 4.3.2 /);
    expect(await one.say("NOOP")).toMatch(/^250 /);
  },
);

test("a newcomer replaces a connection of the network with the most", async () => {
  const { connect } = await setup({ connectionsMax: 3 });
  const alone = await greeted(await connect(2));
  const first = await greeted(await connect(3));
  const second = await greeted(await connect(3));

  await greeted(await connect());

  expect(await first.reply()).toMatch(/^421 4.3.2 /);
  for (const client of [alone, second]) expect(await client.say("NOOP")).toMatch(/^250 /);
});

test("the receiver keeps a session whose message is being stored and refuses the newcomer", async () => {
  const ctx = await given({ balance: 100 });
  const { data } = await whenTestCreated(ctx.world, ctx.liveKey);
  const storing = Promise.withResolvers<void>();
  const stored = Promise.withResolvers<void>();
  const world = withTable(ctx, {
    transact: async (writes) => {
      storing.resolve();
      await stored.promise;
      return ctx.table.transact(writes);
    },
  });
  const connect = await start(world, { connectionsMax: 1 });
  const client = await greeted(await connect(2));
  await begin(client, data.address);
  client.send("x\r\n.\r\n");
  await storing.promise;

  expect(await (await connect()).reply()).toMatch(/^421 4.3.2 /);
  stored.resolve();

  expect(await client.reply()).toMatch(/^250 /);
});

test("the receiver counts an IPv4 address or half of an IPv6 address as one network", () => {
  expect(toNetwork("192.0.2.1")).not.toBe(toNetwork("192.0.2.2"));
  expect(toNetwork("2001:db8:0:1::1")).toBe(toNetwork("2001:db8::1:ffff:ffff:ffff:ffff"));
  expect(toNetwork("2001:db8:0:1::1")).not.toBe(toNetwork("2001:db8:0:2::1"));
});

test("the receiver ends the session of a sender that trickles and serves a fast one", async () => {
  const { connect, address } = await setup({ idleMs: 100, leastBytes: 50 });
  const slow = await greeted(await connect());
  const fast = await greeted(await connect());
  await begin(slow, address);
  await begin(fast, address);

  const writing = setInterval(() => {
    slow.send("x");
    fast.send(`${"x".repeat(98)}\r\n`.repeat(10));
  }, 5);
  onTestFinished(() => clearInterval(writing));

  expect(await slow.reply()).toMatch(/^421 4.4.2 The message comes too slowly/);
  clearInterval(writing);
  fast.send(".\r\n");
  expect(await fast.reply()).toMatch(/^250 /);
});

test("the receiver delays a client's one-byte TLS records and not other networks' clients", async () => {
  const { world } = await given();
  let nowMs = 0;
  const limits = { piecesPerSecondMax: 400, uselessCommandsMax: 100 };
  const connect = await start(world, limits, () => nowMs);
  const [client, other] = [await greeted(await connect(2)), await greeted(await connect())];
  await client.say("EHLO out.shop.example");
  await client.say("STARTTLS");
  await client.startTls();

  void sendByteByByte(client.socket(), Buffer.from("NOOP\r\n".repeat(40)));
  let answered = 0;
  while ((await client.reply(500)).startsWith("250 ")) answered++;

  expect(answered).toBeLessThan(40);
  expect(await other.say("NOOP")).toMatch(/^250 /);
  for (; answered < 40; answered++) {
    nowMs += 1_000;
    expect(await client.reply()).toMatch(/^250 /);
  }
});

test.each([
  ["without a declared size", ""],
  ["with a small declared size", " SIZE=100"],
])(
  "the receiver spools a message above the memory limit in the blobs and removes it: one %s",
  async (_, size) => {
    const ctx = await setup({ arrivingBytesMax: 200_000 });
    const spooled: string[] = [];
    const blobs = {
      ...ctx.blobs,
      put: (...[key, content]: Parameters<Context["blobs"]["put"]>) => {
        spooled.push(key);
        return ctx.blobs.put(key, content);
      },
    };
    const client = await greeted(
      await (await start({ ...ctx.world, blobs }, { arrivingBytesMax: 200_000 }))(),
    );
    const lines = Array.from({ length: 30_000 }, (_line, n) => `.line ${n} of a long letter\r\n`);

    await begin(client, ctx.address, size);
    client.send(lines.map((line) => `.${line}`).join(""));
    client.send(".\r\n");

    expect(await client.reply()).toMatch(/^250 /);
    expect(await readStored(ctx, ctx.id)).toBe(lines.join(""));
    expect(spooled).toEqual([expect.stringMatching(/^mail\/spool\//), expect.any(String)]);
    expect(ctx.blobs.keys()).toEqual([spooled[1]]);
  },
);

test("the receiver defers a message when the blobs refuse it, and accepts it later", async () => {
  const ctx = await setup();
  let isFull = true;
  const blobs = {
    ...ctx.blobs,
    put: (...[key, content]: Parameters<Context["blobs"]["put"]>) =>
      isFull ? Promise.reject(new Error("no space left")) : ctx.blobs.put(key, content),
  };
  const connect = await start({ ...ctx.world, blobs }, { arrivingBytesMax: 200_000 });
  const text = `${"x".repeat(98)}\r\n`.repeat(10_000);
  const client = await greeted(await connect());
  await begin(client, ctx.address);
  client.send(text);

  expect(await client.reply()).toMatch(/^451 4.3.0 /);
  expect(await client.reply()).toBe("");
  isFull = false;
  const again = await greeted(await connect());
  await begin(again, ctx.address);
  again.send(`${text}.\r\n`);

  expect(await again.reply()).toMatch(/^250 /);
  expect(ctx.logged).toContainEqual(expect.objectContaining({ event: "mail_deferred" }));
});

test("the receiver defers a message that memory has no room for, and frees its bytes", async () => {
  const ctx = await setup({ arrivingBytesMax: 200_000, heldBytesMax: 1_200_000 });
  const reports = await readReportsAddress(ctx.world, ctx.liveKey);
  const [client, other] = [await greeted(await ctx.connect()), await greeted(await ctx.connect(2))];
  await begin(client, ctx.address);
  client.send(`${"x".repeat(98)}\r\n`.repeat(5_000));
  expect(await begin(other, reports, " SIZE=900000")).toMatch(/^354 /);

  client.send(`${"x".repeat(98)}\r\n`.repeat(4_000));
  client.send(".\r\n");

  expect(await client.reply()).toMatch(/^452 4.3.1 /);
  other.send(".\r\n");
  expect(await other.reply()).toMatch(/^554 /);
  await begin(client, ctx.address);
  client.send(`${"x".repeat(98)}\r\n`.repeat(5_000));
  client.send(".\r\n");
  expect(await client.reply()).toMatch(/^250 /);
});

test.each([
  "postmaster",
  "PostMaster",
  "postmaster@mail.example.com",
  "POSTMASTER@Mail.Example.com",
])("the receiver stores mail for %s for the operator and logs its file", async (address) => {
  const ctx = await setup();
  const client = await greeted(await ctx.connect());

  expect(await begin(client, address)).toMatch(/^354 /);
  client.send("Subject: Help\r\n\r\nYour server is ill.\r\n.\r\n");

  expect(await client.reply()).toMatch(/^250 /);
  const [key = ""] = ctx.blobs.keys();
  expect(key).toMatch(/^inbound\/postmaster\//);
  const content = (await ctx.blobs.get(key))?.content ?? [];
  expect(Buffer.concat(await Array.fromAsync(content)).toString()).toContain("ill");
  expect(ctx.logged).toEqual([
    {
      event: "postmaster_mail",
      fields: { ip: HOST, bytes: 38, file: expect.stringMatching(/^blobs\/inbound\/.*\.blob$/) },
    },
  ]);
});

test.each(["postmaster@other.example", "<postmaster>", "postmasters", "root"])(
  "the receiver does not treat %s as the postmaster",
  async (address) => {
    const client = await greeted(await (await setup()).connect());

    expect(await begin(client, address)).toMatch(/^(?:554|503) /);
  },
);

test("the receiver limits the operator's mail of a day and keeps half of it for other networks", async () => {
  const ctx = await setup({ postmasterBytesMax: 10_000 });
  const [client, other] = [await greeted(await ctx.connect(2)), await greeted(await ctx.connect())];
  const sendFrom = async (from: Client) => {
    await begin(from, "postmaster");
    from.send(`${"x".repeat(3_998)}\r\n.\r\n`);
    return from.reply();
  };

  expect(await sendFrom(client)).toMatch(/^250 /);
  expect(await sendFrom(client)).toMatch(/^452 4.2.1 /);
  expect(await sendFrom(other)).toMatch(/^250 /);
  ctx.later(86_400_000);
  expect(await sendFrom(client)).toMatch(/^250 /);
});
