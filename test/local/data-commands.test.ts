import { expect, test } from "vitest";
import { createFolder, whenRunIn } from "../servers/running.ts";

const givenAccount = async () => {
  const folder = createFolder();
  const args = ["accounts", "create", "--name", "Joe", "--plan", "pro"];
  const { out } = await whenRunIn(folder, "admin", ...args);
  const { account_id: account } = JSON.parse(out) as { account_id: string };
  return { folder, account };
};

test("an operator sets how many days the jobs of an account are stored, up to its plan's", async () => {
  const { folder, account } = await givenAccount();
  const retain = (days: string) =>
    whenRunIn(folder, "admin", "accounts", "retention", "--account", account, "--days", days);

  expect(JSON.parse((await retain("7")).out)).toEqual({ account_id: account, retention_days: 7 });
  expect(JSON.parse((await retain("100")).out)).toMatchObject({ retention_days: 30 });
  expect(JSON.parse((await retain("plan")).out)).toMatchObject({ retention_days: 30 });
  for (const days of ["0", "101", "1.5", "-1", "week"]) {
    const { code, err } = await retain(days);
    expect([days, code]).toEqual([days, 2]);
    expect(err).toContain("--days");
  }
});

test("an account that does not exist is named, and an erasure needs an address", async () => {
  const { folder } = await givenAccount();
  const args = ["accounts", "retention", "--account", "acc_none", "--days", "7"];

  const unknown = await whenRunIn(folder, "admin", ...args);
  const without = await whenRunIn(folder, "admin", "erase");
  const nothing = await whenRunIn(folder, "admin", "erase", "--email", "ann@x.com");

  expect([unknown.code, unknown.err]).toEqual([2, expect.stringContaining("No account acc_none.")]);
  expect([without.code, without.err]).toEqual([2, expect.stringContaining("--email is required")]);
  expect(nothing.code).toBe(0);
  expect(JSON.parse(nothing.out)).toEqual({
    complete: true,
    accounts: 1,
    open_jobs: [],
    erased: {
      cached_results: 0,
      responses: 0,
      activity_records: 0,
      verdicts: 0,
      job_rows: 0,
      mail_tests: 0,
    },
  });
});
