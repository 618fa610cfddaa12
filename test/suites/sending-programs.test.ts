import { findMail } from "@mailproof/core/deliverability/mail-tests/items";
import { MAIL_LIMITS } from "@mailproof/local/mail-receiver/limits";
import { type MailReceiver, startMailReceiver } from "@mailproof/local/mail-receiver/mail-receiver";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { given } from "../app/given.ts";
import { SENDING_PROGRAMS, type SentMail } from "../mail-servers/sending-programs.ts";
import { describeUnless } from "../runner/describe-when.ts";
import { HOST } from "../servers/mail-servers.ts";
import { whenTestCreated } from "../things/mail-tests.ts";

// What mail servers and programs send arrives as it was sent, byte by byte, with TLS and without.

const MAIL_DOMAIN = "mail.example.com";

const BODIES: readonly (readonly [name: string, body: Buffer])[] = [
  ["a short text", Buffer.from("Hello Bob,\r\n\r\nbye.\r\n")],
  ["lines of dots", Buffer.from(".\r\n..\r\n...x\r\n.x\r\n\r\n.\r\n")],
  ["a text of 8 bits", Buffer.from("Gr\u00fc\u00dfe aus K\u00f6ln\r\n\u{1f600}\r\n")],
  ["lines of 998 octets", Buffer.from(`${"x".repeat(998)}\r\n`.repeat(20))],
  ["three megabytes", Buffer.from(`${"0123456789abcdef".repeat(4)}\r\n`.repeat(48_000))],
  ["line ends alone", Buffer.from("\r\n\r\n\r\n")],
];

const writeMail = (body: Buffer): Buffer =>
  Buffer.concat([
    Buffer.from(
      "From: Ann <news@shop.example>\r\nTo: bob@example.net\r\nSubject: Hello\r\nDate: Sat, 21 Nov 2026 00:00:00 +0000\r\nMessage-ID: <1@shop.example>\r\nMIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\n",
    ),
    body,
  ]);

for (const program of SENDING_PROGRAMS)
  for (const usesTls of [true, false])
    describeUnless(
      program.absence(),
      `${program.name}, ${usesTls ? "with TLS" : "without TLS"}`,
      () => {
        let ctx: Awaited<ReturnType<typeof given>>;
        let receiver: MailReceiver;
        let sender: Awaited<ReturnType<typeof program.start>>;
        beforeAll(async () => {
          ctx = await given({ balance: 1_000 });
          const options = { MAIL_PORT: 0, MAIL_HOST: HOST, MAIL_TLS_FILE: undefined };
          receiver = await startMailReceiver(ctx.world, MAIL_DOMAIN, options, MAIL_LIMITS);
          sender = await program.start(receiver.port, usesTls);
        });
        afterAll(async () => {
          await sender.stop();
          await receiver.stop();
        });

        const send = async (mail: Omit<SentMail, "to">) => {
          const { data } = await whenTestCreated(ctx.world, ctx.liveKey);
          await sender.send({ ...mail, to: data.address });
          const stored = await vi.waitFor(
            async () => {
              const found = await findMail(ctx.world.table, data.test_id);
              if (!found) throw new Error("no mail arrived");
              return found;
            },
            { timeout: 60_000, interval: 50 },
          );
          const found = await ctx.blobs.get(stored.blob);
          const raw = Buffer.concat(found ? await Array.fromAsync(found.content) : []);
          return { stored, body: raw.subarray(raw.indexOf("\r\n\r\n") + 4) };
        };

        test.each(BODIES)("the service receives %s as it was sent", async (_, body) => {
          const { stored, body: arrived } = await send({
            from: "bounce@shop.example",
            raw: writeMail(body),
          });

          expect(arrived.equals(body)).toBe(true);
          expect(stored).toMatchObject({
            mailFrom: "bounce@shop.example",
            helo: "out.shop.example",
            ip: HOST,
          });
          const { tls } = stored;
          expect(typeof tls === "object" ? tls.version : tls).toBe(usesTls ? "TLSv1.3" : undefined);
        });

        test.each(program.usesUtf8 ? ["gr\u00fc\u00dfe@shop.example"] : [])(
          "the service receives the sender %s as it is",
          async (from) => {
            const { stored } = await send({ from, raw: writeMail(Buffer.from("Hello\r\n")) });

            expect(stored.mailFrom).toBe(from);
          },
        );
      },
    );
