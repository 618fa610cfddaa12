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

/** The checks whose outcome may stay open. The syntax check always has an outcome. */
export const UNCERTAIN_CHECKS = [
  "domain_exists",
  "mx_found",
  "smtp_check",
  "mailbox_exists",
  "catch_all",
] as const;

/**
 * Lists the checks that are false without a proof. A proof that the domain or the mailbox does not exist makes the address
 * invalid, so under another status "false" means unknown.
 */
export const listUnknownChecks = (
  { status, reason, verification: checks }: Judged,
  isServerUnasked: boolean,
): (typeof UNCERTAIN_CHECKS)[number][] => {
  const isInvalid = status === "invalid";
  const isDomainDecided = checks.domainExists || isInvalid;
  // A server that refuses this address, or distinguishes its mailbox from others, does not accept every address. A domain
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

/** Returns 0 or 1 when no estimate is needed: the server refused the address, or distinguishes its mailbox from others. */
export const getCertainty = (
  status: string,
  { mailboxExists }: Pick<Judged["verification"], "mailboxExists">,
): number | undefined => {
  if (status === "invalid") return 0;
  return mailboxExists ? 1 : undefined;
};
