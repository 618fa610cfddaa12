import { fork } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { getPeople } from "@mailproof/lab/companies";
import { COMPANIES, listDomains, runList } from "./against/scenarios.ts";
import { callVerify, findObstacle } from "./autocannon.ts";
import { ZONE } from "./engine/lists.ts";
import { createKeys, uploadList } from "./http-api.ts";
import { withServer } from "./network.ts";
import { receiveMessage } from "./receive-message.ts";
import { createRow, type ReportRow } from "./report.ts";
import { readUsage } from "./server.ts";

// The processor time of a cached call and of a row, beside that of programs that do no more than they must (bench/floors).
// Both sides of a ratio run within one minute, so other work on the machine slows both.

const EMAIL = `ada.lovelace@valid.${ZONE}`;
const WARM_UP = 400;
const CALLS = 3_000;
const ROWS = 10_000;
const MICROSECONDS = 1e6;

export { findObstacle };

/** The processor time that a process needs for some work, for each of `count` parts of it (µs). */
export const measureEach = async (
  pid: number,
  work: () => Promise<{ readonly count: number }>,
): Promise<number> => {
  const before = readUsage(pid).processorSeconds;
  const { count } = await work();
  return ((readUsage(pid).processorSeconds - before) / count) * MICROSECONDS;
};

export const measureCalls = async (
  url: string,
  pid: number,
  keys: readonly string[],
): Promise<number> => {
  await callVerify(url, EMAIL, keys, { amount: WARM_UP });
  return measureEach(pid, async () => ({
    count: (await callVerify(url, EMAIL, keys, { amount: CALLS }))["2xx"],
  }));
};

/** Existing recipients of 200 domains, each with a mail host of its own. */
export const listRecipients = (count: number): readonly string[] => {
  const domains = listDomains();
  return Array.from({ length: count }, (_, n) => {
    const domain = domains[n % domains.length] ?? "";
    const people = getPeople(domain);
    return `${people[n % people.length]?.local}+${n}@${domain}`;
  });
};

const startFloor = (name: string, ...args: readonly string[]) =>
  fork(fileURLToPath(new URL(`floors/${name}.ts`, import.meta.url)), args, {
    execArgv: ["--disable-warning=ExperimentalWarning"],
  });

export const run = (): Promise<readonly ReportRow[]> =>
  withServer({ lab: { companies: COMPANIES } }, async ({ api, server, network, folder }) => {
    const keys = await createKeys(api);
    const answer = JSON.stringify(await api("POST /v1/verify", { email: EMAIL }));
    const call = await measureCalls(server.ready.base_url, server.pid, keys);

    const recipients = listRecipients(ROWS);
    const fileKey = await uploadList(api, ["email", ...recipients].join("\n"));
    const { sessions: before } = await network.stats();
    const row = await measureEach(server.pid, async () => {
      await runList(api, fileKey, ROWS);
      return { count: ROWS };
    });
    const sessions = (await network.stats()).sessions - before;
    await server.kill();

    const callFloor = startFloor("call", join(folder, "floor.sqlite"), `${answer.length}`);
    const url = `http://127.0.0.1:${await receiveMessage<number>(callFloor)}`;
    const leastCall = await measureCalls(url, callFloor.pid ?? 0, keys);
    callFloor.disconnect();

    const list = join(folder, "recipients");
    writeFileSync(list, recipients.join("\n"));
    const { dns, smtpPort } = network.address;
    const perSession = Math.ceil(ROWS / sessions);
    const rowFloor = startFloor("rows", list, dns, `${smtpPort}`, `${perSession}`);
    const leastRow = ((await receiveMessage<number>(rowFloor)) / ROWS) * MICROSECONDS;
    return [
      createRow("callFloor", call / leastCall),
      { what: "a cached call", value: call, unit: "µs" },
      { what: "its floor", value: leastCall, unit: "µs" },
      createRow("rowFloor", row / leastRow),
      { what: "a row", value: row, unit: "µs" },
      { what: "its floor", value: leastRow, unit: "µs" },
      createRow("rowSessions", (sessions * 1_000) / ROWS),
    ];
  });
