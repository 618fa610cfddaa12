import type { SelfTest } from "@mailproof/core/egress/egress-self-test";
import type { Json } from "@mailproof/core/ports/table";
import type { Log } from "@mailproof/core/ports/world";
import type { Probe, ProbeRequest, ProbeResult } from "@mailproof/core/smtp-pool/probe";
import { createMailHostLookup } from "@mailproof/core/verify/mail-host-lookup";
import { createProviderBeliefs } from "@mailproof/core/verify/provider-beliefs";
import { QUIET_ENGINE } from "@mailproof/core/verify/quiet-engine";
import { cacheDns } from "@mailproof/mail/dns/cache";
import { createLists } from "@mailproof/mail/lists/lists";
import { createInvoke, type InvokeLambda } from "../aws/invoke.ts";
import { createChain, hideCause } from "../chain.ts";
import type { Capability } from "../lambda-world.ts";
import { LIST_CHANGES } from "../list-changes.ts";
import { createLambdaLog } from "../log.ts";
import { countVerification } from "../measure/mail.ts";
import { requireSetting } from "../settings.ts";
import { createResolvers } from "./resolvers.ts";

const CACHED_BYTES_MAX = 8 * 1024 * 1024;

/**
 * For an endpoint that needs "mail": port 25 is open only to Lambdas in the VPC, so one of those opens the SMTP
 * session. DNS, lists and verdict are done here.
 */
export const withProber: Capability = (base) => {
  const { environment, aws, now, sleep } = base;
  const dns = cacheDns(createResolvers(base, "DNS_SERVERS"), {
    now,
    bytesMax: CACHED_BYTES_MAX,
  });
  return {
    engine: {
      ...QUIET_ENGINE,
      findMailHosts: createMailHostLookup({ dns, allowed: [], now, sleep }),
      probe: createRemoteProbe((payload) =>
        createInvoke(aws, requireSetting(environment, "PROBER_FUNCTION"))(payload),
      ),
      // Omits the broad list, which no Lambda uses and which is larger than all of our code.
      lists: createLists(LIST_CHANGES),
      beliefs: createProviderBeliefs(base),
      onVerification: countVerification,
      now,
    },
  };
};

/** Sends the question and the answer as JSON, since both are plain data. */
export const createRemoteProbe =
  (invoke: InvokeLambda): Probe =>
  async (question) =>
    (await invoke(question as Json)) as unknown as ProbeResult;

/** The question of an operator: do the exits work? */
export type EgressQuestion = { readonly egressTest: { readonly domains: readonly string[] } };

type Ask = (question: EgressQuestion) => Promise<SelfTest>;

/** Handles one question in the Lambda in the VPC. */
export const createProberHandler = (probe: Probe, log: Log = createLambdaLog(), testEgress?: Ask) =>
  createChain<ProbeRequest | EgressQuestion, ProbeResult | SelfTest>([
    hideCause(log, "probe_broke"),
  ]).handler((question) => {
    if (!("egressTest" in question)) return probe(question);
    if (!testEgress) throw new Error("This Lambda has no exits to test.");
    return testEgress(question);
  });
