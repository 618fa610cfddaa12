import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { createList } from "@mailproof/mail/blocklists/lists";
import type { Dns } from "@mailproof/mail/dns/dns";
import { type AssessmentPorts, assessMessage } from "@mailproof/mail/message/assess";
import { readMessage } from "@mailproof/mail/message/read-message";
import type { ReceivedMessage } from "@mailproof/mail/message/received-message";
import { dkimSign } from "mailauth/lib/dkim/sign.js";
import { createZoneDns, type Zone } from "../app/zone.ts";

export const NOW = new Date("2026-11-23T12:00:00.000Z");
export const IP = "8.8.8.10";
export const LIST = "bl.test";

export type SigningPair = { readonly privateKey: KeyObject; readonly record: string };

/** A key and the record that publishes it. */
export const createRsa = (bits: number): SigningPair => {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: bits });
  const p = publicKey.export({ type: "spki", format: "der" }).toString("base64");
  return { privateKey, record: `v=DKIM1; k=rsa; p=${p}` };
};

export const createEd25519 = (): SigningPair => {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const p = publicKey.export({ type: "spki", format: "der" }).subarray(-32).toString("base64");
  return { privateKey, record: `v=DKIM1; k=ed25519; p=${p}` };
};

export const KEY = createRsa(2048);

/** A sender without fault. */
export const GOOD: Zone = {
  "example.com": {
    MX: ["10 mx1.example.com", "20 mx2.example.com"],
    NS: ["ns1.example.net", "ns2.example.net"],
    TXT: [`v=spf1 ip4:${IP} -all`],
  },
  "mx1.example.com": { A: ["8.8.8.8"] },
  "mx2.example.com": { A: ["1.1.1.1"] },
  "s1._domainkey.example.com": { TXT: [KEY.record] },
  "_dmarc.example.com": { TXT: ["v=DMARC1; p=reject; np=reject; rua=mailto:d@example.com"] },
  "10.8.8.8.in-addr.arpa": { PTR: ["out.example.com"] },
  "out.example.com": { A: [IP], TXT: [`v=spf1 ip4:${IP} -all`] },
  [`2.0.0.127.${LIST}`]: { A: ["127.0.0.2"] },
};

const FIELDS = {
  From: "Ann Lee <ann@example.com>",
  To: "bob@example.net",
  Subject: "Your order has left our store",
  Date: "Mon, 23 Nov 2026 11:59:00 +0000",
  "Message-ID": "<1.2.3@example.com>",
  "MIME-Version": "1.0",
  "List-Unsubscribe": "<https://example.com/u/1>, <mailto:u@example.com>",
  "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
};

const TEXT =
  "Hello Bob,\r\n\r\nyour order has left our store today. See https://example.com/o/1.\r\n";

export type MailOptions = {
  /** Null takes a field out. */
  readonly fields?: Readonly<Record<string, string | null>>;
  readonly body?: string;
};

/** A mail as its author's program makes it. */
export const writeMail = ({ fields = {}, body = TEXT }: MailOptions = {}): string => {
  const lines = Object.entries({ ...FIELDS, ...fields }).flatMap(([name, value]) =>
    value === null ? [] : [`${name}: ${value}`],
  );
  return `${lines.join("\r\n")}\r\n\r\n${body}`;
};

const SIGNED =
  "From:To:Subject:Date:Message-ID:MIME-Version:List-Unsubscribe:List-Unsubscribe-Post";

/** The same mail with a signature above it. */
export const sign = async (
  mail: string,
  {
    key = KEY,
    domain = "example.com",
    selector = "s1",
    ...more
  }: Readonly<Record<string, unknown>> & {
    readonly key?: SigningPair;
    readonly domain?: string;
    readonly selector?: string;
  } = {},
): Promise<string> => {
  const signer = {
    signingDomain: domain,
    selector,
    privateKey: key.privateKey.export({ type: "pkcs8", format: "pem" }),
  };
  const { signatures, errors } = await dkimSign(Buffer.from(mail, "latin1"), {
    canonicalization: "relaxed/relaxed",
    signTime: new Date(NOW.getTime() - 60_000),
    headerList: SIGNED.split(":"),
    ...more,
    // The types of the package ask for these here, and its code reads the list.
    ...signer,
    signatureData: [{ ...more, ...signer }],
  });
  const [error] = errors;
  if (error) throw error.err;
  return signatures + mail;
};

const createAssessmentPorts = (dns: Dns): AssessmentPorts => ({
  now: () => NOW,
  sleep: () => new Promise<void>(() => {}),
  names: {
    dns,
    listDns: dns,
    dkimSelectors: [],
    allowed: [],
    blocklists: {
      listsFor: () => [createList(LIST), { ...createList(`d.${LIST}`), asks: "domain" }],
      keys: {},
      isHealthy: async () => true,
    },
  },
});

/** The report about a mail that one client sent. */
export const assess = (
  raw: string | Uint8Array,
  zone: Zone | Dns = GOOD,
  more: Partial<ReceivedMessage> = {},
) =>
  assessMessage(
    createAssessmentPorts(typeof zone === "function" ? zone : createZoneDns(zone)),
    {
      mailFrom: "bounce@example.com",
      helo: "out.example.com",
      ip: IP,
      tls: { version: "TLSv1.3", cipher: "TLS_AES_256_GCM_SHA384" },
      receivedAt: NOW,
      ...more,
    },
    readMessage(typeof raw === "string" ? Buffer.from(raw, "latin1") : raw),
  );
