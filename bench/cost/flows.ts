import { COMPANIES_BELOW, companyLabel, peopleOf } from "@mailproof/local/lab/companies";
import { LAB_ZONE } from "@mailproof/local/lab/lab";
import { givenUpload } from "../../test/jobs.ts";
import { send } from "../../test/send.ts";
import { COMPANIES, type House, workOff } from "./house.ts";

// What is done to find out what it costs.

const domainOf = (company: number): string =>
  `${companyLabel(company)}.${COMPANIES_BELOW}.${LAB_ZONE}`;

/** People of the lab's companies, none of them twice. */
const people = (count: number, from = 0): string[] =>
  Array.from({ length: count }, (_, n) => {
    const number = ((from + n) % COMPANIES) + 1;
    const staff = peopleOf(domainOf(number));
    const person = staff[Math.floor((from + n) / COMPANIES) % staff.length];
    return `${person?.local}@${domainOf(number)}`;
  });

/** `seconds`: how long Lambdas run for one of it, all together. An assumption, told beside what was counted. */
export type Flow = {
  readonly name: string;
  readonly per: number;
  readonly calls: number;
  readonly seconds: number;
  readonly run: (house: House) => Promise<unknown>;
};

const ask =
  (route: string, body?: unknown, headers?: Readonly<Record<string, string>>) =>
  async ({ world, house }: House) => {
    const told = await send(world, route, {
      key: house.liveKey,
      ...(body !== undefined && { body }),
      ...(headers && { headers }),
    });
    if (told.statusCode >= 300) throw new Error(`${route} came to ${told.text}`);
    return told;
  };

const FILE_ROWS = 2_000;
const [first = ""] = people(1, 9_000);
const domain = `good.senders.${LAB_ZONE}`;

export const FLOWS: readonly Flow[] = [
  {
    name: "POST /v1/verify, new",
    per: 1,
    calls: 1,
    seconds: 2,
    run: ask("POST /v1/verify", { email: first }),
  },
  {
    name: "POST /v1/verify, cached",
    per: 1,
    calls: 1,
    seconds: 0.02,
    run: ask("POST /v1/verify", { email: first }),
  },
  {
    name: "POST /v1/verify, keyed",
    per: 1,
    calls: 1,
    seconds: 2,
    run: ask("POST /v1/verify", { email: people(1, 9_500)[0] }, { "idempotency-key": "k" }),
  },
  {
    name: "POST /v1/verify/batch, an address",
    per: 100,
    calls: 1,
    seconds: 6,
    run: async (house) => {
      await ask("POST /v1/verify/batch", { emails: people(100, 5_000) })(house);
      await workOff(house);
    },
  },
  {
    name: "POST /v1/verify/file, an address",
    per: FILE_ROWS,
    calls: 2,
    seconds: (FILE_ROWS / 500) * 30,
    run: async (house) => {
      const list = `email\n${people(FILE_ROWS).join("\n")}\n`;
      const file_key = await givenUpload(house.house, house.house.liveKey, list);
      await ask("POST /v1/verify/file", { action: "process", file_key })(house);
      await workOff(house);
    },
  },
  { name: "GET /v1/jobs", per: 1, calls: 1, seconds: 0.02, run: ask("GET /v1/jobs") },
  {
    name: "POST /v1/find",
    per: 1,
    calls: 1,
    seconds: 2,
    run: ask("POST /v1/find", {
      first_name: peopleOf(domainOf(3))[0]?.first,
      last_name: peopleOf(domainOf(3))[0]?.last,
      domain: domainOf(3),
    }),
  },
  {
    name: "POST /v1/deliverability/check",
    per: 1,
    calls: 1,
    seconds: 1,
    run: ask("POST /v1/deliverability/check", { domain }),
  },
  {
    name: "GET /v1/deliverability/checks",
    per: 1,
    calls: 1,
    seconds: 0.02,
    run: ask("GET /v1/deliverability/checks"),
  },
  {
    name: "POST /v1/activity/events, an event",
    per: 100,
    calls: 1,
    seconds: 0.2,
    run: async (house) => {
      const occurred_at = house.world.now().toISOString();
      const events = people(100, 3_000).map((email, n) => ({
        id: `e${n}`,
        email,
        type: "open",
        occurred_at,
      }));
      await ask("POST /v1/activity/events", { events })(house);
    },
  },
  { name: "GET /v1/account", per: 1, calls: 1, seconds: 0.02, run: ask("GET /v1/account") },
];
