import { signMailToken } from "@mailproof/core/mails/unsubscribe";
import { queueLetters } from "@mailproof/core/mails/week";
import { toPersonKey } from "@mailproof/core/people/items";
import { findPerson } from "@mailproof/core/people/members";
import type { MailOutcome, OutgoingMail } from "@mailproof/core/ports/mailer";
import type { Write } from "@mailproof/core/ports/table";
import { describe, expect, test } from "vitest";
import { whenMinutesPass, whenReconciled, whenWorked } from "../app/drain-queues.ts";
import { withTable } from "../app/faulty-worlds.ts";
import { createBrowser, givenOwner } from "../app/people.ts";
import { send, whenVerified } from "../app/send.ts";
import { createProcessRequest, givenUpload, whenBatched, whenFiled } from "../things/jobs.ts";
import {
  FROM,
  givenMailed,
  givenMails,
  LOW,
  type MailContext,
  PUBLIC_URL,
  whenEvent,
  whenHoursPass,
} from "../things/people-mails.ts";
import { uploadReport } from "../things/reports.ts";

const listRecipients = ({ relay }: Pick<MailContext, "relay">) =>
  relay.sent.map(({ to }) => to.replace("@people.example", "")).toSorted();

const listMails = ({ table }: MailContext) =>
  table.items().filter(({ pk }) => pk.startsWith("MAIL#"));

/** The owner of a service that sends mail, in a browser. */
const givenInviter = async () => {
  const { settings } = (await givenMails()).world;
  const owner = await givenOwner({ balance: 10 });
  const { mailFrom, publicUrl } = settings;
  const world = { ...owner.world, settings: { ...owner.world.settings, mailFrom, publicUrl } };
  return { ...owner, world, browser: owner.browser };
};

const FAILED: MailOutcome = { kind: "failed", reply: "451 4.7.1 Try again later" };

describe("a mail about an event", () => {
  test("tells owners and admins that the balance is low, with a link to it", async () => {
    const ctx = await givenMails();
    await givenMailed(ctx, "ada");
    await givenMailed(ctx, "bo", "admin");
    await givenMailed(ctx, "cy", "member");
    await givenMailed(ctx, "di", "viewer");

    await whenEvent(ctx, "credits.low", LOW);

    expect(listRecipients(ctx)).toEqual(["ada", "bo"]);
    const [mail] = ctx.relay.sent;
    expect(mail).toMatchObject({ from: FROM, subject: "Few credits left: Ann's Shop" });
    expect(mail?.text).toContain("5 credits are left in Ann's Shop, less than a tenth of the last");
    expect(mail?.text).toContain(`${PUBLIC_URL}/app/usage`);
    expect(listMails(ctx)).toEqual([]);
  });

  test("goes only to people whose area it is", async () => {
    const ctx = await givenMails();
    await givenMailed(ctx, "lists", "admin", { area: "lists" });
    await givenMailed(ctx, "domains", "admin", { area: "domains" });
    const data = { domain: "shop.example", sending_ip: null, check_id: "txn_1", listed_on: ["bl"] };

    await whenEvent(ctx, "blacklist.detected", data);

    expect(listRecipients(ctx)).toEqual(["domains"]);
  });

  test("tells about the unaligned mail that a receiver reported", async () => {
    const ctx = await givenMails();
    await givenMailed(ctx, "ada");
    await send(ctx.world, "POST /v1/deliverability/monitors", {
      key: ctx.liveKey,
      body: { domain: "example.com" },
    });
    await uploadReport(ctx.world, ctx.liveKey, {
      records: [{ count: 7, dkim: "fail", spf: "fail" }],
    });
    await whenWorked(ctx);

    const mail = ctx.relay.sent.find(({ subject }) => subject === "Unaligned mail: example.com");
    expect(mail?.text).toContain(
      "google.com reports that 7 of 7 messages from example.com on 2026-11-20 are not aligned.",
    );
  });

  test("is not written for events of test keys, nor while no relay is set", async () => {
    const ctx = await givenMails();
    await givenMailed(ctx, "ada");

    await whenEvent(ctx, "credits.low", LOW, `${ctx.account}~test`);
    const { settings } = ctx.world;
    const without = { ...ctx, world: { ...ctx.world, settings: { ...settings, mailFrom: null } } };
    await whenEvent(without, "credits.low", LOW);

    expect(ctx.relay.sent).toEqual([]);
    expect(listMails(ctx)).toEqual([]);
  });
});

describe("the mail about a list", () => {
  const whenListDone = async (ctx: MailContext, name: string) => {
    const fileKey = await givenUpload(ctx, ctx.liveKey, "email\nann1@x.com\nann2@x.com\n");
    await whenFiled(ctx.world, ctx.liveKey, createProcessRequest(fileKey, { name }));
    await whenWorked(ctx);
  };

  test("counts the results of a key's list for owners and admins", async () => {
    const ctx = await givenMails();
    await givenMailed(ctx, "ada");

    await whenListDone(ctx, "spring.csv");

    expect(listRecipients(ctx)).toEqual(["ada"]);
    const [mail] = ctx.relay.sent;
    expect(mail?.subject).toMatch(/^List done: /);
    expect(mail?.text).toMatch(/All 2 addresses of the list .+ have a result:/);
    expect(mail?.text).toContain(`${PUBLIC_URL}/app/lists/job_`);
  });

  test("goes to the person alone who sent the list", async () => {
    const ctx = await givenInviter();
    await givenMailed(ctx, "ada");
    const { person_id: person } = ctx.accepted.data.signed_in;
    const set = { email: "bo@people.example" };
    await ctx.table.write({ update: toPersonKey(person), set });
    const browser = createBrowser(ctx.world, ctx.browser.getCookie());

    const sent = { account: ctx.account, body: { emails: ["a@x.com", "b@x.com"] } };
    expect((await browser.send("POST /v1/verify/batch", sent)).statusCode).toBe(202);
    await whenWorked(ctx);

    expect(listRecipients(ctx)).toEqual(["bo"]);
  });

  test("is not written for a single address", async () => {
    const ctx = await givenMails();
    await givenMailed(ctx, "ada");
    await whenVerified(ctx.world, ctx.liveKey, { email: "a@x.com" });
    await whenWorked(ctx);

    expect(ctx.relay.sent).toEqual([]);
  });
});

test("no mail contains an address of a list, whatever the list and its parts are called", async () => {
  const addresses = ["ann@x.com", '"a b"@x.com', "jörg@exämple.com", "a+b@x.com", "UP@X.COM"];
  const disguised = addresses.flatMap((one) => [
    one,
    `${one}.csv`,
    one.replace("@", "\uFF20"),
    one.replace("@", "\uFE6B"),
    one.replace("@", "%40"),
    one.replace("@", "%2540"),
    `x\r\nBcc: ${one}`,
    `=?utf-8?Q?${one.replace("@", "=40")}?=`,
    `=?utf-8?B?${Buffer.from(one).toString("base64")}?=`,
  ]);
  const ctx = await givenMails();
  await givenMailed(ctx, "ada");

  for (const [at, name] of disguised.entries()) {
    const { data } = await whenBatched(ctx.world, ctx.liveKey, { emails: [`a${at}@x.com`] });
    const key = { pk: `JOB#${data.job_id}`, sk: "JOB" };
    await ctx.table.write({ update: key, set: { name } });
    await ctx.table.write({
      update: { pk: `ACCOUNT#${ctx.account}`, sk: "ACCOUNT" },
      set: { name },
    });
    await whenWorked(ctx);
    const report = { reporter: name, report_id: "1", day: "d", messages: 2, unaligned: 1 };
    await whenEvent(ctx, "dmarc.failed", { domain: name, status: name, report });
    await whenEvent(ctx, "dmarc.failed", { domain: "x.example", status: name });
    await whenEvent(ctx, "blacklist.detected", {
      domain: name,
      sending_ip: null,
      listed_on: [name],
    });
    ctx.later(86_400_000);
  }

  expect(ctx.relay.sent.length).toBeGreaterThan(2 * disguised.length);
  for (const { subject, text, html } of ctx.relay.sent) {
    expect(subject + text + html).not.toMatch(/[@\uFF20\uFE6B]|%40|%2540/);
    expect(subject).not.toMatch(/[\r\n]|=\?/);
  }
});

test("no name turns the direction of a subject, is longer than 300 characters, or ends within a character", async () => {
  const ctx = await givenMails();
  await givenMailed(ctx, "ada");
  const { data } = await whenBatched(ctx.world, ctx.liveKey, { emails: ["a@x.com"] });
  const name = `\u202Etsil\u2066 ${"\u{1F4EC}".repeat(2_500)}`;
  await ctx.table.write({ update: { pk: `JOB#${data.job_id}`, sk: "JOB" }, set: { name } });
  await whenWorked(ctx);

  const [mail] = ctx.relay.sent;
  expect(mail?.subject).toMatch(/^List done: tsil {1,3}\u{1F4EC}+\uFFFD?$/u);
  expect(mail?.subject.length).toBeLessThan(320);
});

describe("the queue of mails", () => {
  test("retries a temporary failure for a day, and logs only its status", async () => {
    const ctx = await givenMails();
    await givenMailed(ctx, "ada");
    ctx.relay.answers.push(...Array.from({ length: 200 }, () => FAILED));

    await whenEvent(ctx, "credits.low", LOW);
    await whenMinutesPass(ctx, 23 * 60);
    expect(listMails(ctx)).toHaveLength(1);
    await whenMinutesPass(ctx, 2 * 60);

    expect(listMails(ctx)).toEqual([]);
    const given = ctx.logged.filter(({ event }) => event === "mail_given_up");
    expect(given).toMatchObject([{ fields: { status: "451 4.7.1" } }]);
    expect(200 - ctx.relay.answers.length).toBeGreaterThan(8);
  });

  test("sends a mail once after a temporary failure", async () => {
    const ctx = await givenMails();
    await givenMailed(ctx, "ada");
    ctx.relay.answers.push(FAILED, FAILED);

    await whenEvent(ctx, "credits.low", LOW);
    await whenMinutesPass(ctx, 25 * 60);

    expect(listRecipients(ctx)).toEqual(["ada"]);
  });

  test("ends a mail that the relay refuses, and logs no address", async () => {
    const ctx = await givenMails();
    await givenMailed(ctx, "ada");
    ctx.relay.answers.push({ kind: "refused", reply: "550 5.1.1 <ada@people.example> unknown" });

    await whenEvent(ctx, "credits.low", LOW);
    await whenMinutesPass(ctx, 25 * 60);

    expect(ctx.relay.sent).toEqual([]);
    expect(listMails(ctx)).toEqual([]);
    expect(ctx.logged).toContainEqual(
      expect.objectContaining({
        event: "mail_refused",
        fields: expect.objectContaining({ status: "550 5.1.1" }),
      }),
    );
    expect(JSON.stringify(ctx.logged)).not.toContain("people.example");
  });

  test("sends at most 20 mails of an account in a day", async () => {
    const ctx = await givenMails();
    await givenMailed(ctx, "ada");
    await givenMailed(ctx, "bo");

    for (let count = 0; count < 15; count++) await whenEvent(ctx, "credits.low", LOW);
    expect(ctx.relay.sent).toHaveLength(20);
    ctx.later(86_400_000);
    await whenEvent(ctx, "credits.low", LOW);

    expect(ctx.relay.sent).toHaveLength(22);
  });

  test("sends at most 20 mails to an address in a day, of all accounts", async () => {
    const ctx = await givenMails();
    const ada = await givenMailed(ctx, "ada");
    const person = await findPerson(ctx.table, ada);
    for (let count = 0; count < 18; count++) await whenEvent(ctx, "credits.low", LOW);
    const other = { ...ctx, account: "acc_2" };
    await ctx.table.transact([
      {
        create: {
          pk: "ACCOUNT#acc_2",
          sk: "ACCOUNT",
          account: "acc_2",
          name: "Other",
          plan: "pro",
          createdAt: "2026-01-01",
        },
      },
    ]);
    await givenMailed(other, "ada");
    expect(person?.email).toBe("ada@people.example");

    for (let count = 0; count < 5; count++) await whenEvent(other, "credits.low", LOW);

    expect(ctx.relay.sent).toHaveLength(20);
  });

  test("sends a mail again, with its Message-ID, after a kill between the relay's answer and the record", async () => {
    const ctx = await givenMails();
    await givenMailed(ctx, "ada");
    let isKilled = false;
    const isRecord = (write: Write) =>
      ctx.relay.sent.length === 1 && "remove" in write && write.remove.pk.startsWith("MAIL#");
    const world = withTable(ctx, {
      transact: async (writes, attempt) => {
        if (isKilled || writes.some(isRecord)) {
          isKilled = true;
          throw new Error("killed");
        }
        return ctx.table.transact(writes, attempt);
      },
    });

    await whenEvent({ ...ctx, world }, "credits.low", LOW);
    expect(isKilled).toBe(true);
    await whenMinutesPass(ctx, 30);

    const ids = ctx.relay.sent.map(({ messageId }) => messageId);
    expect(ids).toHaveLength(2);
    expect(new Set(ids).size).toBe(1);
    expect(listMails(ctx)).toEqual([]);
  });

  test("finds a mail whose message was lost, and sends it once however often the message comes", async () => {
    const ctx = await givenMails();
    await givenMailed(ctx, "ada");
    const sendMany = ctx.queue.sendMany.bind(ctx.queue);
    const lossy = { ...ctx.queue, sendMany: async () => ["refused" as const] };
    await whenEvent({ ...ctx, world: { ...ctx.world, queue: lossy } }, "credits.low", LOW);
    expect(ctx.relay.sent).toEqual([]);

    const twice: typeof sendMany = async (name, messages) => {
      await sendMany(name, messages);
      return sendMany(name, messages);
    };
    const doubled = { ...ctx, world: { ...ctx.world, queue: { ...ctx.queue, sendMany: twice } } };
    await whenMinutesPass(doubled, 30);

    expect(listRecipients(ctx)).toEqual(["ada"]);
  });
});

describe("the Monday letter", () => {
  const HOURS_OF_WEEK = 7 * 24;
  const isLetter = ({ subject }: OutgoingMail) => subject.includes("the week to");

  test("comes once a week, on Monday after 07:00 UTC, also after weeks without events and with crashes", async () => {
    const ctx = await givenMails();
    await givenMailed(ctx, "ada");
    let calls = 0;
    const world = withTable(ctx, {
      transact: async (writes, attempt) => {
        // Each third transaction ends with a crash, half of them after it has committed.
        if (++calls % 3 !== 0) return ctx.table.transact(writes, attempt);
        if (calls % 2 === 0) await ctx.table.transact(writes, attempt);
        throw new Error("killed");
      },
    });

    await whenHoursPass({ ...ctx, world }, 4 * HOURS_OF_WEEK);

    const letters = new Map(
      ctx.relay.sent.filter(isLetter).map((mail) => [mail.messageId, mail] as const),
    );
    expect([...letters.values()].map(({ subject }) => subject)).toEqual([
      "Ann's Shop, the week to 2026-11-22: 0 verifications",
      "Ann's Shop, the week to 2026-11-29: 0 verifications",
      "Ann's Shop, the week to 2026-12-06: 0 verifications",
      "Ann's Shop, the week to 2026-12-13: 0 verifications",
    ]);
    for (const { date } of letters.values()) {
      expect(date.getUTCDay()).toBe(1);
      expect(date.getUTCHours()).toBeGreaterThanOrEqual(7);
    }
  });

  test("goes once to each owner and admin, although the schedule runs each hour", async () => {
    const ctx = await givenMails();
    await givenMailed(ctx, "ada");
    await givenMailed(ctx, "bo", "admin");
    await givenMailed(ctx, "cy", "member");

    await whenHoursPass(ctx, 2 * HOURS_OF_WEEK);

    expect(listRecipients(ctx)).toEqual(["ada", "ada", "bo", "bo"]);
  });

  test("is made up for until Wednesday, and not later", async () => {
    const late = await givenMails();
    await givenMailed(late, "ada");
    late.later((2 * 24 + 40) * 3_600_000);
    await queueLetters.run(late.world);
    await whenWorked(late);
    expect(late.relay.sent).toHaveLength(1);

    const tooLate = await givenMails();
    await givenMailed(tooLate, "ada");
    tooLate.later((2 * 24 + 60) * 3_600_000);
    await queueLetters.run(tooLate.world);
    await whenWorked(tooLate);
    expect(tooLate.relay.sent).toEqual([]);
  });

  test("counts the verifications and their cost, and names new sources and what stands between a domain and reject", async () => {
    const ctx = await givenMails();
    await givenMailed(ctx, "ada");
    await whenVerified(ctx.world, ctx.liveKey, { email: "ann@x.com" });
    const old = { ip: "192.0.2.1", count: 10 };
    for (const daysBefore of [12, 5])
      await uploadReport(ctx.world, ctx.liveKey, { daysBefore, records: [old] });
    await uploadReport(ctx.world, ctx.liveKey, {
      daysBefore: 4,
      records: [old, { ip: "192.0.2.7", count: 3, dkim: "fail", spf: "fail" }],
    });
    await whenWorked(ctx);

    await whenHoursPass(ctx, 3 * 24);

    const text = ctx.relay.sent.find(isLetter)?.text ?? "";
    expect(text).toContain("This was the week from 2026-11-16 to 2026-11-22 (UTC) in Ann's Shop.");
    expect(text).toMatch(/1 verification, at a cost of 1 credit:\n\n- 1 /);
    expect(text).toContain("Balance: 999 credits.");
    expect(text).toContain("- example.com: 192.0.2.7, 3 messages, 0 aligned");
    expect(text).not.toContain("192.0.2.1,");
    expect(text).toMatch(
      /- example\.com \(policy: none\): The domain was not checked yet\..+Next: /,
    );
  });
});

describe("the link that ends mails", () => {
  const readLink = ({ relay }: MailContext): URL => {
    const link = relay.sent.at(-1)?.fields["List-Unsubscribe"] ?? "";
    return new URL(link.slice(1, -1));
  };
  const post = (ctx: MailContext, query: Readonly<Record<string, string>>) =>
    send(ctx.world, "POST /v1/mail/unsubscribe", {
      query,
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: "List-Unsubscribe=One-Click",
    });

  test("ends the mails of its person with one click and without a sign-in, until the person wants them again", async () => {
    const ctx = await givenMails();
    await givenMailed(ctx, "ada");
    await givenMailed(ctx, "bo");
    await whenEvent(ctx, "credits.low", LOW);
    const mail = ctx.relay.sent.at(-1);
    expect(mail?.fields).toMatchObject({
      "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
      "List-Id": "Mailproof <notices.mailproof.example>",
      "Auto-Submitted": "auto-generated",
    });
    const url = readLink(ctx);
    expect(url.pathname).toBe("/v1/mail/unsubscribe");
    const token = url.searchParams.get("token") ?? "";
    const name = mail?.to.replace("@people.example", "") ?? "";

    expect(await post(ctx, { token })).toMatchObject({ statusCode: 200, data: { mail: "off" } });
    await whenEvent(ctx, "credits.low", LOW);
    expect(listRecipients(ctx).filter((one) => one === name)).toHaveLength(1);

    expect(await post(ctx, { token, mail: "on" })).toMatchObject({ data: { mail: "on" } });
    await whenEvent(ctx, "credits.low", LOW);
    expect(listRecipients(ctx).filter((one) => one === name)).toHaveLength(2);
  });

  test("ends a mail that waits for another attempt, too", async () => {
    const ctx = await givenMails();
    const ada = await givenMailed(ctx, "ada");
    ctx.relay.answers.push(FAILED);
    await whenEvent(ctx, "credits.low", LOW);
    expect(await post(ctx, { token: signMailToken(ctx.world.settings, ada) })).toMatchObject({
      data: { mail: "off" },
    });
    await whenMinutesPass(ctx, 25 * 60);

    expect(ctx.relay.sent).toEqual([]);
    expect(listMails(ctx)).toEqual([]);
  });

  test("answers 404 to a token that this service did not sign", async () => {
    const ctx = await givenMails();
    await givenMailed(ctx, "ada");
    await whenEvent(ctx, "credits.low", LOW);
    const token = readLink(ctx).searchParams.get("token") ?? "";
    const changed = `${token.startsWith("A") ? "B" : "A"}${token.slice(1)}`;

    expect(await post(ctx, { token: changed })).toMatchObject({ statusCode: 404 });
    expect(await post(ctx, {})).toMatchObject({ statusCode: 400 });
  });
});

describe("an invitation with an address", () => {
  test("is mailed with its link, which works once, and stored without it", async () => {
    const owner = await givenInviter();
    const browser = createBrowser(owner.world, owner.browser.getCookie());

    const invited = await browser.send("POST /v1/invitations", {
      account: owner.account,
      body: { role: "admin", email: "new@people.example" },
    });
    expect(invited).toMatchObject({ statusCode: 201, data: { mailed: true } });
    const token = (invited.data.url as string).split("#")[1] ?? "";
    expect(JSON.stringify(owner.table.items())).not.toContain(token);
    await whenWorked(owner);

    const [mail] = owner.relay.sent;
    expect(mail).toMatchObject({ to: "new@people.example", subject: "Invitation to Lovelace Ltd" });
    expect(mail?.text).toContain(`${PUBLIC_URL}/app/link#${token}`);
    expect(mail?.fields).toEqual({ "Auto-Submitted": "auto-generated" });
    const joined = await createBrowser(owner.world).send("POST /v1/sign-in/link", {
      body: { token, accept: true, name: "New" },
    });
    expect(joined.statusCode).toBe(200);
  });

  test("is refused for an address in angle brackets, which no provider returns", async () => {
    const { browser, account } = await givenOwner();

    const body = { role: "admin", email: "<new@people.example>" };
    expect(await browser.send("POST /v1/invitations", { account, body })).toMatchObject({
      statusCode: 400,
      error: { details: [{ field: "email", message: "must be an email address" }] },
    });
  });

  test("is not mailed once it was withdrawn", async () => {
    const owner = await givenInviter();
    const browser = createBrowser(owner.world, owner.browser.getCookie());
    const { data } = await browser.send("POST /v1/invitations", {
      account: owner.account,
      body: { role: "viewer", email: "new@people.example" },
    });
    await browser.send(`DELETE /v1/invitations/${data.invitation_id}`, { account: owner.account });
    await whenReconciled(owner);
    await whenWorked(owner);

    expect(owner.relay.sent).toEqual([]);
  });

  test("is only a link where no relay is set", async () => {
    const owner = await givenOwner();
    const { data } = await owner.browser.send("POST /v1/invitations", {
      account: owner.account,
      body: { role: "viewer", email: "new@people.example" },
    });
    expect(data.mailed).toBe(false);
  });
});
