import { readFileSync } from "node:fs";
import {
  learnPattern,
  NO_PATTERN_COUNTS,
  readPatternCounts,
} from "@mailproof/core/calibration/naming";
import { type FindResult, findAddress } from "@mailproof/core/find/find";
import type { World } from "@mailproof/core/ports/world";
import { createEngine, type Engine } from "@mailproof/core/verify/engine";
import { FIRMS, type Firm, formatFirmLabel, getFirm, getStaff } from "@mailproof/lab/firms";
import { LAB_ZONE, type Lab, startLab } from "@mailproof/lab/lab";
import { readEnvironment } from "@mailproof/local/environment";
import { openMailPorts } from "@mailproof/local/mail-ports";
import { createSqliteTable } from "@mailproof/local/storage/sqlite-table";
import { afterAll, beforeAll, expect, test } from "vitest";

// Goal: people are found at 200 companies, whatever these make of a name; cheaply for their mail servers once a
// company's habit is known; and what is reported as verified is right, always.
// Method: the whole engine over real sockets. At each company one person after another is looked for, so that what
// one search teaches serves the next; then people who work nowhere.

let lab: Lab;
let engine: Engine;
let close: () => void;
const SHORT_MS = 5;
const now = () => new Date();
const table = createSqliteTable(":memory:", now);

beforeAll(async () => {
  lab = await startLab({ companies: 0 });
  const mailPorts = openMailPorts(readEnvironment({}), table, lab);
  // A server that has refused many is left alone for a moment, as always; here the moment is a short one. A sleep with a
  // signal is a time limit: shortened, it would pass on a busy machine.
  const sleep: World["sleep"] = (ms, signal) =>
    mailPorts.sleep(signal ? ms : Math.min(ms, SHORT_MS), signal);
  const quick = createEngine({ ...mailPorts, sleep });
  engine = { ...createEngine(mailPorts), probe: quick.probe };
  close = mailPorts.close;
});
afterAll(async () => {
  close();
  await lab.close();
});

const firms = Array.from({ length: FIRMS }, (_, index) => getFirm(index + 1));
const PEOPLE_EACH = 6;

type Search = {
  readonly firm: Firm;
  readonly meant: string | null;
  readonly found: FindResult;
  /** Recipients, the random one included. */
  readonly probes: number;
};

const look = async (
  firm: Firm,
  person: { readonly first: string; readonly last: string },
  local: string | null,
): Promise<Search> => {
  const domain = `${formatFirmLabel(firm.number)}.${LAB_ZONE}`;
  let asked = 0;
  const counting: Engine = {
    ...engine,
    probe: async (question) => {
      const answer = await engine.probe(question);
      const hasRandomProbe = answer.randomRecipient !== null && answer.finding.verdict === "valid";
      asked += answer.unknownRecipients.length + (hasRandomProbe ? 2 : 1);
      return answer;
    },
  };
  const naming = await readPatternCounts(table, domain);
  const { result: found, learnedPattern: taught } = await findAddress(
    counting,
    { person, domain },
    naming,
  );
  if (taught) await learnPattern({ table, now }, domain, taught);
  return { firm, meant: local && `${local}@${domain}`, found, probes: asked };
};

/** The nth of everybody's staff, at all companies at once. */
const lookForNth = async (nth: number): Promise<readonly Search[]> => {
  const all = firms.flatMap((firm) => {
    const person = getStaff(firm)[nth];
    return person ? [look(firm, person, person.local)] : [];
  });
  return Promise.all(all);
};

const atThose = (kind: Firm["kind"], searches: readonly Search[]) =>
  searches.filter(({ firm }) => firm.kind === kind);
const isRight = ({ meant, found }: Search) => found.email === meant;

let firsts: readonly Search[];
let others: readonly Search[];
beforeAll(async () => {
  firsts = await lookForNth(0);
  const later: Search[] = [];
  for (let nth = 1; nth < PEOPLE_EACH; nth++) later.push(...(await lookForNth(nth)));
  others = later;
}, 240_000);

test("the finder finds at least 95 of 100 people at servers that refuse unknown recipients", () => {
  const checking = atThose("checks", [...firsts, ...others]);
  const found = checking.filter(isRight).length;

  console.info(`${found} of ${checking.length} people found`);
  expect(checking.length).toBeGreaterThan(800);
  expect(found / checking.length).toBeGreaterThanOrEqual(0.95);
});

test("a search asks about at most three recipients once the pattern is known", () => {
  const average = (searches: readonly Search[]) => {
    const checking = atThose("checks", searches);
    return checking.reduce((sum, { probes: asked }) => sum + asked, 0) / checking.length;
  };
  const [before, after] = [average(firsts), average(others)];

  console.info(
    `recipients asked: ${before.toFixed(2)} for the first person, ${after.toFixed(2)} then`,
  );
  expect(after).toBeLessThanOrEqual(3);
  expect(before).toBeLessThanOrEqual(6);
});

test("every address reported as valid is right, and so is its pattern", () => {
  const valid = [...firsts, ...others].filter(({ found }) => found.status === "valid");

  expect(valid.length).toBeGreaterThan(700);
  expect(valid.filter((one) => !isRight(one))).toEqual([]);
  expect(valid.filter(({ firm, found }) => firm.pattern !== found.pattern)).toEqual([]);
});

test("every search at a catch-all returns catch_all with a guess and a low confidence", () => {
  const there = atThose("catch_all", [...firsts, ...others]).map(({ found }) => found);

  expect(new Set(there.map(({ status }) => status))).toEqual(new Set(["catch_all"]));
  expect(there.every(({ email, pattern }) => email !== null && pattern === null)).toBe(true);
  expect(Math.max(...there.map(({ confidence }) => confidence))).toBeLessThan(50);
});

test("a server that refuses or defers us reveals no person", () => {
  const all = [...firsts, ...others];
  const there = [...atThose("refuses us", all), ...atThose("puts us off", all)];

  expect(there.length).toBeGreaterThan(50);
  expect(new Set(there.map(({ found }) => `${found.status} ${found.email}`))).toEqual(
    new Set(["unknown null"]),
  );
});

test("the search for a person who works nowhere returns not_found", async () => {
  const missingPerson = { first: "Quirin", last: "Nowhereman" };
  const checking = firms.filter(({ kind }) => kind === "checks").slice(0, 40);

  const searches = await Promise.all(checking.map((firm) => look(firm, missingPerson, null)));

  expect(new Set(searches.map(({ found }) => `${found.status} ${found.email}`))).toEqual(
    new Set(["not_found null"]),
  );
});

test("a search costs two recipients at most at a catch-all, and one at a server that refuses us", async () => {
  for (const [kind, most] of [
    ["catch_all", 2],
    ["refuses us", 1],
  ] as const) {
    const own = firms.filter((firm) => firm.kind === kind).slice(0, 5);
    const before = lab.stats().recipients;
    for (const firm of own) await look(firm, { first: "Ann", last: "Lee" }, null);
    expect(lab.stats().recipients - before).toBeLessThanOrEqual(most * own.length);
  }
});

const DEMO = /^\| (\S+) +\| (\S+) +\| `(f\d+)\.firms` +\| (\w+) +\| `?([^` ]+)`? +\|/gm;

test.each([...readFileSync("docs/lab.md", "utf8").matchAll(DEMO)].map((row) => row.slice(1)))(
  "the search of docs/lab.md for %s %s at %s returns %s",
  async (first = "", last = "", label = "", status = "", address = "") => {
    const domain = `${label}.firms.${LAB_ZONE}`;

    const { result: found } = await findAddress(
      engine,
      { person: { first, last }, domain },
      NO_PATTERN_COUNTS,
    );

    const email = address === "-" ? null : address + domain;
    expect({ status: found.status, email: found.email }).toEqual({ status, email });
  },
);
