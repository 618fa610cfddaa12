import { createClient, MailproofError } from "@mailproof/client";

// The calls that the installed client of each language plays: play.py and main.go are the same program.

const mailproof = createClient();
const [address = "", ...emails] = process.env["ADDRESSES"]?.split(" ") ?? [];

const first = await mailproof.verifyEmail({ email: address }, { idempotencyKey: "typescript-1" });
const again = await mailproof.verifyEmail({ email: address }, { idempotencyKey: "typescript-1" });

const { job_id: id } = await mailproof.verifyBatch({ emails });
const results = await Array.fromAsync(mailproof.results({ id }));
const rows = results.map(({ email, status }) => [email, status]);
await mailproof.verifyBatch({ emails: [address] });
const jobs = await Array.fromAsync(mailproof.jobs());
const csv = await (await mailproof.download({ id, filter: "valid" })).text();

const refused = await mailproof.getAccount().catch((error: unknown) => error);
const refusal =
  refused instanceof MailproofError
    ? { code: refused.code, money: refused.money, seconds: (refused.retryAfterMs ?? 0) / 1_000 }
    : null;

console.log(
  JSON.stringify({
    status: first.status,
    replay: "idempotent_replay" in again && again.idempotent_replay,
    rows,
    pages: jobs.map(() => 1),
    csvLines: csv.trim().split("\r\n").length,
    refusal,
  }),
);
