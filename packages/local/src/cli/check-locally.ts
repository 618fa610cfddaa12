import { randomBytes } from "node:crypto";
import type { FlattenedSpf } from "@mailproof/api/schema/proposed-records";
import { toFlattenedSpf } from "@mailproof/api/schema/to-check-result";
import type { CheckReport, NoVerdict } from "@mailproof/core/deliverability/analyse-domain";
import { runLookups } from "@mailproof/core/deliverability/dns-lookups";
import { flattenSpf } from "@mailproof/core/deliverability/flatten";
import { isPublicIp } from "@mailproof/mail/ip";
import type { Environment } from "../environment.ts";
import { UsageError } from "./define-command.ts";
import { withMailPorts } from "./with-mail-ports.ts";

export const checkLocally = (
  environment: Environment,
  domain: string,
  sendingIp: string | undefined,
): Promise<CheckReport | NoVerdict> =>
  withMailPorts(environment, { mayUseLab: true }, async ({ dnsLookups: names, now, sleep }) => {
    const subject = { domain, sendingIp: sendingIp ?? null };
    if (sendingIp !== undefined && !isPublicIp(sendingIp, names.allowed))
      throw new UsageError(`ip: ${sendingIp} is a private or reserved address; use a public one.`);
    return runLookups({ now, sleep, randomBytes }, names, subject);
  });

export const flattenLocally = async (
  report: CheckReport,
  names: readonly string[],
): Promise<FlattenedSpf> => {
  const flattened = await flattenSpf(report, names);
  if (flattened.kind === "fault")
    throw new UsageError(`--flatten: ${flattened.include}: ${flattened.fault}.`);
  return toFlattenedSpf(flattened);
};
