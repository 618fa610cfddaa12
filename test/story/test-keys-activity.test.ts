import { readFileSync } from "node:fs";
import { SANDBOX_DAYS, SANDBOX_REPUTATIONS } from "@mailproof/core/activity/sandbox";
import { expect, test } from "vitest";
import { DAY_MS, whenActivityRead } from "../activity.ts";
import { given } from "../given.ts";
import { listStoredItems } from "../ledger.ts";
import { send } from "../send.ts";

// Goal: docs/test-keys.md lists the activity that test keys get, all of it and nothing else.
// Method: every row of its tables is asked for, and every word of our own tables is looked for among them.

const [, page = ""] = readFileSync("docs/test-keys.md", "utf8").split("## Activity");
const getRows = (first: RegExp) =>
  page
    .split("\n")
    .filter((line) => first.test(line))
    .map((line) => line.split("|").map((cell) => cell.trim().replaceAll("`", "")))
    .map(([, name = "", level = "", third = ""]) => ({ name, level, third }));

const addresses = getRows(/^\| `\w+@/);
const domains = getRows(/^\| `[\w.]+`/);

test.each(addresses)("$name is $level, last open $third, as the page says", async (row) => {
  const { world, testKey } = await given();

  const { activity } = (await whenActivityRead(world, testKey, row.name)).data;
  const { data } = await send(world, "POST /v1/activity/batch", {
    key: testKey,
    body: { emails: [row.name] },
  });

  const days = Number.parseInt(row.third, 10);
  const lastOpen = new Date(world.now().getTime() - days * DAY_MS);
  expect(activity.engagement_level).toBe(row.level);
  expect(activity.last_open?.slice(0, 10) ?? "never").toBe(
    row.third === "never" ? "never" : lastOpen.toISOString().slice(0, 10),
  );
  expect(data.results[0].activity).toEqual(activity);
});

test.each(domains)("$name is $level and listed $third, as the page says", async (row) => {
  const { world, testKey } = await given();
  const never = () => Promise.reject(new Error("the network was asked"));
  const names = { ...world.names, dns: never, listDns: never };

  const { data } = await send({ ...world, names }, `GET /v1/activity/domain/${row.name}`, {
    key: testKey,
  });

  expect(data.reputation.level).toBe(row.level);
  expect(String(data.blacklist_status.listed)).toBe(row.third);
});

test("the page leaves out no word and no label", () => {
  expect(addresses.map(({ name }) => name.split("@")[0])).toEqual(Object.keys(SANDBOX_DAYS));
  expect(domains.slice(1).map(({ name }) => name.split(".")[0])).toEqual(
    Object.keys(SANDBOX_REPUTATIONS),
  );
});

test("any other word is a person who reads, the same each time, and nothing is stored", async () => {
  const ctx = await given();
  const before = listStoredItems(ctx);

  const first = await whenActivityRead(ctx.world, ctx.testKey, "constructor@example.com");
  const second = await whenActivityRead(ctx.world, ctx.testKey, "constructor@example.com");

  expect(first.data.activity.engagement_level).toBe("high");
  expect(second.data).toEqual(first.data);
  expect(listStoredItems(ctx)).toEqual(before);
});

test("a test key's activity a year from now is as it is today", async () => {
  const { world, testKey, later } = await given();
  later(365 * DAY_MS);

  expect(
    (await whenActivityRead(world, testKey, "medium@x.com")).data.activity.engagement_level,
  ).toBe("medium");
});
