// What each of the three does, in the words that it was given by its generator.

export type Doing = {
  readonly verify: (email: string, key: string) => Promise<any>;
  readonly batch: (emails: string[]) => Promise<any>;
  readonly job: (id: string, query: { limit?: number; next_key?: string }) => Promise<any>;
  readonly jobs: (query: { limit?: number; offset?: string }) => Promise<any>;
  readonly download: (id: string) => Promise<any>;
  readonly createWebhook: (url: string) => Promise<any>;
  readonly deleteWebhook: (id: string) => Promise<any>;
  readonly check: (domain: string) => Promise<any>;
  readonly find: (first: string, last: string, domain: string) => Promise<any>;
};

const POLL_MS = 250;
const POLLS_MAX = 200;

const expect = (is: unknown, should: unknown, what: string): void => {
  if (is !== should)
    throw new Error(`${what} is ${JSON.stringify(is)}, not ${JSON.stringify(should)}`);
};

/** The same for all: verify, batch, poll, page, download, webhook, check, find. */
export const playScenario = async (client: Doing): Promise<void> => {
  const key = crypto.randomUUID();
  const first = await client.verify("ann@example.com", key);
  const again = await client.verify("ann@example.com", key);
  expect(first.data.status, "valid", "the status");
  expect(again.data.idempotent_replay, true, "the replay");

  const emails = ["ann@example.com", "invalid@example.com", "info@example.com", "full@example.com"];
  const { data: accepted } = await client.batch(emails);
  let job = await client.job(accepted.job_id, { limit: 3 });
  for (let polls = 0; job.data.status !== "completed" && polls < POLLS_MAX; polls++) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    job = await client.job(accepted.job_id, { limit: 3 });
  }
  expect(job.data.status, "completed", "the job");
  const secondPage = await client.job(accepted.job_id, { limit: 3, next_key: job.data.next_key });
  const rows = [...job.data.results, ...secondPage.data.results];
  expect(rows.map(({ status }) => status).join(), "valid,invalid,role,risky", "the results");

  await client.batch(["bo@example.com"]);
  const page = await client.jobs({ limit: 1 });
  const next = await client.jobs({ limit: 1, offset: page.data.next_offset });
  expect(next.data.jobs[0].job_id, accepted.job_id, "the second page");

  const exported = await client.download(accepted.job_id);
  expect(exported.rows.length, emails.length, "the rows of the export");
  const { data: webhook } = await client.createWebhook("https://hooks.example.com/mailproof");
  expect(webhook.secret.startsWith("whsec_"), true, "a secret");
  expect((await client.deleteWebhook(webhook.id)).data.deleted, true, "the removal");
  expect((await client.check("nospf.example")).data.grade, "C", "the grade");
  expect(
    (await client.find("Ann", "Lee", "example.com")).data.email,
    "ann.lee@example.com",
    "found",
  );
};
