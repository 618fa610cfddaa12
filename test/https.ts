import type { Https, HttpsFault, HttpsOutcome, HttpsRequest } from "@mailproof/core/https";

/** What somebody who is called does: a status, a status with more about it, or a reason why nobody answers. */
export type Answering = (
  request: HttpsRequest,
) => number | Partial<Answer> | HttpsFault | Promise<number | Partial<Answer> | HttpsFault>;

type Answer = Extract<HttpsOutcome, { kind: "answer" }>;

/** A call that arrived, when, and whether it was taken. */
export type Heard = HttpsRequest & { readonly at: Date; readonly isTaken: boolean };

/** Other people's servers, all at once: they answer 200 until a test says otherwise. */
export const givenServers = (now: () => Date) => {
  const heard: (HttpsRequest & { at: Date; isTaken: boolean })[] = [];
  let answering: Answering = () => 200;
  let refusing: (url: string) => HttpsFault | undefined = () => undefined;
  const https: Https = {
    check: async (url) => refusing(url),
    call: async (request) => {
      const one = { ...request, at: now(), isTaken: false };
      heard.push(one);
      const outcome = outcomeOf(await answering(request));
      one.isTaken = outcome.kind === "answer" && outcome.status >= 200 && outcome.status < 300;
      return outcome;
    },
  };
  return {
    https,
    heard: heard as readonly Heard[],
    answer: (how: Answering | number) => {
      answering = typeof how === "function" ? how : () => how;
    },
    refuse: (how: typeof refusing) => {
      refusing = how;
    },
  };
};

const outcomeOf = (answer: Awaited<ReturnType<Answering>>): HttpsOutcome => {
  if (typeof answer === "string") return { kind: "failed", why: answer };
  const said = typeof answer === "number" ? { status: answer } : answer;
  return {
    kind: "answer",
    status: 200,
    contentType: "text/plain",
    retryAfter: null,
    body: "",
    isWhole: true,
    ...said,
  };
};
