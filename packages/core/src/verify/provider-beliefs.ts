import { findMailProvider, rejectsUnknownRecipients } from "@mailproof/mail/mail-providers";
import { createLearnedBounces, type FindLearnedBounces } from "../calibration/learned-bounces.ts";
import type { ProbeRequest } from "../smtp-pool/probe.ts";
import { type Canaries, type CanaryPorts, createCanaries } from "./canaries.ts";

// The facts about a provider in mail-provider-table.ts are beliefs. Canaries and bounces check them.

export type ProviderBeliefs = {
  readonly canaries: Canaries;
  readonly hasLearnedBounces: FindLearnedBounces;
};

export const createProviderBeliefs = (ports: CanaryPorts): ProviderBeliefs => ({
  canaries: createCanaries(ports),
  hasLearnedBounces: createLearnedBounces(ports),
});

/** At a provider that is believed to refuse unknown recipients, only a canary tries a random recipient. */
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

/** Evidence that a provider does not behave as the table states. */
export type ProviderDoubts = {
  /** The provider accepted a canary and has since refused too few in a row. */
  readonly acceptsUnknown: boolean;
  /** Mail to addresses that the provider accepted bounced beyond chance. */
  readonly bouncesLater: boolean;
};

export const NO_DOUBTS: ProviderDoubts = { acceptsUnknown: false, bouncesLater: false };

/** Call after the probe, when a canary of the same session has been recorded. */
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
