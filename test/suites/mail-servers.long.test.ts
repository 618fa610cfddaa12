import { classify } from "@mailproof/mail/smtp/classify";
import { type SessionOutcome, trySession } from "@mailproof/mail/smtp/connect";
import { connectDirectly } from "@mailproof/net/smtp-wire";
import { afterAll, beforeAll, expect, test } from "vitest";
import { POSTFIX } from "../mail-servers/postfix.ts";
import {
  CERT_FILE,
  findObstacle,
  KEY_FILE,
  type Recipe,
  type Running,
  startServer,
} from "../mail-servers/sandbox.ts";
import { asRows } from "../runner/as-rows.ts";
import { describeUnless } from "../runner/describe-when.ts";
import { HOST } from "../servers/mail-servers.ts";

const formatOpensmtpdConfig = (port: number) => `
pki mx.here.test cert "${CERT_FILE}"
pki mx.here.test key "${KEY_FILE}"
filter grey phase rcpt-to match rcpt-to { "grey@here.test" } reject "451 4.7.1 Greylisted"
filter disabled phase rcpt-to match rcpt-to { "disabled@here.test" } reject "550 5.2.1 Mailbox disabled"
filter full phase rcpt-to match rcpt-to { "full@here.test" } reject "452 4.2.2 Mailbox full"
filter all chain { grey disabled full }
listen on 127.0.0.1 port ${port} tls pki mx.here.test hostname mx.here.test filter all
table everybody { "@" = ann }
table few { "ann@virtual.test" = ann }
action own mbox
action everybody mbox virtual <everybody>
action few mbox virtual <few>
match from any for domain "here.test" action own
match from any for domain "all.test" action everybody
match from any for domain "virtual.test" action few
`;

const OPENSMTPD: Recipe = {
  debian: "opensmtpd",
  accounts: ["opensmtpd", "opensmtpq", "ann", "bob"],
  files: (port) => ({ "/etc/smtpd.conf": formatOpensmtpdConfig(port) }),
  start: () => `
mkdir -p /var/lib/opensmtpd/empty
chmod 600 ${KEY_FILE}
smtpd -d &
`,
};

const EXIM_CONFIG = `
primary_hostname = mx.here.test
domainlist ours = here.test : all.test
acl_smtp_rcpt = rcpt
tls_certificate = ${CERT_FILE}
tls_privatekey = ${KEY_FILE}

begin acl
rcpt:
  defer local_parts = grey
        message = Greylisted, come back
  defer local_parts = full
        message = 452 4.2.2 Mailbox full
  deny  local_parts = forbidden
  deny  domains = ! +ours
        message = relay not permitted
  require verify = recipient
  accept

begin routers
refused_or_deferred:
  driver = redirect
  allow_fail
  allow_defer
  data = \${if eq{$local_part}{disabled}{:fail: This mailbox is disabled}\\
         {\${if eq{$local_part}{later}{:defer: Not today}{}}}}
users:
  driver = accept
  domains = here.test
  local_parts = ann : bob
  transport = nowhere
everybody:
  driver = accept
  domains = all.test
  transport = nowhere

begin transports
nowhere:
  driver = appendfile
  file = /dev/null
`;

const EXIM: Recipe = {
  debian: "exim4-daemon-light",
  accounts: ["Debian-exim"],
  files: () => ({ "/etc/exim4/exim4.conf": EXIM_CONFIG }),
  start: (port) => `
mkdir -p /var/spool/exim4 /var/log/exim4
chown -R Debian-exim:Debian-exim /var/spool/exim4 /var/log/exim4 /etc/mail-test
exim4 -bd -oX 127.0.0.1.${port} -oP "" &
`,
};

const SESSION_MS = 20_000;
const START_MS = 30_000;
const RANDOM_RECIPIENTS = new Map([
  ["here.test", "qz7wk1v0x5@here.test"],
  ["all.test", "qz7wk1v0x5@all.test"],
]);

const ask = (port: number, recipients: readonly string[]): Promise<SessionOutcome> =>
  trySession(
    connectDirectly,
    [{ host: "mx.here.test", priority: 0, ips: [HOST] }],
    {
      helo: "probe.example",
      from: "probe@probe.example",
      recipients,
      randomRecipients: RANDOM_RECIPIENTS,
      port,
    },
    { now: () => new Date(), deadline: new Date(Date.now() + SESSION_MS) },
  );

const getFindings = ({ result }: SessionOutcome) =>
  result.recipients.map(({ reply, fault }) =>
    reply ? { ...classify(reply, { stage: "rcpt" }), reply } : { reason: fault },
  );

const getCodes = ({ result }: SessionOutcome) =>
  result.recipients.map(({ reply }) => reply?.code ?? null);

type Case = readonly [user: string, address: string, finding: Readonly<Record<string, unknown>>];

const NOT_FOUND = { verdict: "invalid", reason: "mailbox_not_found", retry: null };
const RELAY_DENIED = { verdict: "unknown", reason: "relay_denied", retry: null };
const FORBIDDEN = { verdict: "unknown", reason: "policy_blocked", retry: null };

const EVERYWHERE: readonly Case[] = asRows<Case>`
  an existing user | ann@here.test | ${{ verdict: "valid", reason: "accepted" }}
  an unknown user | zoe@here.test | ${NOT_FOUND}
  a user of a catch-all domain | zoe@all.test | ${{ verdict: "valid", reason: "accepted" }}
  a greylisted user | grey@here.test | ${{ verdict: "unknown", reason: "greylisted", retry: "later" }}
  a disabled user | disabled@here.test | ${{ verdict: "invalid", reason: "mailbox_disabled" }}
  a user over quota | full@here.test | ${{ verdict: "risky", reason: "mailbox_full", retry: "later" }}
`;

const ON_POSTFIX: readonly Case[] = [
  ["a user of another domain", "ann@other.test", RELAY_DENIED],
  ["a user who may not be written to", "forbidden@here.test", FORBIDDEN],
  ["an existing virtual user", "ann@virtual.test", { verdict: "valid" }],
  ["an unknown virtual user", "zoe@virtual.test", NOT_FOUND],
  ["an unknown virtual alias", "zoe@alias.test", NOT_FOUND],
  ["an unknown user of a host behind it", "zoe@relayed.test", NOT_FOUND],
];

const ON_EXIM: readonly Case[] = [
  ["a user of another domain", "ann@other.test", RELAY_DENIED],
  ["a user who may not be written to", "forbidden@here.test", FORBIDDEN],
  ["a deferred user", "later@here.test", { verdict: "unknown", retry: "later" }],
];

const ON_OPENSMTPD: readonly Case[] = [
  // "550 Invalid recipient", the very words it has for an unknown user of its own.
  ["a user of another domain", "ann@other.test", NOT_FOUND],
  ["an existing virtual user", "ann@virtual.test", { verdict: "valid" }],
  ["an unknown virtual user", "zoe@virtual.test", NOT_FOUND],
];

type ServerCases = { readonly cases: readonly Case[]; readonly offersTls: boolean };

const suite = (name: string, recipe: Recipe, { cases, offersTls: keepsTls }: ServerCases): void =>
  describeUnless(findObstacle(recipe), `${name} on loopback`, () => {
    let server: Running;
    beforeAll(async () => {
      server = await startServer(recipe);
    }, START_MS);
    afterAll(() => server.stop());

    test.each([...EVERYWHERE, ...cases])(
      "the session judges %s rightly: %s",
      async (_, address, finding) => {
        const tried = await ask(server.port, [address]);

        expect(getFindings(tried)).toMatchObject([finding]);
      },
    );

    test(`the session runs ${keepsTls ? "through TLS" : "whether or not TLS works"}`, async () => {
      const { result, attempts } = await ask(server.port, ["ann@here.test"]);

      expect(attempts[0]?.transcript.map(({ text }) => text)).toContain("STARTTLS");
      expect(result.tls || !keepsTls).toBe(true);
      expect(attempts).toHaveLength(result.tls ? 1 : 2);
    });

    test("one session asks about several recipients, and each gets its own answer", async () => {
      const askedRecipients = ["ann", "zoe", "grey", "bob", "full", "disabled"].map(
        (who) => `${who}@here.test`,
      );

      const tried = await ask(server.port, askedRecipients);

      expect(tried.result).toMatchObject({ closedBy: "us", remaining: [] });
      const greylisted = expect.toBeOneOf([450, 451]);
      expect(getCodes(tried)).toEqual([250, 550, greylisted, 250, 452, 550]);
    });

    test("the session asks about forty recipients in flights when the server allows it, and each gets its own answer", async () => {
      const isUnknown = (index: number) => index % 6 === 3;
      const askedRecipients = Array.from({ length: 40 }, (_, index) =>
        isUnknown(index) ? `zoe${index}@here.test` : `${index % 2 ? "ann" : "bob"}@here.test`,
      );

      const tried = await ask(server.port, askedRecipients);

      expect(getCodes(tried)).toEqual(
        askedRecipients.map((_, index) => (isUnknown(index) ? 550 : 250)),
      );
      expect(tried.result).toMatchObject({ closedBy: "us", remaining: [] });
      const speakers = tried.transcript.map(({ who }) => who);
      const isTwice = speakers.some((who, at) => who === "client" && speakers[at + 1] === "client");
      expect(isTwice).toBe(tried.result.extensions.includes("PIPELINING"));
    });

    test("the server accepts a random recipient exactly where it accepts every address", async () => {
      const { result } = await ask(server.port, ["ann@here.test", "ann@all.test"]);

      expect(result.catchAllProbes).toMatchObject([
        { domain: "here.test", reply: { code: 550 } },
        { domain: "all.test", reply: { code: 250 } },
      ]);
    });

    test("a session with many unknown recipients ends before the server ends it", async () => {
      const unknownRecipients = Array.from({ length: 12 }, (_, index) => `zoe${index}@here.test`);

      const tried = await ask(server.port, unknownRecipients);

      expect(getCodes(tried)).toEqual(Array(9).fill(550));
      expect(tried.result).toMatchObject({
        closedBy: "limit",
        remaining: unknownRecipients.slice(9),
      });
    });

    test("the session asks about an address beyond ASCII when the server supports it", async () => {
      const tried = await ask(server.port, ["ann@here.test", "zoë@here.test", "bob@here.test"]);

      const knows = tried.result.extensions.includes("SMTPUTF8");
      expect(getFindings(tried)[1]).toMatchObject(
        knows ? NOT_FOUND : { reason: "smtputf8_unsupported" },
      );
      expect(getCodes(tried)).toEqual([250, knows ? 550 : null, 250]);
    });
  });

suite("Postfix", POSTFIX, { cases: ON_POSTFIX, offersTls: true });
suite("Exim", EXIM, { cases: ON_EXIM, offersTls: true });
// OpenSMTPD 6.8 with OpenSSL 3 offers STARTTLS and fails in the handshake, whatever the key.
suite("OpenSMTPD", OPENSMTPD, { cases: ON_OPENSMTPD, offersTls: false });
