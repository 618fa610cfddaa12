import { findAccount } from "../accounts/accounts.ts";
import type { Area } from "../accounts/scopes.ts";
import { findMember, findPerson, listMembers } from "../people/members.ts";

import { findItem } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import { findJob } from "../rows/items.ts";
import { type OutboxEvent, readEvent, toEventKey } from "../webhooks/items.ts";
import type { Letter, MailContent } from "../webhooks/mail-items.ts";
import {
  writeBalanceLetter,
  writeDepletedLetter,
  writeDmarcLetter,
  writeListedLetter,
  writeListLetter,
  writeWeekLetter,
} from "./texts.ts";
import { readWeek } from "./week.ts";

// Who gets which letter. The person who sent a list gets its end; anything else goes to the owners and admins whose area it is.

type Addressed = { readonly letter: Letter; readonly people: readonly string[] };

/** An event about a list that is gone, or that one caller waited for, concerns nobody. */
const NOBODY: Addressed = { letter: { subject: "", blocks: [], screen: "" }, people: [] };

const PEOPLE_MAX = 20;

export const address = async (
  world: World,
  account: string,
  content: Extract<MailContent, { kind: "event" | "week" }>,
): Promise<Addressed> => {
  const found = await findAccount(world.table, account);
  if (!found) return NOBODY;
  if (content.kind === "week") {
    const people = await listManagers(world, account, ["lists", "domains"]);
    if (people.length === 0) return NOBODY;
    return { letter: writeWeekLetter(await readWeek(world, found, content.monday)), people };
  }
  const event = await findItem(world.table, toEventKey(content.event), readEvent);
  return event ? addressEvent(world, event, found.name) : NOBODY;
};

const addressEvent = async (
  world: World,
  { owner: account, type, data }: OutboxEvent,
  accountName: string,
): Promise<Addressed> => {
  if (type === "job.completed" || type === "job.failed") {
    const job = await findJob(world.table, String(data["job_id"]));
    if (!job || job.kind === "single") return NOBODY;
    const letter = writeListLetter(job, type === "job.failed");
    const people =
      job.person === undefined
        ? await listManagers(world, account, ["lists"])
        : await findUploader(world, account, job.person);
    return { letter, people };
  }
  const { areas, write } = LETTERS[type] ?? { areas: [], write: null };
  if (!write) return NOBODY;
  const people = await listManagers(world, account, areas);
  return { letter: write(data as never, accountName), people };
};

type Writer = {
  readonly areas: readonly Area[];
  readonly write: (data: never, accountName: string) => Letter;
};

const LETTERS: { readonly [T in OutboxEvent["type"]]?: Writer } = {
  "credits.low": { areas: [], write: writeBalanceLetter },
  "credits.depleted": { areas: [], write: writeDepletedLetter },
  "blacklist.detected": { areas: ["domains"], write: writeListedLetter },
  "dmarc.failed": { areas: ["domains"], write: writeDmarcLetter },
};

const findUploader = async (
  world: World,
  account: string,
  person: string,
): Promise<readonly string[]> =>
  (await findMember(world.table, account, person)) && (await wantsMail(world, person))
    ? [person]
    : [];

/** The owners and admins who have a known address, want mail, and may read these areas. */
const listManagers = async (
  world: World,
  account: string,
  areas: readonly Area[],
): Promise<readonly string[]> => {
  const people: string[] = [];
  for (const { person, role, area } of await listMembers(world.table, account)) {
    const mayRead =
      role === "owner" ||
      (role === "admin" && (area === undefined || areas.every((one) => one === area)));
    if (mayRead && (await wantsMail(world, person))) people.push(person);
    if (people.length === PEOPLE_MAX) break;
  }
  return people;
};

const wantsMail = async ({ table }: World, id: string): Promise<boolean> => {
  const person = await findPerson(table, id);
  return person?.email !== undefined && !person.noMail;
};
