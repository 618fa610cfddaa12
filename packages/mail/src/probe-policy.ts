import type { MailHost } from "./dns/mail-hosts.ts";
import { MAIL_PROVIDERS } from "./mail-provider-table.ts";
import { findMailProvider, type MailProviderName } from "./mail-providers.ts";

// The operator's setting for each mail provider: some providers forbid verification without sending mail (docs/egress.md).

/**
 * `careful`: one connection, a tenth of a mail host's daily limits, and no random recipients. `never`: we do not ask the provider's mail
 * hosts; the result is `unknown`, without a charge.
 */
const PROBE_MODES = ["yes", "careful", "never"] as const;
export type ProbeMode = (typeof PROBE_MODES)[number];

export type ProbePolicy = ReadonlyMap<MailProviderName, ProbeMode>;

export const NO_POLICY: ProbePolicy = new Map();

const NAMES = [...new Set(MAIL_PROVIDERS.map(({ name }) => name))].join(", ");

/** Parses `google=careful,microsoft_consumer=never`; returns a sentence that names the fault otherwise. */
export const parseProbePolicy = (text: string): ProbePolicy | string => {
  const policy = new Map<MailProviderName, ProbeMode>();
  for (const part of text.split(",").map((one) => one.trim())) {
    if (part === "") continue;
    const [name = "", mode = "", ...more] = part.split("=").map((one) => one.trim());
    const provider = MAIL_PROVIDERS.find((row) => row.name === name)?.name;
    const readMode = PROBE_MODES.find((one) => one === mode);
    if (more.length > 0 || mode === "") return `has ${part}: must be a list such as google=careful`;
    if (!provider) return `names ${name}, which is not a mail provider: must be one of ${NAMES}`;
    if (!readMode) return `has ${part}: must be one of ${PROBE_MODES.join(", ")}`;
    if (policy.has(provider)) return `names ${name} twice`;
    policy.set(provider, readMode);
  }
  return policy;
};

export const getProbeMode = (policy: ProbePolicy, hosts: readonly MailHost[]): ProbeMode => {
  if (policy.size === 0) return "yes";
  const modes = hosts.map(({ host }) => policy.get(findMailProvider(host).name) ?? "yes");
  return PROBE_MODES.findLast((mode) => modes.includes(mode)) ?? "yes";
};
