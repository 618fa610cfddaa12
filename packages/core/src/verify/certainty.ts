/** The part of a result that says how certain the others are. */
export type Judged = {
  readonly status: string;
  readonly reason: string;
  readonly subStatus: string | null;
  readonly verification: {
    readonly domainExists: boolean;
    readonly mxFound: boolean;
    readonly smtpCheck: boolean;
    readonly mailboxExists: boolean;
    readonly catchAll: boolean;
  };
};

/** The checks whose outcome may stay open. That an address is well formed is always known. */
export const UNCERTAIN_CHECKS = [
  "domain_exists",
  "mx_found",
  "smtp_check",
  "mailbox_exists",
  "catch_all",
] as const;

/**
 * Which checks are false without a proof.
 * A domain or a mailbox that is proven not to exist makes the address invalid, so under another status a "no" is open.
 */
export const listUnknownChecks = (
  { status, reason, verification: checks }: Judged,
  isServerUnasked: boolean,
): (typeof UNCERTAIN_CHECKS)[number][] => {
  const isInvalid = status === "invalid";
  const isDomainDecided = checks.domainExists || isInvalid;
  // A server that refuses this address, or tells its mailbox from others, does not accept every address. A domain
  // without a mail host accepts none. Bounced mail shows nothing about other addresses.
  const isRefused = isInvalid && reason !== "bounced" && (checks.smtpCheck || !checks.mxFound);
  const isOpen = {
    domain_exists: !isDomainDecided,
    mx_found: !isDomainDecided,
    smtp_check: isServerUnasked,
    mailbox_exists: !checks.mailboxExists && !isInvalid,
    catch_all: !checks.catchAll && !checks.mailboxExists && !isRefused,
  };
  return UNCERTAIN_CHECKS.filter((check) => isOpen[check]);
};

/** 0 or 1 where no estimate is needed: the address is refused, or the server tells its mailbox from others. */
export const getCertainty = (
  status: string,
  { mailboxExists }: Pick<Judged["verification"], "mailboxExists">,
): number | undefined => {
  if (status === "invalid") return 0;
  return mailboxExists ? 1 : undefined;
};
