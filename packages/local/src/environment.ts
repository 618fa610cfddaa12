import { isIP } from "node:net";
import { LEVELS } from "@mailproof/core/runtime/log-levels";
import { type Address, isAddress, parseAddress, toSmtpForm } from "@mailproof/mail/address";
import { type Cidr, parseCidr } from "@mailproof/mail/ip";
import { type ProbePolicy, parseProbePolicy } from "@mailproof/mail/probe-policy";
import { measureEditDistance } from "@mailproof/mail/signals/edit-distance";
import * as v from "valibot";

// An environment has many variables of other programs, and none of those may stop a start. So a name counts as a misspelt setting only if
// it is one slip from a long setting, or two from a very long one, and that setting is not set. Names without an underscore belong to
// others: LOGLEVEL is in use elsewhere.

const LONG_LETTERS = 8;
const VERY_LONG_LETTERS = 16;
/** Kubernetes and Docker set such values for each service named "metric": METRIC_PORT=tcp://10.0.0.1:80. */
const SERVICE_LINK = /^(?:tcp|udp|sctp):\/\//;

type MisspeltSetting = { readonly name: string; readonly meant: string };

const findMisspelt = (
  env: Readonly<Record<string, string | undefined>>,
  settings: readonly string[],
): readonly MisspeltSetting[] => {
  const unset = settings.filter((name) => env[name] === undefined && name.length >= LONG_LETTERS);
  return Object.entries(env).flatMap(([name, value = ""]) => {
    if (settings.includes(name) || value === "" || SERVICE_LINK.test(value)) return [];
    const meant = unset.find((setting) => isNear(name, setting));
    return meant === undefined ? [] : [{ name, meant }];
  });
};

const isNear = (name: string, setting: string): boolean => {
  const slips = setting.length >= VERY_LONG_LETTERS ? 2 : 1;
  const written = name.toLowerCase().replaceAll("-", "_");
  if (!written.includes("_") && setting.includes("_")) return false;
  return measureEditDistance(written, setting.toLowerCase()) <= slips;
};

export const NotEmpty = v.pipe(v.string(), v.minLength(1, "must not be empty"));

export const matching = (form: RegExp, message: string) =>
  v.pipe(v.string(), v.regex(form, message));

export const numeric = (form: RegExp, message: string) =>
  v.pipe(v.string(), v.regex(form, message), v.transform(Number));

export const passing = (isValid: (text: string) => boolean, message: string) =>
  v.pipe(v.string(), v.check(isValid, message));

const PORT_MESSAGE = "must be a number from 0 to 65535";
const Port = v.pipe(numeric(/^\d{1,5}$/, PORT_MESSAGE), v.maxValue(65_535, PORT_MESSAGE));
const Secret = v.pipe(v.string(), v.minLength(16, "must have at least 16 characters"));

/** The word stands for the secret that the server generated, and used until the operator set another. */
export const GENERATED = "generated";
const SecretBefore = v.union(
  // Empty is absent: so operators end a rotation.
  [v.literal(""), v.literal(GENERATED), Secret],
  "must have at least 16 characters, or be generated",
);

/** An operator's key is too long to be guessed; its prefix keeps it out of the log, like that of an API key. */
const OperatorKey = matching(
  /^mp_operator_[A-Za-z0-9]{32,}$/,
  "must be mp_operator_ and at least 32 letters or digits",
);

const createListSchema = <T extends v.GenericSchema<string, unknown>>(item: T) =>
  v.pipe(
    v.string(),
    v.transform((text) =>
      text
        .split(",")
        .map((one) => one.trim())
        .filter((one) => one !== ""),
    ),
    v.array(item),
  );

const SERVER = /^(?:\[([0-9a-f:.]+)\]|([\d.]+))(?::(\d{1,5}))?$/i;
const DnsServer = passing((text) => {
  const [, v6, v4, port = "53"] = SERVER.exec(text) ?? [];
  return isIP(v6 ?? v4 ?? "") !== 0 && Number(port) <= 65_535;
}, "must be a list of addresses such as 192.0.2.1, 192.0.2.1:5353 or [2001:db8::1]:53");
const Block = v.pipe(
  v.string(),
  v.transform(parseCidr),
  v.custom<Cidr>((block) => block !== undefined, "must be a list of blocks such as 10.0.0.0/8"),
);
/** Trusting the whole internet would let every caller choose its own address. */
const TrustedProxy = v.pipe(
  Block,
  v.check(({ length }) => length > 0, "must not trust every address"),
);
const Host = passing(
  (text) => isIP(text) !== 0,
  "must be an IP address such as 127.0.0.1, 0.0.0.0 or ::",
);
const BasePath = v.pipe(
  matching(
    /^(?:(?:\/[\w.~-]+)+)?$/,
    "must be a path such as /mailproof, without a slash at its end",
  ),
  v.check((path) => !/\/\.{1,2}(?:\/|$)/.test(path), "must not have . or .. in it"),
);
const PROXY = /^socks5h?:\/\/(?:[^@\s]+@)?[^\s:/]+:\d{1,5}\/?(?:#warm)?$/;
const Proxy = matching(
  PROXY,
  "must be a list such as socks5://user:pass@host:1080, each with #warm at its end or not",
);
const THREADS_MESSAGE = "must be a number from 0 to 64";
const Threads = v.pipe(numeric(/^\d{1,2}$/, THREADS_MESSAGE), v.maxValue(64, THREADS_MESSAGE));
const Policy = v.pipe(
  v.string(),
  v.rawTransform(({ dataset, addIssue, NEVER }): ProbePolicy => {
    const policy = parseProbePolicy(dataset.value);
    if (typeof policy !== "string") return policy;
    addIssue({ message: policy });
    return NEVER;
  }),
);
const HelloName = matching(/^[a-z0-9.-]{1,253}$/i, "must be a host name");
/** Mail must reach the domain, so a bare name is not enough. */
const MailDomain = v.pipe(
  matching(
    /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]{2,63}$/i,
    "must be a domain such as test.example.com",
  ),
  v.toLowerCase(),
);
/** Domains of large mail services with different operators; their mail servers are always reachable. */
export const REACH_DOMAINS = "gmail.com,outlook.com,yahoo.com,gmx.net,icloud.com";
const SENDER_MESSAGE = "must be an email address in plain letters";
const Sender = v.pipe(
  v.string(),
  v.transform(parseAddress),
  v.custom<Address>(
    (one) => isAddress(one as Address) && !(one as Address).needsSmtpUtf8,
    SENDER_MESSAGE,
  ),
  v.transform(toSmtpForm),
);
const ListName = matching(
  /^[a-z0-9-]+(?:\.[a-z0-9-]+)*$/i,
  "must be a list of zones such as bl.example.org, or of built-in list ids",
);
// A selector may have several labels (RFC 6376 §3.1).
const Selector = v.pipe(
  matching(
    /^[a-z0-9_](?:[a-z0-9_-]{0,62})(?:\.[a-z0-9_][a-z0-9_-]{0,62}){0,2}$/i,
    "must be DKIM selectors such as s1, separated by commas",
  ),
  v.toLowerCase(),
);
// The key becomes a label of a name.
const ListKey = matching(/^[a-z0-9]{1,63}$/i, "must be letters and digits");
export const ServiceUrl = matching(
  /^https?:\/\/[^\s?#]+$/,
  "must be an address such as https://api.example.com",
);
const RelayUrl = matching(
  /^smtps?:\/\/(?:[^@\s/]+:[^@\s/]+@)?[^@\s/?#]+\/?$/,
  "must be a relay such as smtps://user:password@relay.example.com:465, with %40 for an @ in a password",
);
const YesOrNo = v.pipe(
  v.picklist(["yes", "no"], "must be yes or no"),
  v.transform((word) => word === "yes"),
);

/** Plain http would let a network attacker forge tokens; on one machine there is no network. */
const isHttpsOrLoopback = (text: string): boolean => {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, search, hash } = new URL(text);
  const isLoopback = protocol === "http:" && ["127.0.0.1", "[::1]", "localhost"].includes(hostname);
  return (protocol === "https:" || isLoopback) && search === "" && hash === "";
};
const Address = passing(isHttpsOrLoopback, "must be an https address, or one of this machine");

// docs/settings.md documents the same settings, and test/architecture compares both.
const Environment = v.object({
  PORT: v.optional(Port, "8787"),
  HOST: v.optional(Host, "127.0.0.1"),
  BASE_PATH: v.optional(BasePath, ""),
  PUBLIC_URL: v.optional(ServiceUrl),
  TRUST_PROXY: v.optional(createListSchema(TrustedProxy), ""),
  MAILPROOF_DIR: v.optional(NotEmpty, ".local"),
  DEMO: v.optional(v.picklist(["on", "off"], "must be on or off"), "on"),
  METRICS_PORT: v.optional(Port),
  METRICS_HOST: v.optional(Host, "127.0.0.1"),
  LOG_LEVEL: v.optional(v.picklist(LEVELS, `must be one of ${LEVELS.join(", ")}`), "info"),
  OPERATOR_KEY: v.optional(OperatorKey),
  KEY_PEPPER: v.optional(Secret),
  KEY_PEPPER_BEFORE: v.optional(SecretBefore),
  CURSOR_SECRET: v.optional(Secret),
  CURSOR_SECRET_BEFORE: v.optional(SecretBefore),
  ACTIVITY_KEY: v.optional(Secret),
  ACTIVITY_KEY_BEFORE: v.optional(SecretBefore),
  ACTIVITY_POOL: v.optional(v.picklist(["own", "shared"], "must be own or shared"), "own"),
  SES_ACCOUNT: v.optional(matching(/^acc_[\w-]+$/, "must be the id of an account")),
  SEALING_KEY: v.optional(Secret),
  SEALING_KEY_BEFORE: v.optional(SecretBefore),
  MAIL_DOMAIN: v.optional(MailDomain),
  MAIL_PORT: v.optional(Port, "2525"),
  MAIL_HOST: v.optional(Host, "127.0.0.1"),
  MAIL_TLS_FILE: v.optional(NotEmpty),
  SMTP_URL: v.optional(RelayUrl),
  MAIL_FROM: v.optional(Sender),
  OIDC_ISSUER: v.optional(Address),
  OIDC_CLIENT_ID: v.optional(NotEmpty),
  OIDC_CLIENT_SECRET: v.optional(NotEmpty),
  OAUTH_ISSUER: v.optional(Address),
  OAUTH_AUDIENCE: v.optional(Address),
  DNS_SERVERS: v.optional(createListSchema(DnsServer), ""),
  SMTP_PORT: v.optional(Port, "25"),
  SMTP_HELLO: v.optional(HelloName, "mailproof.invalid"),
  REACH_DOMAINS: v.optional(createListSchema(MailDomain), REACH_DOMAINS),
  SMTP_FROM: v.optional(Sender, "probe@mailproof.invalid"),
  ENGINE_THREADS: v.optional(Threads),
  PROBE_POLICY: v.optional(Policy, ""),
  WITNESSES: v.optional(createListSchema(Sender), ""),
  SMTP_PROXIES: v.optional(createListSchema(Proxy), ""),
  SMTP_ALLOW_PRIVATE: v.optional(createListSchema(Block), ""),
  BLOCKLISTS: v.optional(createListSchema(ListName), ""),
  BLOCKLIST_DNS_SERVERS: v.optional(createListSchema(DnsServer), ""),
  DKIM_SELECTORS: v.optional(createListSchema(Selector), ""),
  SPAMHAUS_KEY: v.optional(ListKey),
  LISTS_SIGNER: v.optional(
    matching(
      /^[A-Za-z0-9+/]{59}=$/,
      "must be an Ed25519 public key: SPKI in base64, 60 characters",
    ),
  ),
  BARRACUDA_REGISTERED: v.optional(YesOrNo, "no"),
  MAILPROOF_API: v.optional(ServiceUrl),
  MAILPROOF_KEY: v.optional(NotEmpty),
  MAILPROOF_PROFILE: v.optional(NotEmpty),
  OUTBOUND_ALLOW_PRIVATE: v.optional(createListSchema(Block), ""),
});

export type Environment = v.InferOutput<typeof Environment>;

export const SETTINGS = Object.keys(Environment.entries);

/** The default of each setting, as an operator would write it. A setting without an entry has no default. */
export const DEFAULTS: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(Environment.entries).flatMap(([name, schema]) => {
    const value = v.getDefault(schema);
    return typeof value === "string" && value !== "" ? [[name, value]] : [];
  }),
);

const CheckedEnvironment = v.pipe(
  Environment,
  v.forward(
    v.check(
      (set) => (set.OIDC_ISSUER === undefined) === (set.OIDC_CLIENT_ID === undefined),
      "must be set with OIDC_ISSUER, and only then",
    ),
    ["OIDC_CLIENT_ID"],
  ),
  v.forward(
    v.check(
      (set) => set.OIDC_CLIENT_SECRET === undefined || set.OIDC_ISSUER !== undefined,
      "must be set with OIDC_ISSUER only",
    ),
    ["OIDC_CLIENT_SECRET"],
  ),
  v.forward(
    v.check(
      (set) => (set.OAUTH_ISSUER === undefined) === (set.OAUTH_AUDIENCE === undefined),
      "must be set with OAUTH_ISSUER, and only then",
    ),
    ["OAUTH_AUDIENCE"],
  ),
  v.forward(
    v.check(
      ({ SMTP_URL, MAIL_FROM, PUBLIC_URL }) =>
        SMTP_URL === undefined || (MAIL_FROM !== undefined && PUBLIC_URL !== undefined),
      "needs MAIL_FROM, and PUBLIC_URL for the links in mails",
    ),
    ["SMTP_URL"],
  ),
  v.forward(
    v.check(
      ({ PORT, METRICS_PORT: port }) => port === undefined || port === 0 || port !== PORT,
      "must not be PORT",
    ),
    ["METRICS_PORT"],
  ),
  v.forward(
    v.check(
      ({ PUBLIC_URL, BASE_PATH }) =>
        PUBLIC_URL === undefined || PUBLIC_URL.replace(/\/$/, "").endsWith(BASE_PATH),
      "must end with BASE_PATH",
    ),
    ["PUBLIC_URL"],
  ),
);

type Variables = Readonly<Record<string, string | undefined>>;

export const readEnvironment = (env: Variables): Environment => {
  const parsed = v.safeParse(CheckedEnvironment, env);
  const misspelt = findMisspelt(env, SETTINGS).map(
    ({ name, meant }) =>
      `${name} is not a setting: did you mean ${meant}? If it belongs to another program, set ${meant} too`,
  );
  if (parsed.success && misspelt.length === 0) return parsed.output;
  const issues = parsed.issues ?? [];
  const wrong = [
    ...issues.map((issue) => `${issue.path?.[0]?.key as string} ${issue.message}`),
    ...misspelt,
  ];
  throw new Error(`Invalid settings: ${[...new Set(wrong)].join("; ")}.`);
};
