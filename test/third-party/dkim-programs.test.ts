import { spawnSync } from "node:child_process";
import { globSync } from "node:fs";
import { join } from "node:path";
import { createBodyHasher } from "@mailproof/mail/message/dkim/canonicalise";
import { readDkim, verifyDkim } from "@mailproof/mail/message/dkim/verify";
import { parseMessage } from "@mailproof/mail/message/parse/message";
import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import { createZoneDns } from "../app/zone.ts";
import {
  getBodyLength,
  KEYS,
  type SigningKey,
  signMail,
  type Way,
} from "../differential/signer.ts";
import { findAbsentPackage, SERVERS } from "../mail-servers/sandbox.ts";
import { describeUnless } from "../runner/describe-when.ts";
import { findToolAbsence, getToolFolder } from "./tools.ts";

// Programs that sign mail with DKIM and verify it, around libraries that others wrote. Each reads a task from each line of
// its input, and answers it in a line.

type SignTask = {
  readonly do: "sign";
  /** In base64. */
  readonly mail: string;
  readonly kind: "rsa" | "ed25519";
  /** The RSA key, as PKCS #1 in PEM, or the seed of an Ed25519 key, in base64. */
  readonly key?: string;
  readonly seed?: string;
  readonly domain: string;
  readonly selector: string;
  /** The canonicalisations. */
  readonly header: string;
  readonly body: string;
  /** As in h=. */
  readonly names: readonly string[];
  /** Whether to sign with l=. */
  readonly length: boolean;
};

type VerifyTask = {
  readonly do: "verify";
  readonly mail: string;
  /** The texts by the names of their keys. */
  readonly keys: Readonly<Record<string, string>>;
  /** How many signatures it has. */
  readonly count: number;
};

type DkimProgram = {
  readonly name: string;
  /** Why it cannot be run here; null where it can. */
  readonly absence: string | null;
  readonly signsEd25519: boolean;
  readonly signsLength: boolean;
  readonly command: () => readonly string[];
  readonly env?: () => Readonly<Record<string, string>>;
};

const SOURCES = join(import.meta.dirname, "tools");
const PERL = join(SERVERS, "libmail-dkim-perl/usr");

const DKIM_PROGRAMS: readonly DkimProgram[] = [
  {
    name: "dkimpy",
    absence: findToolAbsence("dkimpy"),
    signsEd25519: true,
    signsLength: true,
    command: () => [join(getToolFolder("dkimpy"), "bin/python"), join(SOURCES, "dkimpy/run.py")],
  },
  {
    name: "Mail::DKIM",
    absence: findAbsentPackage({ debian: "libmail-dkim-perl" }),
    signsEd25519: false,
    signsLength: false,
    // Debian's own Perl, for which its packages are built.
    command: () => ["/usr/bin/perl", join(SOURCES, "mail-dkim/run.pl")],
    env: () => ({
      PERL5LIB: [join(PERL, "share/perl5"), ...globSync(join(PERL, "lib/*/perl5/*"))].join(":"),
    }),
  },
  {
    name: "go-msgauth",
    absence: findToolAbsence("go_msgauth"),
    signsEd25519: true,
    signsLength: false,
    command: () => [join(getToolFolder("go_msgauth"), "run")],
  },
];

type Answer = {
  readonly mail?: string;
  readonly results?: readonly boolean[];
  readonly error?: string;
};

const OUTPUT_BYTES_MAX = 256 * 1024 * 1024;

/** One process for all tasks: one for each would take longer to start than to work. */
const runTasks = (
  { name, command, env }: DkimProgram,
  tasks: readonly (SignTask | VerifyTask)[],
): readonly Answer[] => {
  const [file = "", ...args] = command();
  const { status, stdout, stderr } = spawnSync(file, args, {
    input: tasks.map((task) => `${JSON.stringify(task)}\n`).join(""),
    env: { PATH: process.env["PATH"], ...env?.() },
    encoding: "utf8",
    maxBuffer: OUTPUT_BYTES_MAX,
  });
  const answers = stdout.split("\n").filter((line) => line !== "");
  if (status !== 0 || answers.length !== tasks.length)
    throw new Error(`${name} ended with ${status} after ${answers.length} answers: ${stderr}`);
  return answers.map((line) => JSON.parse(line) as Answer);
};

// Goal: our verifier takes what others sign, and finds what others find, without ours on both sides.
// Method: mails are drawn by a seed and signed by each program, some by a second one above it and some by the signer of
// the tests, which knows more of the standard than they do. A part is damaged afterwards. All programs and ours verify
// all of them.

/** For each signer. */
const MAILS = 300;
const SEED = 20_261_124;
const NOW = new Date();
const DOMAIN = "example.com";

const pick = fc.constantFrom;
const mostly = <T>(usual: T, ...others: readonly T[]) =>
  fc.oneof(
    { weight: 6, arbitrary: fc.constant(usual) },
    { weight: 4, arbitrary: pick(usual, ...others) },
  );

const header = fc
  .tuple(
    mostly(
      "From: Ann <ann@example.com>",
      "FROM:  Ann\r\n\t<ann@example.com>  ",
      "from:ann@example.com",
      "From: =?UTF-8?Q?J=C3=BCrgen?=\r\n <ann@example.com>",
    ),
    mostly(
      "To: bob@example.net",
      "To: bob@example.net,\r\n  eve@example.net,\r\n\tann@example.net",
      "tO:bob@example.net",
    ),
    mostly(
      "Subject: Hello",
      "Subject:  two  spaces\t and a tab ",
      "Subject:",
      "Subject: folded\r\n  once\r\n\tand again",
      "SUBJECT: J\u00fcrgen",
      `Subject: ${"x".repeat(900)}`,
    ),
    mostly("Date: Mon, 23 Nov 2026 11:59:00 +0000", "Date:Mon, 23 Nov 2026 11:59:00 +0000 (UTC)"),
    mostly(
      "X-Note: drawn",
      "X-Note: one\r\n\tand more\r\nX-note: two",
      "List-Unsubscribe: <https://example.com/u>,\r\n <mailto:u@example.com>",
    ),
  )
  .chain((fields) => fc.shuffledSubarray([...fields], { minLength: fields.length }))
  .map((fields) => fields.join("\r\n"));

const line = pick(
  "Hello",
  "",
  "",
  " ",
  "\t",
  "a  b \t c",
  "end with spaces   ",
  ".",
  "..",
  " lead",
  "J\u00fcrgen",
  "--",
  "b=x; bh=y",
  "y".repeat(900),
);
const body = fc
  .tuple(fc.array(line, { maxLength: 8 }), mostly("\r\n", "", "\r\n\r\n\r\n", " \r\n\t\r\n"))
  .map(([lines, end]) =>
    lines.length === 0 ? "" : lines.join("\r\n") + (end === "" ? "\r\n" : end),
  );

const NAMES: readonly (readonly string[])[] = [
  ["From", "To", "Subject", "Date"],
  ["from", "subject"],
  // Oversigned: no field of these names may be added.
  ["From", "From", "To", "To", "Subject", "Subject", "Date", "Date", "Reply-To"],
  ["Subject", "X-Note", "X-Note", "List-Unsubscribe", "From", "Date"],
];

const signing = fc.record({
  key: mostly(KEYS[0], KEYS[1], KEYS[2]) as fc.Arbitrary<SigningKey>,
  header: pick<Way>("simple", "relaxed"),
  body: pick<Way>("simple", "relaxed"),
  names: pick(...NAMES),
  limit: mostly<"none" | "all" | "half">("none", "all", "half"),
  separator: mostly(";\r\n\t", "; ", ";", " ;\r\n  "),
});
type Signing = typeof signing extends fc.Arbitrary<infer T> ? T : never;

type Change = (mail: string) => string;

const damage = mostly<Change>(
  (mail) => mail,
  (mail) => `${mail}more\r\n`,
  (mail) => `${mail}\r\n\r\n`,
  (mail) => mail.replace("Hello", "Hullo"),
  (mail) => `Subject: added\r\n${mail}`,
  (mail) => `X-Added: on the way\r\n${mail}`,
  (mail) => mail.replaceAll("  ", " "),
  (mail) => mail.replaceAll("Subject:", "subject :"),
  (mail) => mail.replace(" b=", " b=A"),
);

const drawn = fc.record({
  header,
  body,
  first: signing,
  second: fc.option(signing, { freq: 4 }),
  damage,
});
type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never;

/** A mail on its way through the signers. */
type Mail = { readonly text: string; readonly keys: Readonly<Record<string, string>> };
type Signed = { readonly mail: Mail; readonly drawn: Drawn };

const toBase64 = (text: string) => Buffer.from(text, "latin1").toString("base64");

const publish = ({ kind, published }: SigningKey) => `v=DKIM1; k=${kind}; p=${published}`;

const toTask = (program: DkimProgram, mail: Mail, one: Signing, selector: string) => {
  const { privateKey, kind } = one.key;
  return {
    do: "sign" as const,
    mail: toBase64(mail.text),
    kind,
    ...(kind === "rsa"
      ? { key: privateKey.export({ type: "pkcs1", format: "pem" }).toString() }
      : {
          seed: Buffer.from(privateKey.export({ format: "jwk" }).d ?? "", "base64url").toString(
            "base64",
          ),
        }),
    domain: DOMAIN,
    selector,
    header: one.header,
    body: one.body,
    names: one.names,
    length: program.signsLength && one.limit !== "none",
  };
};

/** With what the program can do of it. */
const adapt = ({ signsEd25519 }: DkimProgram, one: Signing): Signing =>
  one.key.kind === "ed25519" && !signsEd25519 ? { ...one, key: KEYS[0] as SigningKey } : one;

const signWith = (
  program: DkimProgram,
  mails: readonly (readonly [Mail, Signing])[],
  selector: string,
): readonly Mail[] => {
  const adapted = mails.map(([mail, one]) => [mail, adapt(program, one)] as const);
  const answers = runTasks(
    program,
    adapted.map(([mail, one]) => toTask(program, mail, one, selector)),
  );
  return adapted.map(([mail, one], index) => {
    const { mail: signed, error } = answers[index] ?? {};
    if (signed === undefined) throw new Error(`${program.name}: ${error}`);
    return {
      text: Buffer.from(signed, "base64").toString("latin1"),
      keys: { ...mail.keys, [`${selector}._domainkey.${DOMAIN}`]: publish(one.key) },
    };
  });
};

/** The signer of the tests. */
const signOurselves = (mail: Mail, one: Signing, selector: string): Mail => {
  const end = mail.text.indexOf("\r\n\r\n");
  const [head, text] = [mail.text.slice(0, end), mail.text.slice(end + 4)];
  const length = getBodyLength(text, one.body);
  // Half of an empty body would end between a CR and its LF.
  const half = length > 2 ? Math.floor(length / 2) : length;
  const limit = { none: undefined, all: length, half }[one.limit];
  const field = signMail(
    { header: head, body: text },
    {
      ...one,
      headerWay: one.header,
      bodyWay: one.body,
      limit,
      tags: [
        ["v", "1"],
        ["a", `${one.key.kind}-sha256`],
        ["c", `${one.header}/${one.body}`],
        ["d", DOMAIN],
        ["s", selector],
        ["t", "1700000000"],
        ...(limit === undefined ? [] : [["l", String(limit)] as const]),
      ],
    },
  );
  return {
    text: `${field}\r\n${mail.text}`,
    keys: { ...mail.keys, [`${selector}._domainkey.${DOMAIN}`]: publish(one.key) },
  };
};

const verifyOurs = async ({ text, keys }: Mail) => {
  const parsed = parseMessage(Buffer.from(text, "latin1"));
  const zone = Object.fromEntries(
    Object.entries(keys).map(([name, key]) => [name, { TXT: [key] }]),
  );
  const read = readDkim(parsed.fields, createBodyHasher(parsed.body));
  return verifyDkim(createZoneDns(zone), read, NOW);
};

type Found = Awaited<ReturnType<typeof verifyOurs>>[number];

const verifyWith = (
  program: DkimProgram,
  mails: readonly Mail[],
): readonly (readonly boolean[])[] =>
  runTasks(
    program,
    mails.map(({ text, keys }) => ({
      do: "verify" as const,
      mail: toBase64(text),
      keys,
      count: Object.keys(keys).length,
    })),
  ).map(({ results, error }) => {
    if (!results) throw new Error(`${program.name}: ${error}`);
    return results;
  });

/** Where a program does not take what is valid: why. None takes what we do not. */
type ExplainedDifference = {
  readonly program: string;
  readonly why: string;
  readonly holds: (found: Found, text: string) => boolean;
};

const EXPLAINED: readonly ExplainedDifference[] = [
  {
    program: "dkimpy",
    why: "RFC 5322 §4.5.8 and RFC 6376 §3.4.2: white space may stand in front of the colon. dkimpy does not find such a field.",
    holds: (_, text) => text.includes("subject :"),
  },
  {
    program: "Mail::DKIM",
    why: "RFC 8463: Ed25519. Mail::DKIM does not know it.",
    holds: ({ algorithm }) => algorithm === "ed25519-sha256",
  },
  {
    program: "go-msgauth",
    why: "RFC 6376 §3.5 allows l=, and verifiers may refuse it (§8.2). go-msgauth does; ours reports what is not signed.",
    holds: (_, text) => /[;\s]l=\d/.test(text),
  },
];

/** Each known difference must be met so often, else the mails are too tame to compare anything. */
const MET_MIN = 5;

const absence = DKIM_PROGRAMS.map((one) => one.absence).find((why) => why !== null) ?? null;

const draw = (salt: number): readonly Drawn[] =>
  fc.sample(drawn, { seed: SEED + salt, numRuns: MAILS });

const toMail = ({ header: top, body: text }: Drawn): Mail => ({
  text: `${top}\r\n\r\n${text}`,
  keys: {},
});

/** Mails of one signer, some with a signature of another one above the first. */
const signAll = (program: DkimProgram, above: DkimProgram, salt: number): readonly Signed[] => {
  const all = draw(salt);
  const once = signWith(
    program,
    all.map((one) => [toMail(one), one.first]),
    "s1",
  );
  const pairs = all.map((one, nth) => ({ drawn: one, mail: once[nth] ?? toMail(one) }));
  const single = pairs.filter(({ drawn: one }) => one.second === null);
  const double = pairs.flatMap(({ drawn: one, mail }) =>
    one.second ? [{ one, mail, second: one.second }] : [],
  );
  const twice = signWith(
    above,
    double.map(({ mail, second }) => [mail, second]),
    "s2",
  );
  return [
    ...single,
    ...double.map(({ one, mail }, nth) => ({ drawn: one, mail: twice[nth] ?? mail })),
  ];
};

const signAllOurselves = (): readonly Signed[] =>
  draw(DKIM_PROGRAMS.length).map((one) => {
    const first = signOurselves(toMail(one), one.first, "s1");
    return { drawn: one, mail: one.second ? signOurselves(first, one.second, "s2") : first };
  });

describeUnless(absence, "DKIM of dkimpy, Mail::DKIM and go-msgauth", () => {
  const signed = new Map<string, readonly Signed[]>();
  let damaged: readonly Mail[];
  let ours: readonly (readonly Found[])[];
  beforeAll(async () => {
    for (const [index, program] of DKIM_PROGRAMS.entries()) {
      const above = DKIM_PROGRAMS[(index + 1) % DKIM_PROGRAMS.length] ?? program;
      signed.set(program.name, signAll(program, above, index));
    }
    damaged = [...[...signed.values()].flat(), ...signAllOurselves()].map(
      ({ mail, drawn: one }) => ({ ...mail, text: one.damage(mail.text) }),
    );
    ours = await Promise.all(damaged.map(verifyOurs));
  });

  test.each(DKIM_PROGRAMS)(
    `${MAILS} mails that $name signs pass with every signature`,
    async ({ name }) => {
      const mails = (signed.get(name) ?? []).map(({ mail }) => mail);
      const found = await Promise.all(mails.map(verifyOurs));

      const wrong = mails.flatMap(({ text, keys }, nth) => {
        const results = (found[nth] ?? []).map(({ result }) => result);
        const isRight =
          results.length === Object.keys(keys).length && results.every((one) => one === "pass");
        return isRight ? [] : [{ results, text }];
      });
      expect(mails).toHaveLength(MAILS);
      expect(wrong).toEqual([]);
    },
  );

  test.each(DKIM_PROGRAMS)("$name finds what we find in mails that were damaged", (program) => {
    const theirs = verifyWith(program, damaged);
    const met = new Map<string, number>();
    const meet = (what: string) => met.set(what, (met.get(what) ?? 0) + 1);
    const mine = EXPLAINED.filter((one) => one.program === program.name);

    const differences = damaged.flatMap(({ text }, nth) =>
      (ours[nth] ?? []).flatMap((found, at) => {
        const their = theirs[nth]?.[at] ?? false;
        const isPass = found.result === "pass";
        meet(isPass ? "pass" : "no pass");
        if (isPass === their) return [];
        const explained = isPass ? mine.find(({ holds }) => holds(found, text)) : undefined;
        if (explained) meet(explained.why);
        return explained ? [] : [{ found, their, text }];
      }),
    );

    expect(differences).toEqual([]);
    const toMeet = ["pass", "no pass", ...mine.map(({ why }) => why)];
    expect(toMeet.filter((what) => (met.get(what) ?? 0) < MET_MIN)).toEqual([]);
  });
});
