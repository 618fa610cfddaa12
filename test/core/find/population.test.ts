import {
  learnPattern,
  NO_PATTERN_COUNTS,
  readPatternCounts,
} from "@mailproof/core/calibration/naming";
import { listCandidates } from "@mailproof/core/find/candidates";
import { findAddress } from "@mailproof/core/find/find";
import type { Engine } from "@mailproof/core/verify/engine";
import { expect, test } from "vitest";
import { givenWorld } from "../../app/given.ts";
import { createPopulation, type Employee, type Employer } from "./population.ts";

// Goal: at employers whose people have names from everywhere, and who do not all follow the employer's pattern, the
// first guess is right for half of the people, and a result that is verified is right, too.
// Method: one person after another is looked for, and each search teaches the next. The server accepts its people and refuses
// others, so it accepts the first guess that is any person's address.

type Search = {
  readonly employer: Employer;
  readonly person: Employee;
  readonly nth: number;
  /** The rank of the person's own address among the guesses; 0 when it is not one of them. */
  readonly rank: number;
  /** The same where nothing is known of the domain. */
  readonly rankAlone: number;
  readonly status: string;
  readonly email: string | null;
};

const searchAll = async (employers: readonly Employer[]): Promise<readonly Search[]> => {
  const { world, table } = givenWorld();
  const template = await world.engine.probe({
    recipient: "ann@example.com",
    domain: "example.com",
    hosts: [{ host: "mx.example.com", priority: 10, ips: ["192.0.2.1"] }],
    probeCatchAll: true,
  });
  const searches: Search[] = [];
  for (const employer of employers) {
    const mailboxes = new Set(employer.people.map(({ local }) => `${local}@${employer.domain}`));
    for (const [index, person] of employer.people.entries()) {
      let guesses: readonly string[] = [];
      const probe: Engine["probe"] = async ({ recipient, fallbacks = [] }) => {
        guesses = [recipient, ...fallbacks];
        const at = guesses.findIndex((one) => mailboxes.has(one));
        const settled = at === -1 ? guesses.length - 1 : at;
        return {
          ...template,
          recipient: guesses[settled] ?? "",
          unknownRecipients: guesses.slice(0, settled),
          finding:
            at === -1
              ? { ...template.finding, verdict: "invalid", reason: "mailbox_not_found" }
              : template.finding,
          catchAll: "no",
        };
      };
      const { domain } = employer;
      const { result, learnedPattern } = await findAddress(
        { ...world.engine, probe },
        { person, domain },
        await readPatternCounts(table, domain),
      );
      if (learnedPattern) await learnPattern(world, domain, learnedPattern);
      const { status, email } = result;
      const rank = guesses.indexOf(`${person.local}@${domain}`) + 1;
      const atFirst = listCandidates(person, domain, {
        patternCounts: NO_PATTERN_COUNTS,
        mailHost: "mx.example.com",
      });
      const rankAlone = atFirst.findIndex(({ local }) => local === person.local) + 1;
      searches.push({ employer, person, nth: index + 1, rank, rankAlone, status, email });
    }
  }
  return searches;
};

const SEEDS = ["1", "2"];
const populations: (readonly Search[])[] = [];
for (const seed of SEEDS) populations.push(await searchAll(createPopulation(seed)));
const searches = populations.flat();

const countShare = (among: readonly Search[], fits: (search: Search) => boolean): number =>
  among.filter(fits).length / among.length;
const toPercent = (share: number): string => `${(100 * share).toFixed(1)} %`;
const report = (what: string, among: readonly Search[], fits: (search: Search) => boolean) => {
  const wanted = new Set(among);
  const each = populations.map((all) =>
    countShare(
      all.filter((one) => wanted.has(one)),
      fits,
    ),
  );
  console.info(
    `${what}: ${toPercent(countShare(among, fits))} (${each.map(toPercent).join(", ")})`,
  );
  return countShare(among, fits);
};

test("each simulated population is as large as the counted one", () => {
  for (const all of populations) expect(Math.abs(all.length - 7498)).toBeLessThan(150);
});

test("the first guess matches half of the people, and one of sixteen guesses matches three of four", () => {
  const first = report("first guess", searches, ({ rank }) => rank === 1);
  const within = report("within sixteen", searches, ({ rank }) => rank > 0);

  expect(first).toBeGreaterThanOrEqual(0.5);
  expect(within).toBeGreaterThanOrEqual(0.76);
});

test("from a domain's third person on, the first guess matches more people", () => {
  const later = searches.filter(({ nth }) => nth > 2);

  expect(report("from the third", later, ({ rank }) => rank === 1)).toBeGreaterThanOrEqual(0.57);
});

test("without knowledge of the domain, one of sixteen guesses matches three of four people, too", () => {
  const first = report("first guess, alone", searches, ({ rankAlone }) => rankAlone === 1);
  const within = report("within sixteen, alone", searches, ({ rankAlone }) => rankAlone > 0);

  expect(first).toBeGreaterThanOrEqual(0.46);
  expect(within).toBeGreaterThanOrEqual(0.76);
});

test("a verified address belongs to the person, save for namesakes with one initial at a flast company", () => {
  const valid = searches.filter(({ status }) => status === "valid");
  const wrong = valid.filter(
    ({ email, person, employer }) => email !== `${person.local}@${employer.domain}`,
  );
  // The company itself has given the second one a number: nothing that a server says tells the two apart.
  const others = wrong.filter(
    ({ email, person, employer }) =>
      email !== `${person.local.replace(/\d$/, "")}@${employer.domain}`,
  );

  report("verified", searches, ({ status }) => status === "valid");
  console.info(`${wrong.length} of ${valid.length} verified are a namesake's`);
  expect(others.map(({ person, email }) => [person, email])).toEqual([]);
  expect(wrong.length / valid.length).toBeLessThan(0.0005);
  expect(valid.length / searches.length).toBeGreaterThan(0.55);
});
