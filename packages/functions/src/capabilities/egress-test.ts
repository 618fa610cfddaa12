import {
  type SelfTest,
  type SelfTestPorts,
  testEgress,
} from "@mailproof/core/egress/egress-self-test";
import { storeReach } from "@mailproof/core/egress/reach";
import { listProviderBlocks } from "@mailproof/core/smtp-pool/circuit-breaker/circuit-items";
import { createListHealth } from "@mailproof/mail/blocklists/health";
import { BLOCKLISTS } from "@mailproof/mail/blocklists/lists";
import type { BaseContext } from "../lambda-world.ts";
import { createResolvers } from "./resolvers.ts";

type WayOut = Pick<SelfTestPorts, "connect" | "exits"> & {
  readonly smtp: { readonly helo: string; readonly from: string; readonly port: number };
};

/** The prober's part of `mailproof admin egress test --stage`. It queries blocklists without the operator's keys. */
export const runEgressTest = async (
  base: BaseContext,
  { connect, exits, smtp }: WayOut,
  domains: readonly string[],
): Promise<SelfTest> => {
  const dns = createResolvers(base, "DNS_SERVERS");
  const dnsLookups = {
    dns,
    listDns: dns,
    dkimSelectors: [],
    allowed: [],
    blocklists: { listsFor: () => BLOCKLISTS, keys: {}, isHealthy: createListHealth(base.now) },
  };
  const blocks = await listProviderBlocks(base);
  const result = await testEgress({ dnsLookups, connect, exits, blocks }, { ...smtp, domains });
  await storeReach(base, result.reach);
  return result;
};
