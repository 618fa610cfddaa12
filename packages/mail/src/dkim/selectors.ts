/** The queries for more guesses would cost more than the result is worth. */
const SELECTORS_MAX = 45;

type Signer = {
  /** The suffixes of the MX hosts, and the names that customers include in SPF. */
  readonly mx?: readonly string[];
  readonly spf?: readonly string[];
  readonly selectors: readonly string[];
};

/** Services that sign mail for others, their traces in a domain's DNS, and the selectors of their keys. */
const SIGNERS: readonly Signer[] = [
  {
    mx: ["google.com", "googlemail.com"],
    spf: ["google.com", "googlemail.com"],
    selectors: ["google", "20230601", "20221208", "20210112", "20161025"],
  },
  {
    mx: ["outlook.com", "outlook.de", "office365.us", "outlook.cn", "mx.microsoft"],
    spf: ["outlook.com", "outlook.de", "office365.us", "outlook.cn"],
    selectors: ["selector1", "selector2"],
  },
  { spf: ["sendgrid.net"], selectors: ["s1", "s2", "m1"] },
  { spf: ["mcsv.net", "mailchimp.com"], selectors: ["k1", "k2", "k3"] },
  { spf: ["mandrillapp.com"], selectors: ["mandrill", "mte1", "mte2"] },
  { spf: ["mailgun.org"], selectors: ["k1", "mx", "smtp", "email"] },
  { spf: ["mtasv.net", "postmarkapp.com"], selectors: ["pm"] },
  { spf: ["amazonses.com"], selectors: ["amazonses", "resend"] },
  { spf: ["mailjet.com"], selectors: ["mailjet"] },
  { spf: ["brevo.com", "sendinblue.com"], selectors: ["brevo1", "brevo2", "sib1", "mail"] },
  { spf: ["hubspotemail.net", "hubspot.com"], selectors: ["hs1", "hs2"] },
  { spf: ["createsend.com", "cmail1.com", "cmail2.com"], selectors: ["cm"] },
  { spf: ["everlytic.net"], selectors: ["everlytickey1", "everlytickey2"] },
  {
    mx: ["zoho.com", "zoho.eu", "zoho.in", "zoho.com.au", "zoho.jp"],
    spf: ["zoho.com", "zoho.eu", "zoho.in", "zoho.com.au", "zohomail.com"],
    selectors: ["zoho", "zmail"],
  },
  { mx: ["messagingengine.com"], spf: ["messagingengine.com"], selectors: ["fm1", "fm2", "fm3"] },
  {
    mx: ["protonmail.ch"],
    spf: ["protonmail.ch"],
    selectors: ["protonmail", "protonmail2", "protonmail3"],
  },
  { mx: ["icloud.com", "me.com"], spf: ["icloud.com"], selectors: ["sig1"] },
  { mx: ["yandex.ru", "yandex.net"], spf: ["yandex.ru", "yandex.net"], selectors: ["mail"] },
  { mx: ["mxvault.com"], selectors: ["mxvault"] },
];

const COMMON: readonly string[] = `
  google selector1 selector2 default s1 k1 k2 k3 s2 dkim mail smtp email mx sig1
  protonmail protonmail2 protonmail3 zoho zmail mandrill pm resend fm1 fm2 fm3 mailjet brevo1 brevo2 sib1
  hs1 hs2 cm mxvault everlytickey1 everlytickey2 amazonses mte1 mte2 m1 key1 key2 dkim1 dkim2
  20230601 20221208 20210112 20161025`
  .trim()
  .split(/\s+/);

/** The number of common selectors to try even when a name server denies that any can exist. */
const MOST_COMMON = 6;

export type DkimTraces = {
  readonly mxHosts: readonly string[];
  readonly spfIncludes: readonly string[];
  readonly ownSelectors: readonly string[];
};

export const listLikelySelectors = ({
  mxHosts,
  spfIncludes,
  ownSelectors,
}: DkimTraces): readonly string[] => {
  const isBelow = (name: string, ends: readonly string[] = []) =>
    ends.some((end) => `.${name.toLowerCase().replace(/\.$/, "")}`.endsWith(`.${end}`));
  const seen = SIGNERS.filter(
    ({ mx, spf }) =>
      mxHosts.some((host) => isBelow(host, mx)) || spfIncludes.some((name) => isBelow(name, spf)),
  );
  const suggested = seen.flatMap(({ selectors }) => selectors);
  return [...new Set([...suggested, ...ownSelectors])].slice(0, SELECTORS_MAX);
};

/** Lists the likely and the most common selectors: a domain that signs usually has a key under one of them. */
export const listLikeliestSelectors = (traces: DkimTraces): readonly string[] =>
  [...new Set([...listLikelySelectors(traces), ...COMMON.slice(0, MOST_COMMON)])].slice(
    0,
    SELECTORS_MAX,
  );

export const listSelectors = (traces: DkimTraces): readonly string[] =>
  [...new Set([...listLikelySelectors(traces), ...COMMON])].slice(0, SELECTORS_MAX);
