import type { Https, HttpsFault, HttpsOutcome, HttpsRequest } from "@mailproof/core/ports/https";

/** What a called server does: a status, a status with more about it, or a reason why it does not answer. */
export type AnswerCall = (
  request: HttpsRequest,
) => number | Partial<Answer> | HttpsFault | Promise<number | Partial<Answer> | HttpsFault>;

type Answer = Extract<HttpsOutcome, { kind: "answer" }>;

/** A call that arrived, when, and whether it was taken. */
export type ReceivedCall = HttpsRequest & { readonly at: Date; readonly isAccepted: boolean };

/** Other people's servers, all at once: they answer 200 until a test says otherwise. */
export const givenServers = (now: () => Date) => {
  const calls: (HttpsRequest & { at: Date; isAccepted: boolean })[] = [];
  let answering: AnswerCall = () => 200;
  let refusing: (url: string) => HttpsFault | undefined = () => undefined;
  const https: Https = {
    check: async (url) => refusing(url),
    call: async (request) => {
      const one = { ...request, at: now(), isAccepted: false };
      calls.push(one);
      const outcome = toOutcome(await answering(request));
      one.isAccepted = outcome.kind === "answer" && outcome.status >= 200 && outcome.status < 300;
      return outcome;
    },
  };
  return {
    https,
    received: calls as readonly ReceivedCall[],
    answer: (how: AnswerCall | number) => {
      answering = typeof how === "function" ? how : () => how;
    },
    refuse: (how: typeof refusing) => {
      refusing = how;
    },
  };
};

const toOutcome = (answer: Awaited<ReturnType<AnswerCall>>): HttpsOutcome => {
  if (typeof answer === "string") return { kind: "failed", why: answer };
  const reply = typeof answer === "number" ? { status: answer } : answer;
  return {
    kind: "answer",
    status: 200,
    contentType: "text/plain",
    retryAfter: null,
    body: "",
    isComplete: true,
    ...reply,
  };
};
