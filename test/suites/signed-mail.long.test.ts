import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { GetMailTestData } from "@mailproof/client/types";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { Zone } from "../app/zone.ts";
import { findObstacle, type Running, startServer } from "../mail-servers/sandbox.ts";
import {
  createSigningPostfix,
  ELSEWHERE,
  NAMELESS,
  OUT,
  type Route,
  type SignedDomain,
  type Signer,
  toAddress,
} from "../mail-servers/signing-postfix.ts";
import { asRows } from "../runner/as-rows.ts";
import { describeUnless } from "../runner/describe-when.ts";
import { type DnsServer, serveZone } from "../servers/dns-server.ts";
import { closedPort } from "../servers/mail-servers.ts";
import { serveFile } from "../servers/running.ts";
import { dial } from "../servers/smtp-client.ts";
import { createRsa, type SigningPair } from "../things/mails.ts";

// The whole way of a test mail: from a program that wants to send, through Postfix and OpenDKIM as Debian has them, to the
// server, and what its report says. Every domain is in a zone of the test.

const MAIL_DOMAIN = "mail.example.com";
/** Longer than the signer called brief lets its signatures live. */
const LATE_MS = 2_500;

const STRONG = createRsa(2048);
const OTHER = createRsa(2048);
const MEDIUM = createRsa(1024);
const SHORT = createRsa(512);

/** How a domain signs, and what it publishes of that. */
type Sender = {
  readonly key?: SigningPair;
  /** The TXT record at its selector; none: it is not published. */
  readonly published?: string;
  /** d=. */
  readonly signsAs?: string;
  readonly dmarc?: string;
  readonly spf?: string;
};

const SPF = `v=spf1 ip4:${OUT} ip4:${NAMELESS} -all`;
const REJECT = "v=DMARC1; p=reject; rua=mailto:d@shop.example";

const SENDERS: Readonly<Record<string, Sender>> = {
  "shop.example": { published: STRONG.record },
  "medium.example": { key: MEDIUM, published: MEDIUM.record },
  "short.example": { key: SHORT, published: SHORT.record },
  "wrong.example": { published: OTHER.record },
  "revoked.example": { published: "v=DKIM1; k=rsa; p=" },
  "testing.example": { published: STRONG.record.replace("k=rsa", "k=rsa; t=y") },
  "broken.example": { published: "v=DKIM1; k=rsa; p=!" },
  "unpublished.example": {},
  "rented.example": { signsAs: "service.example" },
  "service.example": { published: STRONG.record },
  "relaxed.example": {
    published: STRONG.record,
    dmarc: "v=DMARC1; p=quarantine; rua=mailto:d@shop.example",
  },
  "news.relaxed.example": { signsAs: "relaxed.example" },
  "strict.example": { published: STRONG.record, dmarc: `${REJECT}; adkim=s; aspf=s` },
  "news.strict.example": { signsAs: "strict.example" },
  "lenient.example": {
    published: STRONG.record,
    dmarc: "v=DMARC1; p=none; rua=mailto:d@shop.example",
  },
  "open.example": { published: STRONG.record, spf: "" },
  "lawless.example": { published: STRONG.record, dmarc: "" },
  "silent.example": {},
};

const SELECTOR = "s1";

const toSigned = ([author, { key = STRONG, signsAs = author }]: [
  string,
  Sender,
]): SignedDomain => ({
  author,
  domain: signsAs,
  selector: SELECTOR,
  key: key.privateKey,
});

const toZone = ([name, { published, dmarc = REJECT, spf = SPF }]: [string, Sender]): Zone => ({
  [name]: {
    ...(spf !== "" && { TXT: [spf] }),
    MX: [`10 mx.${name}`],
    A: [OUT],
  },
  [`mx.${name}`]: { A: [OUT] },
  ...(published !== undefined && { [`${SELECTOR}._domainkey.${name}`]: { TXT: [published] } }),
  ...(dmarc !== "" && !name.startsWith("news.") && { [`_dmarc.${name}`]: { TXT: [dmarc] } }),
});

const toReverse = (ip: string) => `${ip.split(".").toReversed().join(".")}.in-addr.arpa`;

const ZONE: Zone = {
  ...Object.assign({}, ...Object.entries(SENDERS).map(toZone)),
  [`${SELECTOR}._domainkey.silent.example`]: "SERVFAIL",
  "out.shop.example": { A: [OUT], TXT: [SPF] },
  [toReverse(OUT)]: { PTR: ["out.shop.example"] },
  "other.example": { A: [ELSEWHERE] },
  [toReverse(ELSEWHERE)]: { PTR: ["other.example"] },
};

const FIELDS = {
  To: "bob@example.net",
  Subject: "Your order  has left our store",
  "MIME-Version": "1.0",
  "List-Unsubscribe": "<https://shop.example/u/1>",
  "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
};

const BODY = "Hello Bob,\r\n\r\nyour order  has left our store today. \r\n\r\nAnn\r\n\r\n\r\n";

type Mail = {
  readonly signer?: Signer;
  readonly route?: Route;
  readonly from?: string;
  readonly mailFrom?: string;
  /** Null takes a field out; several are as many fields. */
  readonly fields?: Readonly<Record<string, string | readonly string[] | null>>;
  readonly body?: string;
};

const writeMail = ({ from = "shop.example", fields = {}, body = BODY }: Mail): string => {
  const all = {
    From: `Ann <news@${from}>`,
    Date: new Date().toUTCString().replace("GMT", "+0000"),
    "Message-ID": `<${crypto.randomUUID()}@${from}>`,
    ...FIELDS,
    ...fields,
  };
  const lines = Object.entries(all).flatMap(([name, value]) =>
    [value ?? []].flat().map((one) => `${name}: ${one}`),
  );
  return `${lines.join("\r\n")}\r\n\r\n${body}`;
};

type Expected = {
  readonly dkim?: readonly string[];
  readonly spf?: string;
  readonly dmarc?: string;
  readonly findings?: readonly string[];
};

const RIGHT: Required<Expected> = { dkim: ["pass"], spf: "pass", dmarc: "pass", findings: [] };

/** DMARC passes by SPF, and the fields of one click are signed by nothing valid. */
const BY_SPF_ALONE = ["DMARC_SPF_ONLY", "UNSUBSCRIBE_UNSIGNED"];
const FAILING = ["DMARC_FAIL", "UNSUBSCRIBE_UNSIGNED"];

/** The only signature does not pass. */
const unsigned = (result: string, finding: string): Expected => ({
  dkim: [result],
  findings: [finding, ...BY_SPF_ALONE],
});

const CASES: readonly (readonly [name: string, mail: Mail, expected: Expected])[] = asRows`
  // What is right.
  relaxed/relaxed | ${{}} | ${{}}
  simple/simple | ${{ signer: "simple" }} | ${{}}
  relaxed/simple | ${{ signer: "mixed" }} | ${{}}
  an empty body, simple | ${{ signer: "simple", body: "" }} | ${{ findings: ["BODY_EMPTY"] }}
  an empty body, relaxed | ${{ body: "\r\n\r\n" }} | ${{ findings: ["BODY_EMPTY"] }}
  lines that begin with a dot | ${{ signer: "simple", body: "..\r\n..a\r\n" }} | ${{}}
  white space that a relay changed, relaxed | ${{ route: "respaced" }} | ${{}}
  a folded field | ${{ fields: { Subject: "Your order\r\n has left\r\n\tour store" }, signer: "simple" }} | ${{}}
  relaxed alignment: the parent domain signs | ${{ from: "news.relaxed.example" }} | ${{}}
  no Date and no Message-ID: Postfix adds them before OpenDKIM signs | ${{ fields: { Date: null, "Message-ID": null } }} | ${{}}
  // What is broken.
  no signature | ${{ signer: "nothing" }} | ${{ dkim: [], findings: ["DKIM_NONE", ...BY_SPF_ALONE] }}
  another host | ${{ route: "elsewhere" }} | ${{ spf: "fail", findings: ["SPF_FAIL", "DMARC_DKIM_ONLY"] }}
  no signature, from another host | ${{ signer: "nothing", route: "elsewhere" }}
    | ${{ dkim: [], spf: "fail", dmarc: "fail", findings: ["DKIM_NONE", "SPF_FAIL", ...FAILING] }}
  a signature of another domain | ${{ from: "rented.example" }} | ${{ findings: ["DMARC_SPF_ONLY"] }}
  a signature and a bounce address of another domain | ${{ from: "rented.example", mailFrom: "bounce@service.example" }}
    | ${{ dmarc: "fail", findings: ["DMARC_FAIL"] }}
  strict alignment: the parent domain signs | ${{ from: "news.strict.example", mailFrom: "bounce@strict.example" }} | ${{ dmarc: "fail", findings: ["DMARC_FAIL"] }}
  a body that was changed after it was signed | ${{ route: "footer" }} | ${unsigned("fail", "DKIM_BODY")}
  a subject that was changed after it was signed | ${{ route: "tagged" }} | ${unsigned("fail", "DKIM_SIGNATURE")}
  white space that a relay changed, simple | ${{ route: "respaced", signer: "simple" }} | ${unsigned("fail", "DKIM_SIGNATURE")}
  a changed body from another host | ${{ route: "changedElsewhere" }}
    | ${{ dkim: ["fail"], spf: "fail", dmarc: "fail", findings: ["DKIM_BODY", "SPF_FAIL", ...FAILING] }}
  text below what l= covers | ${{ signer: "partly", route: "appended", body: `${BODY} \t\r\n` }} | ${{ findings: ["DKIM_LENGTH"] }}
  a key that is not the signer's | ${{ from: "wrong.example" }} | ${unsigned("fail", "DKIM_SIGNATURE")}
  a key that is not published | ${{ from: "unpublished.example" }} | ${unsigned("neutral", "DKIM_KEY_MISSING")}
  a revoked key | ${{ from: "revoked.example" }} | ${unsigned("neutral", "DKIM_KEY_REVOKED")}
  a malformed key | ${{ from: "broken.example" }} | ${unsigned("neutral", "DKIM_KEY_BAD")}
  a key whose name servers do not answer | ${{ from: "silent.example" }} | ${{ dkim: ["temperror"], findings: ["DKIM_UNANSWERED"] }}
  a key of 512 bits | ${{ from: "short.example" }} | ${unsigned("policy", "DKIM_KEY_SHORT")}
  a key of 1024 bits | ${{ from: "medium.example" }} | ${{ findings: ["DKIM_1024"] }}
  a key in test mode | ${{ from: "testing.example" }} | ${{ findings: ["DKIM_TESTING"] }}
  a signature that has expired | ${{ signer: "brief", route: "late" }} | ${unsigned("neutral", "DKIM_EXPIRED")}
  rsa-sha1 | ${{ signer: "sha1" }} | ${unsigned("policy", "DKIM_SHA1")}
  no TLS | ${{ route: "plain" }} | ${{ findings: ["TLS_MISSING"] }}
  an address without a name, and a HELO name without an address | ${{ route: "nameless" }} | ${{ findings: ["PTR_MISSING", "HELO_UNRESOLVED"] }}
  two From fields | ${{ fields: { From: ["Ann <news@shop.example>", "Eve <eve@wrong.example>"] } }}
    | ${{ dmarc: "permerror", findings: ["DMARC_NO_AUTHOR", "FROM_SEVERAL"] }}
  no way to unsubscribe | ${{ fields: { "List-Unsubscribe": null, "List-Unsubscribe-Post": null } }} | ${{ findings: ["UNSUBSCRIBE_MISSING"] }}
  no way to unsubscribe with one click | ${{ fields: { "List-Unsubscribe-Post": null } }} | ${{ findings: ["UNSUBSCRIBE_NOT_ONE_CLICK"] }}
  one click that OpenDKIM does not sign by default | ${{ signer: "usual" }} | ${{ findings: ["UNSUBSCRIBE_UNSIGNED"] }}
  no SPF record | ${{ from: "open.example" }} | ${{ spf: "none", findings: ["SPF_NONE", "DMARC_DKIM_ONLY"] }}
  no DMARC record | ${{ from: "lawless.example" }} | ${{ dmarc: "none", findings: ["DMARC_MISSING"] }}
  a policy of none | ${{ from: "lenient.example" }} | ${{ findings: ["DMARC_NONE"] }}
`;

const OBSTACLE = findObstacle({ debian: "postfix", beside: ["opendkim"] });

describeUnless(OBSTACLE, "mail that Postfix sends and OpenDKIM signs", () => {
  let dns: DnsServer;
  let mailPort: number;
  let slow: Server;
  let postfix: Running;
  const { server } = serveFile(async () => {
    dns = await serveZone(ZONE);
    mailPort = await closedPort();
    return {
      MAIL_DOMAIN,
      MAIL_PORT: String(mailPort),
      DNS_SERVERS: dns.address,
      BLOCKLISTS: "bl.example",
    };
  });
  beforeAll(async () => {
    // The receiver as Postfix would meet it behind a slow network.
    slow = createServer((client) => {
      client.on("error", () => client.destroy());
      void sleep(LATE_MS).then(() => {
        const receiver = connect({ host: "127.0.0.1", port: mailPort, localAddress: OUT });
        receiver.on("error", () => client.destroy());
        client.pipe(receiver).pipe(client);
      });
    }).listen(0, "127.0.0.1");
    await once(slow, "listening");
    const slowPort = (slow.address() as AddressInfo).port;
    const domains = Object.entries(SENDERS).map(toSigned);
    postfix = await startServer(createSigningPostfix(domains, { port: mailPort, slowPort }));
  });
  afterAll(async () => {
    await postfix.stop();
    slow.close();
    await dns.close();
  });

  const call = async (method: string, path: string) => {
    const { ready } = await server;
    const response = await fetch(`${ready.base_url}/v1/deliverability/tests${path}`, {
      method,
      headers: { authorization: `Bearer ${ready.live_key}` },
    });
    return ((await response.json()) as { readonly data: GetMailTestData }).data;
  };

  const submit = async (mail: Mail, recipient: string): Promise<void> => {
    const { signer = "relaxed", route = "direct", from = "shop.example" } = mail;
    const client = await dial(toAddress(signer, route), postfix.port);
    await client.reply();
    await client.say("EHLO app.shop.example");
    await client.say(`MAIL FROM:<${mail.mailFrom ?? `bounce@${from}`}>`);
    await client.say(`RCPT TO:<${recipient}>`);
    await client.say("DATA");
    client.send(`${writeMail(mail)}.\r\n`);
    expect(await client.reply(20_000)).toMatch(/^250 /);
    client.close();
  };

  /** The report about a mail that was sent so. */
  const send = async (mail: Mail) => {
    const { test_id: id, address } = await call("POST", "");
    await submit(mail, address);
    return await vi.waitFor(
      async () => {
        const { status, report } = await call("GET", `/${id}`);
        if (status !== "received" || !report) throw new Error(`it is ${status}`);
        return report;
      },
      { timeout: 60_000, interval: 100 },
    );
  };

  test.each(CASES)(
    "the report states the expected results of the mail: %s",
    async (_, mail, expected) => {
      const report = await send(mail);

      expect({
        dkim: report.dkim.map(({ result }) => result),
        spf: report.spf?.result,
        dmarc: report.dmarc.result,
        findings: report.findings.map(({ id }) => id).toSorted(),
      }).toEqual({ ...RIGHT, ...expected, findings: (expected.findings ?? []).toSorted() });
    },
  );
});
