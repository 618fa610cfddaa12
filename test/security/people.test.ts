import { openAccount, updateAccount } from "@mailproof/core/accounts/accounts";
import { createRateLimit } from "@mailproof/core/accounts/rate-limit";
import type { AppWorld } from "@mailproof/core/app-world";
import { closeAccount, disableAccount } from "@mailproof/core/background/close-account";
import { credits } from "@mailproof/core/money/credits";
import { acceptInvitation, findInvitation, invite } from "@mailproof/core/people/invitations";
import {
  buildChallengeUse,
  buildMemberWrites,
  buildPasskeyWrites,
} from "@mailproof/core/people/items";
import { findPerson, listMemberships } from "@mailproof/core/people/members";
import { erasePerson, hasNobody, resetPerson } from "@mailproof/core/people/people";
import type { Table } from "@mailproof/core/ports/table";
import { describe, expect, test } from "vitest";
import { withTable } from "../app/faulty-worlds.ts";
import { given, givenWorld } from "../app/given.ts";
import { listStoredItems } from "../app/ledger.ts";
import { createBrowser, findHalves, givenMember, givenOwner } from "../app/people.ts";
import { BASE_URL, send } from "../app/send.ts";

// Goal: a session, an invitation and a membership give what they are for, to one person, and only as long.

const HOUR_MS = 3_600_000;
const ACCEPT = "POST /v1/sign-in/link";
const PERSON = "GET /v1/person";

type Owner = Awaited<ReturnType<typeof givenOwner>>;

const getStatus = async (sent: ReturnType<typeof send>): Promise<number> => (await sent).statusCode;

/** Every item of people by its partition, without what each request records. */
const listPeopleItems = (ctx: Parameters<typeof listStoredItems>[0], prefix: RegExp) =>
  listStoredItems(ctx).filter(({ pk }) => prefix.test(pk));

const whenInvited = async ({ browser, account }: Owner, role = "member") => {
  const { data } = await browser.send("POST /v1/invitations", { account, body: { role } });
  return { token: data.url.split("#")[1] as string, id: data.invitation_id as string };
};

/** A link that signs in a person again, as an operator makes it. */
const whenReturning = async (world: AppWorld, person: string): Promise<string> => {
  const request = { kind: "return", account: null, role: "viewer", invitedBy: null } as const;
  return (await invite(world, { ...request, person })).token;
};

const sortStatuses = (answers: readonly { readonly statusCode: number }[]): readonly number[] =>
  answers.map(({ statusCode }) => statusCode).toSorted((a, b) => a - b);

const accept = (world: AppWorld, token: string, name = "Bo") => {
  const browser = createBrowser(world);
  return { browser, sent: browser.send(ACCEPT, { body: { token, accept: true, name } }) };
};

describe("a session", () => {
  test("a session ends 12 hours after its last use", async () => {
    const { browser, later } = await givenOwner();

    later(11 * HOUR_MS);
    expect(await getStatus(browser.send(PERSON))).toBe(200);
    later(11 * HOUR_MS);
    expect(await getStatus(browser.send(PERSON))).toBe(200);
    later(12 * HOUR_MS);
    expect(await getStatus(browser.send(PERSON))).toBe(401);
  });

  test("a session in constant use ends 7 days after the sign-in", async () => {
    const { browser, later } = await givenOwner();
    let hours = 0;
    for (; hours < 24 * 8; hours++) {
      later(HOUR_MS);
      if ((await getStatus(browser.send(PERSON))) !== 200) break;
    }

    expect(hours + 1).toBe(24 * 7);
  });

  test("a session outlives one change of the pepper and ends with the second", async () => {
    const { world, browser } = await givenOwner();
    const cookie = browser.getCookie();
    const ask = (keyPepper: string, keyPepperBefore: string | null) => {
      const settings = { ...world.settings, keyPepper, keyPepperBefore };
      return getStatus(createBrowser({ ...world, settings }, cookie).send(PERSON));
    };

    expect(await ask("a new pepper", world.settings.keyPepper)).toBe(200);
    expect(await ask("a newer pepper", "a new pepper")).toBe(401);
  });

  test.each<[string, Record<string, string>, number]>([
    ["another site's page", { "sec-fetch-site": "cross-site" }, 401],
    ["a page of another host of the same site", { "sec-fetch-site": "same-site" }, 401],
    ["a link or the address bar", { "sec-fetch-site": "none" }, 401],
    ["a program", {}, 401],
    ["an old browser's own page", { origin: BASE_URL }, 200],
    ["an old browser's other page", { origin: "https://evil.example" }, 401],
    ["an old browser's page without an origin", { origin: "null" }, 401],
    [
      "another site's page with our origin",
      { origin: BASE_URL, "sec-fetch-site": "cross-site" },
      401,
    ],
  ])("the cookie sent by %s with %j answers %i", async (_, headers, status) => {
    const { world, browser } = await givenOwner();

    const cookie = browser.getCookie() ?? "";
    const asked = await send(world, PERSON, { headers: { ...headers, cookie } });

    expect(asked.statusCode).toBe(status);
    expect(asked.headers["access-control-allow-credentials"]).toBeUndefined();
  });

  test("another page can neither read nor accept an invitation", async () => {
    const owner = await givenOwner();
    const { token } = await whenInvited(owner);
    for (const site of ["cross-site", "same-site", "none"])
      expect(
        await getStatus(
          send(owner.world, ACCEPT, { headers: { "sec-fetch-site": site }, body: { token } }),
        ),
      ).toBe(403);
  });

  test("a request with a cookie and a key counts as the key's, also when the key is wrong", async () => {
    const { world, browser, liveKey, account } = await givenOwner();
    const own = { cookie: browser.getCookie() ?? "", "sec-fetch-site": "same-origin" };
    const ask = (route: string, more: Record<string, string>) =>
      getStatus(send(world, route, { headers: { ...own, ...more, "mailproof-account": account } }));

    expect(await ask("GET /v1/account", { "x-api-key": liveKey })).toBe(200);
    expect(await ask("GET /v1/members", { "x-api-key": liveKey })).toBe(403);
    expect(await ask("GET /v1/members", { authorization: `Bearer ${liveKey}` })).toBe(403);
    expect(await ask("GET /v1/members", { "x-api-key": "mp_live_wrong" })).toBe(401);
    expect(await ask("GET /v1/members", { authorization: "Basic x" })).toBe(401);
    expect(await ask("GET /v1/members", {})).toBe(200);
  });

  test("two session cookies in one request are refused", async () => {
    const owner = await givenOwner();
    const other = await givenMember(owner, "viewer");
    const [mine, theirs] = [owner.browser.getCookie(), other.browser.getCookie()];

    for (const cookie of [`${mine}; ${theirs}`, `${theirs}; ${mine}`, `${mine}; ${mine}`])
      expect(await getStatus(owner.browser.send(PERSON, { headers: { cookie } }))).toBe(401);
  });

  test("a sign-in never adopts a cookie that was set before, and ends the earlier session", async () => {
    const owner = await givenOwner();
    const planted = `__Host-mailproof=${"A".repeat(43)}`;
    const victim = createBrowser(owner.world);
    const { token } = await whenInvited(owner);
    await victim.send(ACCEPT, {
      headers: { cookie: planted },
      body: { token, accept: true, name: "Bo" },
    });

    expect(victim.getCookie()).not.toBe(planted);
    expect(await getStatus(victim.send(PERSON, { headers: { cookie: planted } }))).toBe(401);

    const before = owner.browser.getCookie() ?? "";
    const { data } = await owner.browser.send(PERSON);
    const token2 = await whenReturning(owner.world, data.person_id);
    await owner.browser.send(ACCEPT, { body: { token: token2, accept: true } });
    expect(await getStatus(owner.browser.send(PERSON))).toBe(200);
    expect(await getStatus(owner.browser.send(PERSON, { headers: { cookie: before } }))).toBe(401);
  });

  test("a session admits to no account that its person is not a member of", async () => {
    const { world, browser, account } = await givenOwner();
    const request = { name: "Other", plan: "pro", opening: 0 as never } as const;
    const other = await openAccount(world, request);
    const disabled = await openAccount(world, request);
    await disableAccount(world, disabled.account);
    const asked = [other.account, disabled.account, "acc_none", "~test", "x".repeat(5_000)].map(
      (one) => browser.send("GET /v1/account", { account: one }),
    );

    for (const { statusCode, error } of await Promise.all(asked))
      expect({ statusCode, message: error.message }).toEqual({
        statusCode: 401,
        message: expect.stringContaining("Send a valid API key"),
      });
    expect(await getStatus(browser.send("GET /v1/account", { account }))).toBe(200);
  });

  test("signing out ends one session, and everywhere ends all of the person's", async () => {
    const owner = await givenOwner();
    const other = await givenMember(owner, "viewer");
    const { data } = await owner.browser.send(PERSON);
    const [phone, laptop] = [createBrowser(owner.world), createBrowser(owner.world)];
    for (const browser of [phone, laptop]) {
      const token = await whenReturning(owner.world, data.person_id);
      await browser.send(ACCEPT, { body: { token, accept: true } });
    }
    const cookie = laptop.getCookie() ?? "";

    await laptop.send("DELETE /v1/session");
    expect(laptop.getCookie()).toBe("__Host-mailproof=");
    expect(await getStatus(laptop.send(PERSON, { headers: { cookie } }))).toBe(401);
    expect(await getStatus(phone.send(PERSON))).toBe(200);

    owner.later(1);
    await phone.send("DELETE /v1/session", { query: { everywhere: "true" } });
    expect(await getStatus(owner.browser.send(PERSON))).toBe(401);
    expect(await getStatus(other.browser.send(PERSON))).toBe(200);
  });

  test("a reset ends the person's sessions, removes passkeys on request, and prints one link for one sign-in", async () => {
    const owner = await givenOwner();
    const { data } = await owner.browser.send(PERSON);
    const person = data.person_id as string;
    const passkey = { id: "cred", person, name: "Key", publicKey: "k", counter: 0, host: "h" };
    await owner.table.transact(buildPasskeyWrites({ ...passkey, createdAt: "2026" }));
    owner.later(1);

    const replaced = await resetPerson(owner.world, person, false);
    expect(listPeopleItems(owner, /^PASSKEY#/)).toHaveLength(1);
    const { token } = await resetPerson(owner.world, person, true);

    expect(JSON.stringify(listStoredItems(owner))).not.toContain("PASSKEY#");
    expect(await getStatus(owner.browser.send(PERSON))).toBe(401);
    expect(await getStatus(accept(owner.world, replaced.token).sent)).toBe(404);
    const { browser, sent } = accept(owner.world, token);
    expect((await sent).data.signed_in).toEqual({ person_id: person });
    expect((await browser.send(PERSON)).data.accounts).toHaveLength(1);
    expect(await getStatus(accept(owner.world, token).sent)).toBe(404);
  });
});

describe("a role", () => {
  test("a role that was lowered while the body arrived counts as lowered", async () => {
    const owner = await givenOwner();
    const { account } = owner;
    const { browser, person } = await givenMember(owner, "owner");
    const lower = () =>
      owner.browser.send(`PUT /v1/members/${person}`, { account, body: { role: "viewer" } });

    const sent = await browser.send(`PUT /v1/members/${person}`, {
      account,
      readBody: async () => {
        await lower();
        return { role: "owner" };
      },
    });

    expect(sent.statusCode).toBe(403);
    const { data } = await owner.browser.send("GET /v1/members", { account });
    expect(data.members.map(({ role }: { role: string }) => role)).toEqual(["owner", "viewer"]);
  });

  test("a member who is removed while a file arrives starts no job with it", async () => {
    const owner = await givenOwner({ balance: 10 });
    const { account, world } = owner;
    const { browser, person } = await givenMember(owner, "member");
    const put: typeof world.blobs.put = async (...args) => {
      await owner.browser.send(`DELETE /v1/members/${person}`, { account });
      return world.blobs.put(...args);
    };

    const sent = await send({ ...world, blobs: { ...world.blobs, put } }, "POST /v1/verify/file", {
      headers: {
        cookie: browser.getCookie() ?? "",
        "sec-fetch-site": "same-origin",
        "mailproof-account": account,
      },
      form: [{ name: "file", fileName: "a.csv", content: "email\na@b.example\n" }],
    });

    expect(sent.statusCode).toBe(401);
    expect((await browser.send(PERSON)).data.accounts).toEqual([]);
    const { data } = await owner.browser.send("GET /v1/jobs", { account });
    expect(data.jobs).toEqual([]);
  });

  test.each(["another member", "the author"])(
    "a change of %s commits only while its author has the role that admitted it",
    async (whose) => {
      const owner = await givenOwner();
      const { account, world } = owner;
      const author = await givenMember(owner, "owner");
      const other = await givenMember(owner, "member");
      const { person } = whose === "the author" ? author : other;
      let isLowered = false;
      // The author is lowered after the request was admitted, and before its handler reads the member.
      const get: Table["get"] = async (key) => {
        const isHandled = key.pk.startsWith("MEMBERS#") && ++reads === 3;
        if (isHandled) {
          const body = { role: "viewer" };
          await owner.browser.send(`PUT /v1/members/${author.person}`, { account, body });
          isLowered = true;
        }
        return owner.table.get(key);
      };
      let reads = 0;

      const browser = createBrowser(withTable(owner, { get }), author.browser.getCookie());
      const body = { role: "owner" };
      const changed = await browser.send(`PUT /v1/members/${person}`, { account, body });

      expect([isLowered, changed.statusCode]).toEqual([true, 503]);
      const item = await world.table.get({ pk: `MEMBERS#${account}`, sk: person });
      expect(item?.["role"]).toBe(whose === "the author" ? "viewer" : "member");
    },
  );

  test("a member whose role changed signs in again for that account alone", async () => {
    const owner = await givenOwner();
    const { account } = owner;
    const { browser, person } = await givenMember(owner, "member");
    owner.later(1);
    await owner.browser.send(`PUT /v1/members/${person}`, { account, body: { role: "admin" } });

    expect(await getStatus(browser.send("GET /v1/account", { account }))).toBe(401);
    expect(await getStatus(browser.send(PERSON))).toBe(200);
  });

  test("an admin neither makes, changes, removes nor invites an owner, nor withdraws an owner's invitation", async () => {
    const owner = await givenOwner();
    const { account } = owner;
    const { browser, person } = await givenMember(owner, "admin");
    const { data } = await owner.browser.send(PERSON);
    const { id } = await whenInvited(owner, "owner");

    const tried = [
      [`PUT /v1/members/${person}`, { role: "owner" }],
      [`PUT /v1/members/${data.person_id}`, { role: "viewer" }],
      [`DELETE /v1/members/${data.person_id}`, undefined],
      ["POST /v1/invitations", { role: "owner" }],
      [`DELETE /v1/invitations/${id}`, undefined],
    ] as const;
    for (const [route, body] of tried)
      expect([route, await getStatus(browser.send(route, { account, body }))]).toEqual([
        route,
        403,
      ]);
  });

  test("of two owners who leave or lower themselves at once one stays", async () => {
    for (const [route, body] of [
      ["DELETE", undefined],
      ["PUT", { role: "viewer" }],
    ] as const) {
      const owner = await givenOwner();
      const { account } = owner;
      const second = await givenMember(owner, "owner");
      const first = (await owner.browser.send(PERSON)).data.person_id;
      const answers = await Promise.all([
        owner.browser.send(`${route} /v1/members/${first}`, { account, body }),
        second.browser.send(`${route} /v1/members/${second.person}`, { account, body }),
      ]);

      expect(sortStatuses(answers)).toEqual([200, 403]);
      expect(answers.map(({ error }) => error?.message).join("")).toContain("needs an owner");
      const owners = listPeopleItems(owner, /^MEMBERS#/).filter(({ role }) => role === "owner");
      expect(owners).toHaveLength(1);
    }
  });
});

describe("an invitation", () => {
  test("of two browsers that accept one invitation at once one becomes a member, with one session", async () => {
    const owner = await givenOwner();
    const before = listPeopleItems(owner, /^(SESSION|PERSON|MEMBERS)#/).length;
    const { token } = await whenInvited(owner);

    const answers = await Promise.all(
      ["Bo", "Eve"].map((name) => accept(owner.world, token, name).sent),
    );

    expect(sortStatuses(answers)).toEqual([200, 404]);
    const left = listPeopleItems(owner, /^(SESSION|PERSON|MEMBERS|INVITES?)#/);
    // A session, a person with its mirror, and a member.
    expect(left).toHaveLength(before + 4);
  });

  test("of two browsers at the first visit one becomes the owner of one new account", async () => {
    const ctx = givenWorld();
    const { world } = ctx;
    const request = { kind: "first", account: null, role: "owner", invitedBy: null } as const;
    const replaced = await invite(world, request);
    const { token } = await invite(world, request);

    const answers = await Promise.all([
      accept(world, token, "Ada").sent,
      accept(world, token, "Eve").sent,
      accept(world, replaced.token, "Mallory").sent,
    ]);

    expect(sortStatuses(answers)).toEqual([200, 404, 404]);
    expect(listPeopleItems(ctx, /^(ACCOUNT|MEMBERS|OWNERS)#/)).toHaveLength(3);
  });

  test("a link of the first visit works only while the service has no person", async () => {
    const first = { kind: "first", role: "owner", invitedBy: null } as const;
    for (const kind of ["first", "member"] as const) {
      const ctx = await given();
      const { world, account } = ctx;
      expect(await hasNobody(world.table)).toBe(true);
      const late = await invite(world, { ...first, account: null });
      const { token } = await invite(world, { ...first, kind, account });

      expect(await getStatus(accept(world, token).sent)).toBe(200);

      expect(await hasNobody(world.table)).toBe(false);
      expect(await getStatus(accept(world, late.token).sent)).toBe(404);
      expect(listPeopleItems(ctx, /^ACCOUNT#/)).toHaveLength(1);
    }
  });

  test("an invitation works for 48 hours", async () => {
    const owner = await givenOwner();
    const [one, two] = [await whenInvited(owner), await whenInvited(owner)];

    owner.later(48 * HOUR_MS - 1_000);
    expect(await getStatus(accept(owner.world, one.token).sent)).toBe(200);
    owner.later(1_000);
    expect(await getStatus(accept(owner.world, two.token).sent)).toBe(404);
  });

  test("an invitation ends when its inviter is removed or may no longer invite the role", async () => {
    const owner = await givenOwner();
    const { account } = owner;
    const { browser, person } = await givenMember(owner, "admin");
    const { token } = await whenInvited({ ...owner, browser } as Owner, "admin");
    await owner.browser.send(`DELETE /v1/members/${person}`, { account });

    expect(await getStatus(accept(owner.world, token).sent)).toBe(404);
    const own = browser.send(ACCEPT, { body: { token, accept: true } });
    expect(await getStatus(own)).toBe(404);
  });

  test("a member who accepts another invitation of the account keeps the role", async () => {
    const owner = await givenOwner();
    const { browser, person } = await givenMember(owner, "admin");
    const { token } = await whenInvited(owner, "viewer");

    const again = await browser.send(ACCEPT, { body: { token, accept: true } });

    expect(again).toMatchObject({
      statusCode: 403,
      error: { message: expect.stringContaining("already a member") },
    });
    const item = await owner.world.table.get({ pk: `MEMBERS#${owner.account}`, sk: person });
    expect(item?.["role"]).toBe("admin");
  });

  test("an invited member cannot rename the account", async () => {
    const owner = await givenOwner();
    const { token } = await whenInvited(owner);
    await createBrowser(owner.world).send(ACCEPT, {
      body: { token, accept: true, name: "Bo", account_name: "Mine now" },
    });

    const { data } = await owner.browser.send(PERSON);
    expect(data.accounts[0].name).toBe("Lovelace Ltd");
  });

  test("nobody joins a closed account, and closing removes its people and invitations", async () => {
    const owner = await givenOwner();
    const { browser } = await givenMember(owner, "viewer");
    const { token } = await whenInvited(owner);

    // A crash may follow the first step of the closing.
    await updateAccount(owner.table, owner.account, { closedAt: "2026" });
    expect(await getStatus(accept(owner.world, token).sent)).toBe(404);
    const closed = await closeAccount(owner.world, owner.account);

    expect(closed.members).toBe(2);
    expect(listPeopleItems(owner, /^(MEMBERS|OWNERS|INVITES?)#/)).toEqual([]);
    expect((await browser.send(PERSON)).data.accounts).toEqual([]);
  });
});

describe("a lost reply", () => {
  /** From the nth transaction on, each reply is lost, whether the table wrote or not. */
  const withLostReplies = (owner: Owner, wrote: (n: number) => boolean): AppWorld => {
    let n = 0;
    return {
      ...withTable(owner, {
        transact: async (writes, attempt) => {
          if (wrote(n++)) await owner.table.transact(writes, attempt);
          return { outcome: "ambiguous" };
        },
      }),
      sleep: async () => undefined,
    };
  };

  const PATTERNS: readonly (readonly [string, (n: number) => boolean])[] = [
    ["nothing is written", () => false],
    ["the first attempt is written", (n) => n === 0],
    ["the last attempt is written", (n) => n === 3],
    ["every attempt is written", () => true],
  ];

  test.each(PATTERNS)("a lost reply leaves no half of a membership when %s", async (_, wrote) => {
    for (const act of ["accept", "update", "remove", "erase"] as const) {
      const owner = await givenOwner();
      const { account, browser } = owner;
      const { token } = await whenInvited(owner, "owner");
      const { person } = await givenMember(owner, "owner");
      const lossy = withLostReplies(owner, wrote);
      const lost = createBrowser(lossy, browser.getCookie());
      const body = { role: "viewer" };

      const status = await {
        accept: () => getStatus(accept(lossy, token).sent),
        update: () => getStatus(lost.send(`PUT /v1/members/${person}`, { account, body })),
        remove: () => getStatus(lost.send(`DELETE /v1/members/${person}`, { account })),
        erase: () =>
          erasePerson(lossy, person).then(
            () => 200,
            () => 503,
          ),
      }[act]();

      expect([act, await findHalves(owner.world, account)]).toEqual([act, []]);
      // The answer is true, or says that the outcome is not known.
      expect([200, 503]).toContain(status);
    }
  });
});

test("an erased person leaves neither name, address, sign-ins nor memberships, and the last owner stays", async () => {
  const owner = await givenOwner();
  const { account, browser } = owner;
  const email = "quill@erased.example";
  const invited = await browser.send("POST /v1/invitations", {
    account,
    body: { role: "member", email },
  });
  const joined = createBrowser(owner.world);
  const body = { token: invited.data.url.split("#")[1], accept: true, name: "Zachary Quill" };
  const { person_id: person } = (await joined.send(ACCEPT, { body })).data.signed_in;

  await erasePerson(owner.world, person);

  expect(await getStatus(joined.send(PERSON))).toBe(401);
  expect(JSON.stringify(listStoredItems(owner))).not.toMatch(/quill/i);
  expect(listPeopleItems(owner, new RegExp(`^PERSON#${person}$`))).toEqual([]);
  await expect(erasePerson(owner.world, person)).rejects.toThrow(`No person ${person}`);
  const { data } = await browser.send(PERSON);
  await expect(erasePerson(owner.world, data.person_id)).rejects.toThrow("needs an owner");
  expect(await getStatus(browser.send("GET /v1/members", { account }))).toBe(200);
});

test("every session, challenge and invitation expires, so that no sweep has to know them", async () => {
  const owner = await givenOwner();
  await whenInvited(owner);
  const use = buildChallengeUse("challenge", 1_900_000_000);
  await owner.table.transact([use]);

  const items = listPeopleItems(owner, /^(SESSION|CHALLENGE|INVITES?)#/);

  expect(items.map(({ pk }) => pk.replace(/#.*/, "")).toSorted()).toEqual([
    "CHALLENGE",
    "INVITE",
    "INVITES",
    "SESSION",
  ]);
  expect(items.filter((item) => typeof item.expires_at !== "number")).toEqual([]);
});

test("the request log names the person who was signed in", async () => {
  const owner = await givenOwner();
  const { account, browser } = owner;
  const { browser: viewer, person } = await givenMember(owner, "viewer");
  await viewer.send("POST /v1/verify", { account, body: { email: "a@b.example" } });

  const { data } = await browser.send("GET /v1/requests", { account, query: { key_id: person } });

  expect(data.requests).toMatchObject([{ route: "/v1/verify", status: 403, key_id: person }]);
});

describe("an admin with a limit", () => {
  const givenLimitedAdmin = async (limits: object) => {
    const owner = await givenOwner();
    return { owner, account: owner.account, ...(await givenMember(owner, "admin", limits)) };
  };

  test.each([{ area: "lists" }, { monthly_credits: 5 }])(
    "an admin limited by %j lifts the limit neither alone nor by a second member",
    async (limits) => {
      const { owner, account, browser, person } = await givenLimitedAdmin(limits);
      const other = await givenMember(owner, "viewer");
      const body = { role: "admin" };

      const refused = [
        await browser.send(`PUT /v1/members/${person}`, { account, body }),
        await browser.send(`PUT /v1/members/${other.person}`, { account, body }),
        await browser.send("POST /v1/invitations", { account, body }),
      ];

      expect(refused.map(({ statusCode }) => statusCode)).toEqual([403, 403, 403]);
      expect(refused[0]?.error.message).toContain("Your access is limited");
      const removed = browser.send(`DELETE /v1/members/${other.person}`, { account });
      expect(await getStatus(removed)).toBe(200);
    },
  );

  test("the area of an account does not keep its admins from managing members", async () => {
    const { owner, account, browser } = await givenLimitedAdmin({});
    await owner.browser.send("PUT /v1/account/limits", { account, body: { area: "lists" } });

    const body = { role: "member" };
    expect(await getStatus(browser.send("POST /v1/invitations", { account, body }))).toBe(201);
  });

  test("the open invitations of an admin are withdrawn when the admin gets a limit", async () => {
    const { owner, account, browser, person } = await givenLimitedAdmin({});
    const { token } = await whenInvited({ ...owner, browser } as Owner, "admin");
    const kept = await whenInvited(owner, "admin");
    const body = { role: "admin", monthly_credits: 5 };
    await owner.browser.send(`PUT /v1/members/${person}`, { account, body });

    expect(await getStatus(accept(owner.world, token).sent)).toBe(404);
    expect(await getStatus(accept(owner.world, kept.token).sent)).toBe(200);
  });
});

test.each(["removed", "lowered"])(
  "an inviter who was %s and comes back brings no invitation back",
  async (how) => {
    const owner = await givenOwner();
    const { account } = owner;
    const { browser, person } = await givenMember(owner, "admin");
    const { token } = await whenInvited({ ...owner, browser } as Owner, "admin");
    const change = (role: string) =>
      owner.browser.send(`PUT /v1/members/${person}`, { account, body: { role } });
    if (how === "lowered") await change("viewer");
    else await owner.browser.send(`DELETE /v1/members/${person}`, { account });

    const { data } = await owner.browser.send("GET /v1/members", { account });
    expect(data.invitations).toEqual([]);
    if (how === "lowered") await change("admin");
    else {
      const again = await whenInvited(owner, "admin");
      await browser.send(ACCEPT, { body: { token: again.token, accept: true } });
    }
    expect(await getStatus(accept(owner.world, token).sent)).toBe(404);
  },
);

test("a change of the people is in the log of live requests, also when a test header hides it", async () => {
  const owner = await givenOwner();
  const { account, browser } = owner;
  const { person } = await givenMember(owner, "viewer");
  await browser.send(`DELETE /v1/members/${person}`, { account: `${account}~test` });

  const { data } = await browser.send("GET /v1/requests", { account });

  expect(data.requests[0]).toMatchObject({ route: "/v1/members/{id}", status: 200 });
});

test("the erasure of an owner changes nothing when one of the accounts would lose its last owner", async () => {
  const owner = await givenOwner();
  const { person } = await givenMember(owner, "owner");
  const second = await openAccount(owner.world, {
    name: "Second",
    plan: "free",
    opening: credits(0),
  });
  const { token } = await invite(owner.world, {
    kind: "member",
    account: second.account,
    role: "owner",
    invitedBy: null,
  });
  const found = await findPerson(owner.table, person);
  const invitation = await findInvitation(owner.world, token);
  if (!invitation || !found) throw new Error("no invitation");
  await acceptInvitation(owner.world, invitation, { person: found, name: "Bo" });

  await expect(erasePerson(owner.world, person)).rejects.toThrow("needs an owner");

  expect(await listMemberships(owner.table, person)).toHaveLength(2);
});

test("a person who joins or adds a passkey during the erasure is erased with it", async () => {
  const owner = await givenOwner();
  const { person } = await givenMember(owner, "viewer");
  const second = await openAccount(owner.world, {
    name: "Second",
    plan: "free",
    opening: credits(0),
  });
  const member = { account: second.account, person, role: "viewer", since: "2026" } as const;
  const key = "A".repeat(22);
  const passkey = { id: key, person, name: "late", publicKey: "", counter: 0, host: "localhost" };
  const late = withTable(owner, {
    transact: async (writes, attempt) => {
      if (writes.some((write) => "remove" in write && write.remove.sk === "PERSON"))
        await owner.table.transact([
          ...buildMemberWrites(member),
          ...buildPasskeyWrites({ ...passkey, createdAt: "2026" }),
        ]);
      return owner.table.transact(writes, attempt);
    },
  });

  await erasePerson(late, person);

  expect(
    listPeopleItems(owner, new RegExp(`${person}|^PASSKEY#|^MEMBERS#${second.account}`)),
  ).toEqual([]);
});

describe("a clock that was set back", () => {
  test("a session that began after the present is refused", async () => {
    const { browser, later } = await givenOwner();
    later(-HOUR_MS);

    expect(await getStatus(browser.send(PERSON))).toBe(401);
  });

  test("by less than five minutes ends no session", async () => {
    const { browser, later } = await givenOwner();
    later(-60_000);

    expect(await getStatus(browser.send(PERSON))).toBe(200);
  });
});

test.each([
  "acc_1~test~test",
  "ACC_1",
  "acc_1,acc_1",
  "acc_1\u0000",
  "acc_1 ",
  "",
  "~test",
  "acc_1".repeat(2_000),
  "person_1",
])("the account header %j admits to no account", async (header) => {
  const { browser } = await givenOwner();

  const sent = browser.send("GET /v1/account", { headers: { "mailproof-account": header } });

  expect(await getStatus(sent)).toBe(401);
});

test.each<[string, (token: string) => string]>([
  ["in quotes", (token) => `__Host-mailproof="${token}"`],
  ["in another case", (token) => `__host-mailproof=${token}`],
  ["after a quoted neighbour", (token) => `a="b; __Host-mailproof=${token}"`],
  ["of a megabyte", (token) => `__Host-mailproof=${token.repeat(24_000)}`],
  ["with a space inside", (token) => `__Host-mailproof =${token}`],
])("a session cookie %s is refused", async (_, toCookie) => {
  const { world, browser } = await givenOwner();
  const token = browser.getCookie()?.split("=")[1] ?? "";

  const sent = createBrowser(world, toCookie(token)).send(PERSON);

  expect(await getStatus(sent)).toBe(401);
});

test("a stranger's requests store nothing", async () => {
  const owner = await givenOwner();
  const before = listStoredItems(owner).length;
  const stranger = createBrowser(owner.world, `__Host-mailproof=${"x".repeat(43)}`);

  for (const [what, body] of [
    [ACCEPT, { token: "x".repeat(43), accept: true, name: "Eve" }],
    ["POST /v1/sign-in/passkey", { action: "start" }],
    ["POST /v1/sign-in/oidc", { action: "start" }],
    ["DELETE /v1/session", undefined],
    ["POST /v1/invitations", { role: "owner" }],
    ["POST /v1/mail/unsubscribe?token=x", undefined],
  ] as const)
    await stranger.send(what, { body, account: owner.account });

  expect(listStoredItems(owner)).toHaveLength(before);
});

test("a person who has used up a minute in one account goes on in another", async () => {
  const { world, table } = await givenOwner();
  const limit = createRateLimit(table, world.now);
  const count = (owner: string) => limit({ owner, keyId: "person_1" }, { key: 1, account: 2 });
  await count("acc_1");

  expect(await count("acc_1")).toMatchObject({ allowed: false, by: "key" });
  expect(await count("acc_2")).toMatchObject({ allowed: true });
  expect(await count("acc_1")).toMatchObject({ allowed: false });
});

test("an account has at most a thousand members and open invitations", async () => {
  const owner = await givenOwner();
  const { account } = owner;
  const since = "2026";
  for (let n = 2; n <= 999; n++)
    await owner.table.transact(
      buildMemberWrites({ account, person: `person_x${n}`, role: "viewer", since }),
    );
  const ask = () =>
    owner.browser.send("POST /v1/invitations", { account, body: { role: "viewer" } });

  expect((await ask()).statusCode).toBe(201);
  expect(await ask()).toMatchObject({
    error: { code: "LIMIT_REACHED", message: expect.stringContaining("1000 members") },
  });
});

test("a session that is old redirects no webhook, and still switches one off", async () => {
  const { browser, account, later } = await givenOwner();
  const body = { url: "https://hooks.example.com/a", events: ["job.completed"] };
  const made = await browser.send("POST /v1/webhooks", { account, body });
  expect(made.statusCode).toBe(201);
  later(300_001);
  const change = (fields: object) =>
    browser.send(`PUT /v1/webhooks/${made.data.id}`, { account, body: fields });

  const refused = await change({ url: "https://evil.example.com/a" });

  expect(refused).toMatchObject({ statusCode: 403, error: { details: { sign_in_again: true } } });
  expect((await change({ status: "disabled" })).statusCode).toBe(200);
});
