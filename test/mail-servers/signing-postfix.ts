import type { SigningPair } from "../things/mails.ts";
import type { Recipe } from "./sandbox.ts";

// Postfix as a sender of mail, with OpenDKIM as its milter. Which OpenDKIM signs a mail, and on which way it goes out,
// depends on the address of Postfix that a client brings it to: one for each pair.

/**
 * What differs between the OpenDKIMs. `nothing`: the mail is not signed. Ed25519 is not among them: Debian's OpenDKIM
 * 2.11 beta 2 makes signatures of that kind that do not verify.
 */
const SIGNERS = {
  nothing: null,
  relaxed: "Canonicalization relaxed/relaxed",
  simple: "Canonicalization simple/simple",
  mixed: "Canonicalization relaxed/simple",
  // x= a second later.
  brief: "SignatureTTL 1",
  // l=.
  partly: "Canonicalization relaxed/relaxed\nBodyLengthDB refile:/etc/opendkim/partly",
  sha1: "SignatureAlgorithm rsa-sha1",
  // Without List-Unsubscribe-Post, as OpenDKIM's own list of fields is.
  usual: "SignHeaders *",
} as const;

export type Signer = keyof typeof SIGNERS;

/** The addresses that mail comes from. */
export const OUT = "127.0.2.1";
export const ELSEWHERE = "127.0.2.2";
export const NAMELESS = "127.0.2.3";

const from = (ip: string, helo: string) => [`smtp_bind_address=${ip}`, `smtp_helo_name=${helo}`];
const USUAL = from(OUT, "out.shop.example");

/** What Postfix's SMTP client does on the way, which is after the mail was signed. */
const ROUTES = {
  direct: USUAL,
  elsewhere: from(ELSEWHERE, "other.example"),
  nameless: from(NAMELESS, "nowhere.shop.example"),
  plain: [...USUAL, "smtp_tls_security_level=none"],
  footer: [...USUAL, "smtp_body_checks=regexp:/etc/postfix/footer"],
  tagged: [...USUAL, "smtp_header_checks=regexp:/etc/postfix/tagged"],
  respaced: [...USUAL, "smtp_header_checks=regexp:/etc/postfix/respaced"],
  changedElsewhere: [
    ...from(ELSEWHERE, "other.example"),
    "smtp_body_checks=regexp:/etc/postfix/footer",
  ],
  appended: [...USUAL, "smtp_body_checks=regexp:/etc/postfix/appended"],
  late: USUAL,
} as const;

export type Route = keyof typeof ROUTES;

const MAPS = {
  footer: "/^Hello (.*)/ REPLACE Hello dear $1",
  tagged: "/^Subject: (.*)/ REPLACE Subject: [shop] $1",
  respaced: "/^Subject: +(.*)/ REPLACE Subject:   $1",
  appended: "/^[ \t]+$/ REPLACE An advertisement.",
};

/** Where a client brings mail that is to be signed and sent so. */
export const toAddress = (signer: Signer, route: Route): string =>
  `127.0.${10 + Object.keys(SIGNERS).indexOf(signer)}.${1 + Object.keys(ROUTES).indexOf(route)}`;

const MAIN = `
compatibility_level = 3.6
maillog_file = /var/log/mail.log
myhostname = out.shop.example
inet_interfaces = 127.0.0.1
mynetworks = 127.0.0.0/8
mydestination =
smtpd_relay_restrictions = permit_mynetworks, reject
smtp_dns_support_level = disabled
smtp_tls_security_level = may
smtp_address_preference = ipv4
`;

const toSocket = (signer: string): string => `/run/opendkim-${signer}.sock`;

const listSigners = () =>
  Object.entries(SIGNERS).flatMap(([name, line]) => (line === null ? [] : [{ name, line }]));

type Receiver = { readonly port: number; readonly slowPort: number };

/** What Postfix needs beside the services that take mail and send it. */
export const SERVICES = `
rewrite unix - - n - - trivial-rewrite
postlog unix-dgram n - n - 1 postlogd
anvil unix - - n - 1 anvil
tlsmgr unix - - n 1000? 1 tlsmgr
proxymap unix - - n - - proxymap
cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
pickup unix n - n 60 1 pickup
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
error unix - - n - - error
scache unix - - n - 1 scache
`;

const formatMaster = (port: number, { port: receiver, slowPort }: Receiver): string => {
  const ways = (Object.keys(SIGNERS) as Signer[]).flatMap((signer) =>
    (Object.keys(ROUTES) as Route[]).map((route) => {
      const milter = signer === "nothing" ? "" : ` -o smtpd_milters=unix:${toSocket(signer)}`;
      const to = `${route}:[127.0.0.1]:${route === "late" ? slowPort : receiver}`;
      return `${toAddress(signer, route)}:${port} inet n - n - - smtpd -o content_filter=${to}${milter}`;
    }),
  );
  const routes = Object.entries(ROUTES).map(
    ([route, options]) =>
      `${route} unix - - n - - smtp ${options.map((option) => `-o ${option}`).join(" ")}`,
  );
  return `
127.0.0.1:${port} inet n - n - - smtpd
${[...ways, ...routes].join("\n")}
${SERVICES}
`;
};

/** A domain that OpenDKIM signs for, and the key that it has for it. */
export type SignedDomain = {
  /** Of From. */
  readonly author: string;
  /** d= and s=. */
  readonly domain: string;
  readonly selector: string;
  readonly key: SigningPair["privateKey"];
};

const formatOpenDkim = (name: string, line: string): string => `
Mode s
Socket local:${toSocket(name)}
UMask 000
PidFile /run/opendkim-${name}.pid
KeyTable file:/etc/opendkim/keys
SigningTable refile:/etc/opendkim/authors
InternalHosts csl:127.0.0.0/8
RequireSafeKeys no
MinimumKeyBits 512
${line.startsWith("SignHeaders") ? "" : "SignHeaders *,+list-unsubscribe-post"}
${line}
`;

const toKeyName = ({ domain, selector }: SignedDomain): string => `${selector}.${domain}`;

/** Sends what it is given to a receiver at the loopback. */
export const createSigningPostfix = (
  domains: readonly SignedDomain[],
  receiver: Receiver,
): Recipe => ({
  debian: "postfix",
  beside: ["opendkim"],
  accounts: ["postfix", "postdrop"],
  files: (port) => ({
    "/etc/postfix/main.cf": MAIN,
    "/etc/postfix/master.cf": formatMaster(port, receiver),
    ...Object.fromEntries(
      Object.entries(MAPS).map(([name, line]) => [`/etc/postfix/${name}`, line]),
    ),
    ...Object.fromEntries(
      listSigners().map(({ name, line }) => [
        `/etc/opendkim/${name}.conf`,
        formatOpenDkim(name, line),
      ]),
    ),
    "/etc/opendkim/partly": "*",
    "/etc/opendkim/authors": domains.map((one) => `*@${one.author} ${toKeyName(one)}`).join("\n"),
    "/etc/opendkim/keys": domains
      .map((one) => {
        const name = toKeyName(one);
        return `${name} ${one.domain}:${one.selector}:/etc/opendkim/${name}.pem`;
      })
      .join("\n"),
    ...Object.fromEntries(
      domains.map((one) => [
        `/etc/opendkim/${toKeyName(one)}.pem`,
        one.key.export({ type: "pkcs8", format: "pem" }).toString(),
      ]),
    ),
  }),
  start: () => `
chown postfix /var/lib/postfix
for signer in ${listSigners()
    .map(({ name }) => name)
    .join(" ")}; do opendkim -f -x /etc/opendkim/$signer.conf & done
for signer in ${listSigners()
    .map(({ name }) => name)
    .join(" ")}; do until [ -S /run/opendkim-$signer.sock ]; do sleep 0.05; done; done
postfix start || { cat /var/log/mail.log; exit 1; }
`,
});
