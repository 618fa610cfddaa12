import {
  buildProbeRecords,
  formatZoneLine,
  toSenderAddress,
} from "@mailproof/core/egress/egress-records";
import { type Domain, isDomain, parseTypedDomain } from "@mailproof/mail/domain";
import { parseIp } from "@mailproof/mail/ip";
import * as v from "valibot";
import { matching, passing, REACH_DOMAINS } from "../environment.ts";
import { definePrinted } from "./define-admin.ts";
import { defineCommand, describeOption, Flag } from "./define-command.ts";

const DomainName = v.pipe(
  v.string(),
  v.transform(parseTypedDomain),
  v.custom<Domain>(
    (domain) => isDomain(domain as Domain),
    "must be a domain such as probe.example.com",
  ),
  v.transform(({ ascii }) => ascii),
);
const createListSchema = <T extends v.GenericSchema<string, string>>(item: T) =>
  v.pipe(
    v.string(),
    v.transform((text) => text.split(",").map((one) => one.trim())),
    v.array(item),
    v.minLength(1),
  );
const Ip = passing(
  (text) => parseIp(text) !== undefined,
  "must be addresses such as 192.0.2.1,2001:db8::1",
);

export const selfTestOptions = v.strictObject({
  domains: v.optional(createListSchema(DomainName), REACH_DOMAINS),
});

export const egressCommands = {
  "admin egress records": definePrinted(
    {
      usage: "--domain probe.example.com --ip 192.0.2.1[,…] --mx mail.example.com",
      options: v.strictObject({ domain: DomainName, ip: createListSchema(Ip), mx: DomainName }),
    },
    async ({ options: { domain, ip: ips, mx } }) => {
      const records = buildProbeRecords({ domain, ips, mx });
      const output = {
        zone: records.map(formatZoneLine),
        records,
        settings: { SMTP_HELLO: domain, SMTP_FROM: toSenderAddress(domain) },
      };
      return { output };
    },
  ),

  "admin egress test": defineCommand({
    usage: "[--stage NAME] [--domains gmail.com,…] [--json]",
    options: v.strictObject({
      ...selfTestOptions.entries,
      stage: describeOption(
        v.optional(matching(/^[\w-]+$/, "must be the name of a stage")),
        "Tests from a stage on AWS, with AWS's command line.",
        { value: "NAME" },
      ),
      json: Flag,
    }),
    async run({ environment, options: { stage, domains, json } }) {
      const { printSelfTest } = await import("./egress-self-test.ts");
      return printSelfTest({ environment, stage, domains, json });
    },
  }),
};
