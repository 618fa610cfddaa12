import { findMailProvider, rejectsUnknownRecipients } from "@mailproof/mail/mail-providers";
import { createLearnedBounces, type FindLearnedBounces } from "../calibration/learned-bounces.ts";
import type { ProbeRequest } from "../smtp-pool/probe.ts";
import { type Canaries, type CanaryPorts, createCanaries } from "./canaries.ts";

// What mail-provider-table.ts says of a provider is a belief. Canaries and bounces check it.

export type ProviderBeliefs = {
  readonly canaries: Canaries;
  readonly hasLearnedBounces: FindLearnedBounces;
};

export const createProviderBeliefs = (ports: CanaryPorts): ProviderBeliefs => ({
  canaries: createCanaries(ports),
  hasLearnedBounces: createLearnedBounces(ports),
});

/** Where unknown recipients are believed to be refused, only a canary asks about a random one. */
export const planRandomRecipient = (
  beliefs: ProviderBeliefs,
  domain: string,
  mailHost: string | null,
): Pick<ProbeRequest, "probeCatchAll" | "isCanary"> => {
  if (mailHost === null || !rejectsUnknownRecipients(domain, mailHost))
    return { probeCatchAll: true };
  const isCanary = beliefs.canaries.draw(findMailProvider(mailHost).name);
  return { probeCatchAll: false, ...(isCanary && { isCanary }) };
};

/** What has shown that a provider is not as the table says. */
export type ProviderDoubts = {
  /** It accepted a canary, and did not yet refuse enough of them since. */
  readonly acceptsUnknown: boolean;
  /** Mail to addresses that it accepted bounced beyond chance. */
  readonly bouncesLater: boolean;
};

export const NO_DOUBTS: ProviderDoubts = { acceptsUnknown: false, bouncesLater: false };

/** Asked for after the probe: a canary of the same session has been recorded by then. */
export const findProviderDoubts = async (
  beliefs: ProviderBeliefs,
  mailHost: string | null,
): Promise<ProviderDoubts> => {
  const { name } = findMailProvider(mailHost ?? "");
  if (name === "other") return NO_DOUBTS;
  const [acceptsUnknown, bouncesLater] = await Promise.all([
    beliefs.canaries.isDoubted(name),
    beliefs.hasLearnedBounces(name),
  ]);
  return { acceptsUnknown, bouncesLater };
};
