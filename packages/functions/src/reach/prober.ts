import { cachedDns } from "@mailproof/core/mail/dns/cached";
import { lists } from "@mailproof/core/mail/lists/lists";
import type { Json } from "@mailproof/core/table";
import { mailHostsBy } from "@mailproof/core/verify/hosts-of";
import type { Probe } from "@mailproof/core/verify/probe";
import type { Answer, Question } from "@mailproof/core/verify/recipient-check";
import type { Log } from "@mailproof/core/world";
import { type Invoke, invokeLambda } from "../aws/invoke.ts";
import { lambdaLog } from "../log.ts";
import { required } from "../settings.ts";
import { toldByLog } from "../told-by-log.ts";
import type { Reach } from "../world.ts";
import { resolversIn } from "./resolvers.ts";

const CACHED_BYTES_MAX = 8 * 1024 * 1024;

/**
 * For an endpoint that needs "mail": port 25 is open to Lambdas in the VPC alone, so one of those talks to the mail
 * server. All the rest is done here: DNS, the lists, the verdict.
 */
export const toProber: Reach = (ground) => {
  const { environment, aws, now, sleep } = ground;
  const dns = cachedDns(resolversIn(ground, "DNS_SERVERS"), {
    now,
    bytesMax: CACHED_BYTES_MAX,
  });
  return {
    engine: {
      hostsOf: mailHostsBy({ dns, allowed: [], now, sleep }),
      probe: probeBy((payload) =>
        invokeLambda(aws, required(environment, "PROBER_FUNCTION"))(payload),
      ),
      // Without the broad list, which is larger than all of our code: so it is on AWS as a whole.
      lists: lists(),
      now,
    },
  };
};

/** A question is plain data and so is its answer: they travel as they are. */
export const probeBy =
  (invoke: Invoke): Probe =>
  async (question) =>
    (await invoke(question as Json)) as unknown as Answer;

/** What the Lambda in the VPC does: one question, one answer. */
export const probing =
  (probe: Probe, log: Log = lambdaLog()) =>
  (question: Question): Promise<Answer> =>
    toldByLog(log, "probe_broke", {}, () => probe(question));
