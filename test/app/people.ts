import type { AppWorld } from "@mailproof/core/app-world";
import { invite, listInvitations } from "@mailproof/core/people/invitations";
import { type Member, toInvitationKey, toOwnersKey } from "@mailproof/core/people/items";
import { findPerson, listMembers, listMemberships } from "@mailproof/core/people/members";
import { iteratePeople } from "@mailproof/core/people/people";
import type { Role } from "@mailproof/core/people/roles";
import type { World } from "@mailproof/core/ports/world";
import { given } from "./given.ts";
import { send, type TestResponse } from "./send.ts";

/** What a browser sends with a request of the dashboard. */
const OWN_PAGE = { "sec-fetch-site": "same-origin" };

type Sent = {
  readonly account?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly query?: Readonly<Record<string, string>>;
  readonly readBody?: () => Promise<unknown>;
};

export type Browser = {
  readonly send: (what: string, sent?: Sent) => Promise<TestResponse>;
  readonly getCookie: () => string | undefined;
};

/** A browser that keeps the session's cookie. */
export const createBrowser = (world: AppWorld, cookie?: string): Browser => {
  return {
    getCookie: () => cookie,
    send: async (what, { account, headers, ...sent } = {}) => {
      const response = await send(world, what, {
        ...sent,
        headers: {
          ...OWN_PAGE,
          ...(cookie && { cookie }),
          ...(account && { "mailproof-account": account }),
          ...headers,
        },
      });
      const set = response.headers["set-cookie"];
      if (set) [cookie] = set.split(";");
      return response;
    },
  };
};

/** Signs in the owner of the first account, in a browser. */
export const givenOwner = async (options?: Parameters<typeof given>[0]) => {
  const app = await given(options);
  const account = "acc_1";
  const { token } = await invite(app.world, {
    kind: "first",
    account,
    role: "owner",
    invitedBy: null,
  });
  const browser = createBrowser(app.world);
  const body = { token, accept: true, name: "Ada", account_name: "Lovelace Ltd" };
  const accepted = await browser.send("POST /v1/sign-in/link", { body });
  return { ...app, account, browser, accepted, token };
};

/** Invites and signs in a member with this role. */
export const givenMember = async (
  { world, browser, account }: Awaited<ReturnType<typeof givenOwner>>,
  role: Role,
  limits: object = {},
) => {
  const invited = await browser.send("POST /v1/invitations", {
    account,
    body: { role, ...limits },
  });
  const token = (invited.data.url as string).split("#")[1];
  const member = createBrowser(world);
  const joined = await member.send("POST /v1/sign-in/link", {
    body: { token, accept: true, name: "Bo" },
  });
  return { browser: member, person: joined.data.signed_in.person_id as string };
};

/** What a crash or a lost reply must never leave: a membership without its mirror, or another number of owners. */
export const findHalves = async (
  world: Pick<World, "table" | "now">,
  account: string,
): Promise<readonly string[]> => {
  const { table } = world;
  const members = await listMembers(table, account);
  const people = new Set(members.map(({ person }) => person));
  for await (const { id } of iteratePeople(table)) people.add(id);
  const mirrors: Member[] = [];
  const halves: string[] = [];
  for (const person of people) {
    mirrors.push(...(await listMemberships(table, person)));
    if (!(await findPerson(table, person))) halves.push(`${person} is a member and no person`);
  }
  const write = (all: readonly Member[]) => JSON.stringify(all.map(toLine).toSorted());
  if (write(members) !== write(mirrors))
    halves.push(`members ${write(members)}, mirrors ${write(mirrors)}`);
  const owners = members.filter(({ role }) => role === "owner").length;
  const counted = (await table.get(toOwnersKey(account)))?.["owners"];
  if (owners !== counted) halves.push(`${owners} owners, counted as ${JSON.stringify(counted)}`);
  for (const { id, hash } of await listInvitations(world as World, account))
    if (!(await table.get(toInvitationKey(hash)))) halves.push(`${id} has a mirror alone`);
  return halves;
};

const toLine = ({ account, person, role, changedAt }: Member) =>
  `${account} ${person} ${role} ${changedAt}`;
