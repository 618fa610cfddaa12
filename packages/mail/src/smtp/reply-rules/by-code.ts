import type { RuleFamily } from "../reply-rule.ts";
import { NOT_THE_BOX } from "./mailbox.ts";

const invalid = { verdict: "invalid" } as const;

/** Findings about an existing mailbox, from the code alone, when no rule for words matched. */
export const MAILBOX_BY_CODE: readonly RuleFamily[] = [
  {
    reason: "mailbox_owner_changed",
    verdict: "risky",
    confidence: 0.8,
    rules: {
      owner_changed_code: {
        enhanced: /^5\.7\.1[78]$/,
        example: "550 5.7.17 Ask bob who he is",
      },
    },
  },
  {
    reason: "mailbox_full",
    verdict: "risky",
    confidence: 0.9,
    retry: "later",
    rules: {
      full_code: {
        enhanced: /^[45]\.2\.2$/,
        unless: NOT_THE_BOX,
        example: "452 4.2.2 Ask bob to tidy up",
      },
    },
  },
];

/** Findings about a missing mailbox or domain, from the code alone, when no rule for words matched. */
export const GONE_BY_CODE: readonly RuleFamily[] = [
  {
    ...invalid,
    reason: "mailbox_disabled",
    confidence: 0.85,
    rules: {
      disabled_code: {
        code: "5",
        enhanced: /^5\.2\.1$/,
        unless: /\btemporar\w*|\b(?:reject\w*|block\w*|polic\w+|refused?|denied)\b/,
        example: "550 5.2.1 Not a mailbox any more",
      },
      disabled_account_525: {
        code: "525",
        enhanced: /^5\.7\.13$/,
        example: "525 5.7.13 User account is out of order",
      },
    },
  },
  {
    ...invalid,
    reason: "mailbox_moved",
    confidence: 0.8,
    rules: {
      moved_code: {
        code: "5",
        enhanced: /^5\.1\.6$/,
        example: "550 5.1.6 Recipient no longer on server",
      },
    },
  },
  {
    ...invalid,
    reason: "domain_not_accepting",
    confidence: 0.9,
    rules: {
      domain_takes_no_mail_code: {
        code: "556",
        example: "556 No",
      },
    },
  },
  {
    // DNS has the domain, or we could not have asked the server, so the domain may only accept no mail.
    ...invalid,
    reason: "domain_not_accepting",
    confidence: 0.85,
    rules: {
      domain_code: {
        code: "5",
        enhanced: /^5\.1\.2$/,
        example: "550 5.1.2 We cannot route mail to there",
      },
    },
  },
  {
    ...invalid,
    reason: "bad_address_syntax",
    confidence: 0.85,
    rules: {
      address_syntax_code: {
        code: "5",
        enhanced: /^5\.1\.3$/,
        example: "553 5.1.3 User address required",
      },
    },
  },
  {
    ...invalid,
    reason: "mailbox_not_found",
    confidence: 0.9,
    rules: {
      gateway_says_unknown: {
        code: "5",
        enhanced: /^5\.1\.(?:1|10|351)$/,
        unless:
          /\b(?:polic\w+|relay\w*|block\w*|den(?:y|ied|ies)|gr[ea]y-? ?list\w*|permission|prohibited|forbidden|may not|restrict\w*|not allowed)\b/,
        example: "550 5.1.1 <bob@example.com> Address error",
      },
      opensmtpd_unknown: {
        // OpenSMTPD gives this reply for an unknown user of a virtual domain. No standard defines the code, and the words alone may
        // describe an existing list, so the rule needs both.

        code: "524",
        text: /\bmailing list expansion problem\b/,
        example: "524 5.2.4 Mailing list expansion problem: <bob@example.com>",
      },
    },
  },
  {
    ...invalid,
    reason: "mailbox_not_found",
    confidence: 0.8,
    rules: {
      microsoft_edge_blocking: {
        // Directory based edge blocking: only Microsoft's edge gives this reply, for an address that it does not know.

        code: "5",
        enhanced: /^5\.4\.1$/,
        text: /\brecipient address rejected: access denied\b/,
        mx: /\.(?:protection\.outlook\.com|mx\.microsoft|protection\.partner\.outlook\.cn|mail\.protection\.office365\.us)$/,
        example: "550 5.4.1 Recipient address rejected: Access denied. AS(201806281)",
        fromHost: "example-com.mail.protection.outlook.com",
      },
      edge_blocking_passed_on: {
        // A gateway that asks Microsoft passes the words on; the host or the code in the text is Microsoft's.

        code: "5",
        enhanced: /^5\.4\.1$/,
        text: /\brecipient address rejected: access denied\b.*(?:_microsoft_|\bas\(\d{6,12}\))/s,
        example:
          "550 5.4.1 Recipient address rejected: Access denied. [DB5EUR03FT012.eop-EUR03.prod.protection.outlook.com 2026-02-03T05:00:00.000Z 08DE0000000000000]",
      },
      edge_blocking_at_gateway: {
        // Gateways that ask the customer's own server about each recipient pass the words on without a mark.

        code: "5",
        enhanced: /^5\.4\.1$/,
        text: /\brecipient address rejected: access denied\b/,
        atGateway: true,
        example: "550 5.4.1 Recipient address rejected: Access denied.",
        fromHost: "d12345a.ess.barracudanetworks.com",
      },
    },
  },
];
