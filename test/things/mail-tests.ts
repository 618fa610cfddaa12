import type { AppWorld } from "@mailproof/core/app-world";
import type { CheckWorld } from "@mailproof/core/deliverability/dns-lookups";
import { acceptMail } from "@mailproof/core/deliverability/inbound-mail";
import type { ReceivedMessage } from "@mailproof/mail/message/received-message";
import { send, type TestResponse } from "../app/send.ts";

export const TESTS = "/v1/deliverability/tests";

/** One test, under an Idempotency-Key or without one. */
export const whenTestCreated = (
  world: AppWorld,
  key: string,
  idempotencyKey?: string,
): Promise<TestResponse> =>
  send(world, `POST ${TESTS}`, {
    key,
    ...(idempotencyKey !== undefined && { headers: { "idempotency-key": idempotencyKey } }),
  });

export const readTest = (world: AppWorld, key: string, id: string): Promise<TestResponse> =>
  send(world, `GET ${TESTS}/${id}`, { key });

/** A mail as a receiver would have it from its client. */
export const createMail = (
  now: Date,
  { from = "news@shop.example", ...envelope }: Partial<ReceivedMessage> & { from?: string } = {},
): ReceivedMessage => ({
  raw: Buffer.from(
    `From: Ann <${from}>\r\nTo: <x@mail.example.com>\r\nSubject: Hello\r\nDate: Sat, 21 Nov 2026 00:00:00 +0000\r\nMessage-ID: <1@shop.example>\r\n\r\nHello.\r\n`,
  ),
  mailFrom: from,
  helo: "out.shop.example",
  ip: "192.0.2.1",
  receivedAt: now,
  ...envelope,
});

/** A mail arrives at this address. */
export const whenMailArrives = (
  world: CheckWorld,
  address: string,
  mail: ReceivedMessage = createMail(world.now()),
) => acceptMail(world, address, mail);
