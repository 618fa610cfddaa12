import type { DnsLookups } from "@mailproof/mail/dns/lookups";
import type { ReceivedMessage } from "@mailproof/mail/message/received-message";
import { createSandboxLookups } from "../sandbox.ts";
import type { MailTest } from "./items.ts";

// The mail of a test key arrives automatically from a correctly set-up domain. The service assesses it like every other mail.

const DOMAIN = "example.com";
/** An address for documentation (RFC 5737). */
const IP = "192.0.2.1";

export const createSandboxMail = ({ address }: MailTest, now: Date): ReceivedMessage => ({
  raw: Buffer.from(
    [
      `Date: ${toMailDate(now)}`,
      `From: Ann's Shop <news@${DOMAIN}>`,
      `To: <${address}>`,
      "Subject: Your order is on its way",
      `Message-ID: <${now.getTime()}@${DOMAIN}>`,
      "MIME-Version: 1.0",
      "Content-Type: text/plain; charset=utf-8",
      "",
      "Your order left our shop today.",
      "",
    ].join("\r\n"),
  ),
  mailFrom: `news@${DOMAIN}`,
  helo: `out.${DOMAIN}`,
  ip: IP,
  tls: { version: "TLSv1.3", cipher: "TLS_AES_256_GCM_SHA384" },
  receivedAt: now,
});

/** Such as "Sat, 21 Nov 2026 00:00:00 +0000" (RFC 5322 §3.3). */
const toMailDate = (at: Date): string => at.toUTCString().replace("GMT", "+0000");

export const createSandboxMailLookups = (): DnsLookups =>
  createSandboxLookups({ domain: DOMAIN, sendingIp: IP });
