import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { createSqliteTable } from "@mailproof/local/storage/sqlite-table";
import { expect, onTestFinished, test } from "vitest";
import { findHalves } from "../app/people.ts";
import { createFolder, whenRunIn, whenStarted } from "../servers/running.ts";

type Sent = { readonly account?: string; readonly cookie?: string | undefined };

/** A browser of the dashboard, on a real server. A server that was killed does not answer. */
const createPage =
  (base: string, { account, cookie }: Sent = {}) =>
  async (route: string, body?: object) => {
    const [method = "", path] = route.split(" ");
    const response = await fetch(`${base}${path}`, {
      method,
      headers: {
        "content-type": "application/json",
        "sec-fetch-site": "same-origin",
        ...(cookie !== undefined && { cookie }),
        ...(account !== undefined && { "mailproof-account": account }),
      },
      ...(body && { body: JSON.stringify(body) }),
    }).catch(() => undefined);
    // Any: each route has its own.
    const answer = (await response?.json().catch(() => undefined)) as any;
    return {
      status: response?.status ?? 0,
      data: answer?.data,
      cookie: response?.headers.get("set-cookie")?.split(";")[0],
    };
  };

const toToken = (url: string): string => url.split("#")[1] ?? "";

test("npm start prints a link that makes the first person the owner of the demo account, once", async () => {
  const folder = createFolder();
  const first = await whenStarted(folder);
  const replaced = (first.ready as any).sign_in_url as string;
  await first.stop("SIGTERM");
  const second = await whenStarted(folder);
  const { base_url: base, account_id, ...ready } = second.ready;
  const url = (ready as any).sign_in_url as string;
  const post = createPage(base);
  const accept = (link: string) =>
    post("POST /v1/sign-in/link", { token: toToken(link), accept: true, name: "Ada" });

  expect(url.replace(/#.*/, "")).toBe(`${base.replace("127.0.0.1", "localhost")}/app/link`);
  expect((await accept(replaced)).status).toBe(404);
  expect(await accept(url)).toMatchObject({ status: 200, data: { role: "owner" } });
  expect((await accept(url)).status).toBe(404);
  const listed = await whenRunIn(folder, "admin", "people", "list", "--account", account_id);
  expect(JSON.parse(listed.out)).toMatchObject([{ name: "Ada", role: "owner" }]);
  const invited = await whenRunIn(
    folder,
    ...`admin people invite --role viewer --account ${account_id}`.split(" "),
  );
  expect(JSON.parse(invited.out).url).toMatch(new RegExp(`^${url.replace(/#.*/, "")}#[\\w-]{43}$`));
  const { screen } = await second.stop("SIGTERM");
  expect(screen).toContain("the link sign_in_url in ");
  expect(screen).not.toContain("#");

  const third = await whenStarted(folder);
  expect(third.ready).not.toHaveProperty("sign_in_url");
  await third.stop("SIGTERM");
});

const KILLS = 8;

test(`kill -9 at ${KILLS} moments leaves each membership with its mirror, or neither`, async () => {
  const folder = createFolder();
  let running = await whenStarted(folder);
  const { account_id: account } = running.ready;
  const joined = await createPage(running.ready.base_url)("POST /v1/sign-in/link", {
    token: toToken((running.ready as any).sign_in_url),
    accept: true,
    name: "Ada",
  });
  const changes = new Set<string>();
  for (let kill = 0; kill < KILLS; kill++) {
    const base = running.ready.base_url;
    const owner = createPage(base, { account, cookie: joined.cookie });
    let isKilled = false;
    const work = async () => {
      while (!isKilled) {
        const invited = await owner("POST /v1/invitations", { role: "owner" });
        if (invited.status !== 201) return;
        const token = toToken(invited.data.url);
        const member = await createPage(base)("POST /v1/sign-in/link", {
          token,
          accept: true,
          name: "Bo",
        });
        if (member.status !== 200) return;
        changes.add("accepted");
        const person = member.data.signed_in.person_id as string;
        const changed = await owner(`PUT /v1/members/${person}`, { role: "viewer" });
        if (changed.status === 200) changes.add("changed");
        const removed = await owner(`DELETE /v1/members/${person}`);
        if (removed.status === 200) changes.add("removed");
      }
    };
    const workers = [work(), work(), work()];
    await setTimeout(50 + Math.random() * 300);
    isKilled = true;
    await running.stop("SIGKILL");
    await Promise.all(workers);
    const table = createSqliteTable(join(folder, "state.sqlite"), () => new Date());
    const halves = await findHalves({ table, now: () => new Date() }, account);
    table.close();
    expect(halves).toEqual([]);
    running = await whenStarted(folder);
  }
  onTestFinished(async () => {
    await running.stop("SIGKILL");
  });

  expect([...changes].toSorted()).toEqual(["accepted", "changed", "removed"]);
}, 300_000);
