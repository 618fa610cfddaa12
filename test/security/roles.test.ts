import { endpoints } from "@mailproof/api/endpoints";
import type { Access, Endpoint } from "@mailproof/api/http/endpoint";
import { ROLES, type Role } from "@mailproof/core/people/roles";
import { describe, expect, test } from "vitest";
import { createBrowser, givenMember, givenOwner } from "../app/people.ts";

// Goal: a role opens what it is for, on every operation, and a refusal comes before a word of the body is read.

const isScope = (access: Access): boolean => access.includes(":");

/** The operations that each caller may use, by what the operation requires. */
const MAY: Readonly<Record<Role | "key" | "nobody", (access: Access) => boolean>> = {
  owner: () => true,
  admin: (access) => access !== "unrestricted",
  member: (access) => isScope(access) || access === "person",
  viewer: (access) => access.endsWith(":read") || access === "person",
  key: (access) => isScope(access) || access === "unrestricted",
  nobody: () => false,
};

/** Operations of the account's people that their handler reserves for owners. */
const OWNERS_ALONE = ["setAccountLimits"];

type Who = keyof typeof MAY;
const WHO = Object.keys(MAY) as Who[];

const toRoute = ({ route }: Endpoint): string => route.replaceAll(/\{\w+\}/g, "x");

const givenBrowser = async (who: Who) => {
  const owner = await givenOwner({ balance: 10 });
  if (who === "owner") return { owner, browser: owner.browser };
  const isMember = (ROLES as readonly string[]).includes(who);
  const browser = isMember
    ? (await givenMember(owner, who as Role)).browser
    : createBrowser(owner.world);
  return { owner, browser };
};

const tryRoute = async (endpoint: Endpoint, who: Who, laterMs = 0) => {
  const { owner, browser } = await givenBrowser(who);
  owner.later(laterMs);
  let isRead = false;
  const { statusCode, error } = await browser.send(toRoute(endpoint), {
    account: owner.account,
    ...(who === "key" && { headers: { "x-api-key": owner.liveKey } }),
    readBody: async () => {
      isRead = true;
      return {};
    },
  });
  return { statusCode, isRead, error };
};

const closed = endpoints.filter(({ access }) => access !== "public");

describe.each(closed)("$route", (endpoint) => {
  test.each(WHO)("the route answers %s as the role's rights state", async (who) => {
    const { statusCode, isRead } = await tryRoute(endpoint, who);

    const isReserved = OWNERS_ALONE.includes(endpoint.id) && who === "admin";
    const isAllowed = MAY[who](endpoint.access);
    const refusal = isRead && !isReserved ? "refused late" : statusCode;
    const expected = who === "nobody" ? 401 : 403;
    expect([401, 403].includes(statusCode) ? refusal : "allowed").toBe(
      isAllowed && !isReserved ? "allowed" : expected,
    );
  });
});

const fresh = closed.filter(({ freshSignIn }) => freshSignIn);

test.each(fresh)(
  "$route asks an owner to sign in again five minutes after the sign-in, and never a key",
  async (endpoint) => {
    const inTime = await tryRoute(endpoint, "owner", 300_000);
    const late = await tryRoute(endpoint, "owner", 300_001);
    const byKey = await tryRoute(endpoint, "key", 300_001);

    expect(inTime.statusCode).not.toBe(403);
    expect(late).toMatchObject({
      statusCode: 403,
      isRead: false,
      error: { details: { sign_in_again: true } },
    });
    expect(byKey.error?.details?.sign_in_again).toBeUndefined();
  },
);

test("keys, invitations, roles and secrets require a recent sign-in", () => {
  expect(fresh.map(({ id }) => id)).toEqual(
    expect.arrayContaining([
      "createApiKey",
      "createInvitation",
      "createWebhook",
      "rotateWebhookSecret",
      "updateMember",
    ]),
  );
});
