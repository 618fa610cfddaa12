import type { RuleFamily } from "../reply-rule.ts";

/** Words that one provider documents, or is known for. The general rules would misread them, so these rules come first. */
export const PROVIDER_WORDS: readonly RuleFamily[] = [
  {
    reason: "domain_without_mailboxes",
    verdict: "risky",
    confidence: 0.8,
    rules: {
      microsoft_lapsed_tenant: {
        // Microsoft 365: the domain's subscription has ended. The text mentions authentication, but not ours.

        text: /\bhosted tenant which has no mail-? ?enabled subscriptions?\b/,
        example:
          "451 4.4.4 Mail received as unauthenticated, incoming to a recipient domain configured in a hosted tenant which has no mail-enabled subscriptions. ATTR5",
      },
    },
  },
  {
    reason: "mailbox_not_found_transient",
    verdict: "risky",
    confidence: 0.6,
    retry: "later",
    rules: {
      mimecast_federated_unknown: {
        // Mimecast with a federated directory replies 451 for an unknown recipient, at every attempt.

        code: "451",
        text: /\binvalid recipient\b/,
        mx: /\bmimecast(?:-offshore)?\./,
        example:
          "451 Invalid Recipient - https://community.mimecast.com/docs/DOC-1369#451 [abc.uk1]",
        fromHost: "eu-smtp-inbound-1.mimecast.com",
      },
    },
  },
  {
    reason: "server_error",
    verdict: "unknown",
    confidence: 0.9,
    retry: "later",
    rules: {
      microsoft_organization_queue: {
        // Microsoft 365: too much mail waits for the whole organisation. No mailbox is full.

        text: /\borgani[sz]ation queue quota\b/,
        example: "450 4.7.3 Organization queue quota exceeded.",
      },
    },
  },
  {
    reason: "mailbox_rate_limited",
    verdict: "risky",
    confidence: 0.8,
    retry: "later",
    rules: {
      tencent_recipient_busy: {
        // Tencent's help gives these words for a recipient who gets too many messages at once; some of its hosts misspell them. Cox uses
        // the same words for a mailbox that does not exist, so elsewhere they prove nothing.

        text: /\bmailbox unavailable or access den(?:ied|ined)\b/,
        mx: /(?:^|\.)qq\.com$/,
        example: "550 Mailbox unavailable or access denined",
        fromHost: "mx3.qq.com",
      },
    },
  },
  {
    reason: "mailbox_full",
    verdict: "risky",
    confidence: 0.9,
    retry: "later",
    rules: {
      docomo_mail_data: {
        text: /\btoo much mail data\b/,
        example: "552 Too much mail data",
      },
      i_ua_full: {
        text: /\b_iua_4\b/,
        example: "550 See http://mail.i.ua/err/4/",
      },
    },
  },
  {
    reason: "mailbox_abandoned",
    verdict: "risky",
    confidence: 0.9,
    retry: "later",
    rules: {
      gmail_full_and_inactive: {
        // Gmail's OverQuotaPerm: the mailbox is full, and unused for so long that Gmail accepts nothing more.

        text: /\bout of storage space and inactive\b/,
        example:
          "552 5.2.2 The recipient's inbox is out of storage space and inactive. https://support.google.com/mail/?p=OverQuotaPerm a1.2 - gsmtp",
      },
    },
  },
  {
    reason: "mailbox_owner_changed",
    verdict: "risky",
    confidence: 0.8,
    rules: {
      owner_changed: {
        // RFC 7293 §9: the mailbox or its domain accepts mail, but for another person than the sender meant.

        enhanced: /^5\.7\.1[78]$/,
        text: /\bowner\b|\bchanged\b/,
        example: "550 5.7.17 Mailbox owner has changed",
      },
    },
  },
  {
    reason: "mailbox_disabled",
    verdict: "invalid",
    confidence: 0.85,
    rules: {
      yandex_account_blocked: {
        // Yandex has blocked the account. From other servers the same words are about us.

        code: "5",
        text: /\bpolicy rejection on the target address\b/,
        mx: /\.yandex\.(?:ru|net)$/,
        example: "550 5.7.1 Policy rejection on the target address",
        fromHost: "mx.yandex.ru",
      },
      rambler_account_blocked: {
        code: "540",
        text: /\brecipient address rejected: (?:account )?(?:blocked|inactive)\b/,
        example: "540 5.7.1 <bob@rambler.ru>: Recipient address rejected: Blocked",
      },
      i_ua_unused: {
        code: "5",
        text: /\b_iua_3\b/,
        example: "550 See http://mail.i.ua/err/3/",
      },
    },
  },
  {
    reason: "mailbox_not_found",
    verdict: "invalid",
    confidence: 0.9,
    rules: {
      i_ua_unknown: {
        code: "5",
        text: /\b_iua_2\b/,
        example: "550 See http://mail.i.ua/err/2/",
      },
    },
  },
];
