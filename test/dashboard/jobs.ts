import type { OpenedPage } from "./browser.ts";

// Lists of the account that is signed in, by its test key where no other is named. The lab is of all accounts, and
// remembers whom it greylisted: a test has addresses of its own at greylist.lab.mailproof.test.

/** The `data` of the response. */
export const callApi = async (
  { ready }: Pick<OpenedPage, "ready">,
  route: string,
  body?: unknown,
  key: "test_key" | "live_key" = "test_key",
): Promise<any> => {
  const [method = "", path = ""] = route.split(" ");
  const response = await fetch(ready.base_url + path, {
    method,
    headers: { "x-api-key": ready[key], "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const answer = (await response.json()) as { data: unknown };
  if (!response.ok) throw new Error(JSON.stringify(answer));
  return answer.data;
};

/** A list of these addresses; its id. */
export const createJob = async (
  opened: Pick<OpenedPage, "ready">,
  emails: readonly string[],
  name: string,
  key: "test_key" | "live_key" = "test_key",
): Promise<string> =>
  (await callApi(opened, "POST /v1/verify/batch", { emails, name }, key)).job_id;

/** A list that is uploaded as a file; its id. */
export const createFileJob = async (
  opened: Pick<OpenedPage, "ready">,
  content: string,
): Promise<string> => {
  const upload = await callApi(opened, "POST /v1/verify/file", {
    action: "get_upload_url",
    file_name: "large.csv",
  });
  await fetch(upload.upload_url, { method: "PUT", body: content });
  const { file_key } = upload;
  return (await callApi(opened, "POST /v1/verify/file", { action: "process", file_key })).job_id;
};

export type JobState = {
  readonly status: string;
  readonly summary: Record<string, any>;
  readonly matching_rows: number;
};

export const readJob = (
  opened: Pick<OpenedPage, "ready">,
  job: string,
  query = "include_results=false",
): Promise<JobState> => callApi(opened, `GET /v1/jobs/${job}?${query}`);

/** Until it has ended. */
export const waitForJob = async (
  opened: Pick<OpenedPage, "ready">,
  job: string,
): Promise<JobState> => {
  for (;;) {
    const state = await readJob(opened, job);
    if (state.status !== "processing") return state;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
};
