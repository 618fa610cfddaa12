import { statSync } from "node:fs";
import { basename } from "node:path";
import { MailproofError } from "@mailproof/client/errors";
import * as v from "valibot";
import { command, Flag, Misuse } from "./command.ts";
import { followJob, orToldHowToGoOn, type Wanted } from "./follow-job.ts";
import { assertFree } from "./out.ts";
import { lineOn } from "./progress.ts";
import {
  SERVICE,
  SERVICE_USAGE,
  type Service,
  serviceNeeded,
  untilInterrupted,
} from "./service.ts";

/** A list, verified by a service. Exit code 1: it was interrupted, or came to nothing. */
export const fileCommand = command({
  name: "file",
  usage: `list.csv   [--column email] [--out results.csv] [--json] ${SERVICE_USAGE}`,
  options: v.strictObject({
    column: v.optional(v.string()),
    out: v.optional(v.string()),
    json: Flag,
    ...SERVICE,
  }),
  flags: ["json"],
  takesWords: true,
  async run(asked) {
    const { options, words } = asked;
    const [file, ...others] = words;
    if (file === undefined || others.length > 0) throw new Misuse("Name one list.");
    const otherwise = ` Without one: mailproof verify --file ${file}`;
    return verifyByService(serviceNeeded(asked, otherwise), file, options);
  },
});

type Wishes = {
  readonly column?: string | undefined;
  readonly out?: string | undefined;
  readonly json: boolean;
};

/** Uploads the list, waits, and prints the results. */
export const verifyByService = async (
  service: Service,
  file: string,
  { column, out, json }: Wishes,
): Promise<number> => {
  const found = statSync(file, { throwIfNoEntry: false });
  if (!found) throw new Misuse(`There is no file ${file}.`);
  if (found.isDirectory()) throw new Misuse(`${file} is a folder.`);
  assertFree(out);
  const { signal, end } = untilInterrupted();
  const wanted = { out, json: json || out?.endsWith(".jsonl") === true, signal };
  try {
    const id = await accepted(service, file, column, wanted);
    const following = followJob(service, id, wanted);
    return await orToldHowToGoOn(service, id, wanted, following);
  } finally {
    end();
  }
};

/** The id of the job. From its answer on the list is paid for. */
const accepted = async (
  { client, url }: Service,
  file: string,
  column: string | undefined,
  { signal }: Wanted,
): Promise<string> => {
  const line = lineOn(process.stderr);
  const name = basename(file);
  line.say(`Sending ${name} …`);
  try {
    const { file_key } = await client.upload(file, {}, { signal });
    line.say(`${name} is being read …`);
    const wishes = { file_key, name, email_column: column };
    const told = await client.processFile(wishes, { signal });
    line.end();
    process.stderr.write(`${told.message} ${countsOf(told)}\n`);
    return told.job_id;
  } catch (error) {
    line.end();
    if (error instanceof MailproofError && error.money === "retry_same_key")
      throw maybePaid(error, url);
    throw error;
  }
};

type Counts = {
  readonly credits_used: number;
  readonly duplicates_removed: number;
  readonly invalid_emails_skipped: number;
};

const countsOf = (told: Counts): string => {
  const { credits_used: used, duplicates_removed: twice, invalid_emails_skipped: none } = told;
  const left = [
    ...(twice > 0 ? [`${twice} that came twice`] : []),
    ...(none > 0 ? [`${none} that ${none === 1 ? "is" : "are"} no address`] : []),
  ];
  const without = left.length === 0 ? "" : `, without ${left.join(" and ")}`;
  return `${used} ${used === 1 ? "credit" : "credits"}${without}.`;
};

/** What a library says of keys is no help to whoever typed a command. */
const maybePaid = (cause: MailproofError, url: string): MailproofError =>
  new MailproofError(
    `${cause.code === "ABORTED" ? "Interrupted" : "No answer came"} while the list was being accepted: it may have been charged. See first whether it is among your jobs:\n\n  npx mailproof jobs --api ${url}`,
    { code: cause.code, money: cause.money, status: cause.status, cause },
  );
