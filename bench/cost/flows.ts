import { COMPANIES_LABEL, formatCompanyLabel, getPeople } from "@mailproof/lab/companies";
import { LAB_ZONE } from "@mailproof/lab/lab";
import { send } from "../../test/app/send.ts";
import { givenUpload } from "../../test/things/jobs.ts";
import { COMPANIES, type CostContext, drainQueues } from "./context.ts";

// What is done to find out what it costs.

const getCompanyDomain = (company: number): string =>
  `${formatCompanyLabel(company)}.${COMPANIES_LABEL}.${LAB_ZONE}`;

/** People of the lab's companies, none of them twice. */
const listPeople = (count: number, from = 0): string[] =>
  Array.from({ length: count }, (_, n) => {
    const number = ((from + n) % COMPANIES) + 1;
    const staff = getPeople(getCompanyDomain(number));
    const person = staff[Math.floor((from + n) / COMPANIES) % staff.length];
    return `${person?.local}@${getCompanyDomain(number)}`;
  });

/** `seconds`: how long Lambdas run for one of it, all together. Assumed, but for rows of files (bench/cost.ts). */
export type CostFlow = {
  readonly name: string;
  readonly per: number;
  readonly calls: number;
  readonly seconds: number;
  readonly run: (context: CostContext) => Promise<unknown>;
};

const createCall =
  (route: string, body?: unknown, headers?: Readonly<Record<string, string>>) =>
  async ({ world, ctx }: CostContext) => {
    const response = await send(world, route, {
      key: ctx.liveKey,
      ...(body !== undefined && { body }),
      ...(headers && { headers }),
    });
    if (response.statusCode >= 300) throw new Error(`${route} came to ${response.text}`);
    return response;
  };

/** The first charge of a large account spreads its credits over its shards, once (docs/design/money.md): it is no part of any flow. */
export const warmUp = createCall("POST /v1/verify", { email: listPeople(1, 9_900)[0] });

const FILE_ROWS = 2_000;
const [first = ""] = listPeople(1, 9_000);
const domain = `good.senders.${LAB_ZONE}`;

export const FLOWS: readonly CostFlow[] = [
  {
    name: "POST /v1/verify, new",
    per: 1,
    calls: 1,
    seconds: 2,
    run: createCall("POST /v1/verify", { email: first }),
  },
  {
    name: "POST /v1/verify, cached",
    per: 1,
    calls: 1,
    seconds: 0.02,
    run: createCall("POST /v1/verify", { email: first }),
  },
  {
    name: "POST /v1/verify, keyed",
    per: 1,
    calls: 1,
    seconds: 2,
    run: createCall(
      "POST /v1/verify",
      { email: listPeople(1, 9_500)[0] },
      { "idempotency-key": "k" },
    ),
  },
  {
    name: "POST /v1/verify/batch, an address",
    per: 100,
    calls: 1,
    seconds: 6,
    run: async (context) => {
      await createCall("POST /v1/verify/batch", { emails: listPeople(100, 5_000) })(context);
      await drainQueues(context);
    },
  },
  {
    name: "POST /v1/verify/file, an address",
    per: FILE_ROWS,
    calls: 2,
    seconds: 0,
    run: async (context) => {
      const list = `email\n${listPeople(FILE_ROWS).join("\n")}\n`;
      const file_key = await givenUpload(context.ctx, context.ctx.liveKey, list);
      await createCall("POST /v1/verify/file", { action: "process", file_key })(context);
      await drainQueues(context);
    },
  },
  { name: "GET /v1/jobs", per: 1, calls: 1, seconds: 0.02, run: createCall("GET /v1/jobs") },
  {
    name: "POST /v1/find",
    per: 1,
    calls: 1,
    seconds: 2,
    run: createCall("POST /v1/find", {
      first_name: getPeople(getCompanyDomain(3))[0]?.first,
      last_name: getPeople(getCompanyDomain(3))[0]?.last,
      domain: getCompanyDomain(3),
    }),
  },
  {
    name: "POST /v1/deliverability/check",
    per: 1,
    calls: 1,
    seconds: 1,
    run: createCall("POST /v1/deliverability/check", { domain }),
  },
  {
    name: "GET /v1/deliverability/checks",
    per: 1,
    calls: 1,
    seconds: 0.02,
    run: createCall("GET /v1/deliverability/checks"),
  },
  {
    name: "POST /v1/activity/events, an event",
    per: 100,
    calls: 1,
    seconds: 0.2,
    run: async (context) => {
      const occurred_at = context.world.now().toISOString();
      const events = listPeople(100, 3_000).map((email, n) => ({
        id: `e${n}`,
        email,
        type: "open",
        occurred_at,
      }));
      await createCall("POST /v1/activity/events", { events })(context);
    },
  },
  { name: "GET /v1/account", per: 1, calls: 1, seconds: 0.02, run: createCall("GET /v1/account") },
];
