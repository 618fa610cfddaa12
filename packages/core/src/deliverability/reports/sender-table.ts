// Services that send mail for others: the features of their sources in reports, and the records that align their mail.

export type SenderService = {
  /** The value of a source's field `provider`. */
  readonly name: string;
  readonly title: string;
  /** The hosts' names end with these labels. */
  readonly hosts: readonly string[];
  /**
   * The service's mail passes SPF or DKIM with domains below these, before the customer has set up anything. The table omits
   * them when they are the hosts.
   */
  readonly domains: readonly string[];
  /**
   * The include for the customer's SPF record. Absent when bounces go to a domain of the service, so that SPF is never aligned,
   * or to a subdomain that the customer delegates by CNAME.
   */
  readonly include?: string;
  /** The selectors of its keys. Absent when each customer has different selectors. */
  readonly selectors?: readonly string[];
};

const BY_NAME: Readonly<
  Record<string, Omit<SenderService, "name" | "domains"> & Partial<Pick<SenderService, "domains">>>
> = {
  google: {
    title: "Google Workspace",
    hosts: ["google.com", "googlemail.com"],
    domains: ["gappssmtp.com", "google.com"],
    include: "_spf.google.com",
    selectors: ["google"],
  },
  microsoft: {
    title: "Microsoft 365",
    hosts: ["outbound.protection.outlook.com", "protection.outlook.com", "outlook.com"],
    domains: ["onmicrosoft.com"],
    include: "spf.protection.outlook.com",
    selectors: ["selector1", "selector2"],
  },
  amazon_ses: {
    title: "Amazon SES",
    hosts: ["amazonses.com"],
  },
  sendgrid: {
    title: "SendGrid",
    hosts: ["sendgrid.net"],
    domains: ["sendgrid.net", "sendgrid.info"],
    selectors: ["s1", "s2"],
  },
  mailchimp: {
    title: "Mailchimp",
    hosts: ["mcsv.net", "mcdlv.net", "rsgsv.net"],
    domains: ["mcsv.net", "mcdlv.net", "rsgsv.net", "mailchimpapp.net"],
    selectors: ["k2", "k3"],
  },
  mandrill: {
    title: "Mailchimp Transactional (Mandrill)",
    hosts: ["mandrillapp.com"],
    selectors: ["mte1", "mte2"],
  },
  mailgun: {
    title: "Mailgun",
    hosts: ["mailgun.net", "mailgun.org", "mailgun.us", "mailgun.co"],
    domains: ["mailgun.org", "mailgun.net"],
    include: "mailgun.org",
  },
  postmark: {
    title: "Postmark",
    hosts: ["mtasv.net", "postmarkapp.com"],
    domains: ["mtasv.net"],
  },
  sparkpost: {
    title: "SparkPost",
    hosts: ["sparkpostmail.com"],
  },
  brevo: {
    title: "Brevo",
    hosts: ["brevo.com", "sendinblue.com", "sender-sib.com", "mailin.fr"],
    domains: ["brevosend.com", "sendinblue.com", "sender-sib.com", "mailin.fr"],
    selectors: ["brevo1", "brevo2"],
  },
  mailjet: {
    title: "Mailjet",
    hosts: ["mailjet.com"],
    include: "spf.mailjet.com",
    selectors: ["mailjet"],
  },
  hubspot: {
    title: "HubSpot",
    hosts: ["hubspotemail.net", "hubspot.com"],
    domains: ["hubspotemail.net", "hubspotstarter.net"],
  },
  salesforce: {
    title: "Salesforce",
    hosts: ["salesforce.com"],
    include: "_spf.salesforce.com",
  },
  salesforce_marketing_cloud: {
    title: "Salesforce Marketing Cloud",
    hosts: ["exacttarget.com"],
  },
  zendesk: {
    title: "Zendesk",
    hosts: ["zendesk.com", "zdsys.com"],
    domains: ["zendesk.com"],
    include: "mail.zendesk.com",
    selectors: ["zendesk1", "zendesk2"],
  },
  constant_contact: {
    title: "Constant Contact",
    hosts: ["constantcontact.com", "ccsend.com"],
    selectors: ["ctct1", "ctct2"],
  },
  campaign_monitor: {
    title: "Campaign Monitor",
    hosts: ["createsend.com", "cmail1.com", "cmail2.com", "cmail19.com", "cmail20.com"],
    selectors: ["cm"],
  },
  zoho: {
    title: "Zoho Mail",
    hosts: ["zoho.com", "zoho.eu", "zoho.in", "zohomail.com"],
    domains: ["zohomail.com"],
    include: "zohomail.com",
    selectors: ["zmail"],
  },
  fastmail: {
    title: "Fastmail",
    hosts: ["messagingengine.com"],
    include: "spf.messagingengine.com",
    selectors: ["fm1", "fm2", "fm3"],
  },
  proton: {
    title: "Proton Mail",
    hosts: ["protonmail.ch", "proton.ch"],
    domains: ["protonmail.ch"],
    include: "_spf.protonmail.ch",
    selectors: ["protonmail", "protonmail2", "protonmail3"],
  },
  icloud: {
    title: "iCloud Mail",
    hosts: ["icloud.com", "me.com", "apple.com"],
    domains: ["icloud.com"],
    include: "icloud.com",
    selectors: ["sig1"],
  },
  yandex: {
    title: "Yandex 360",
    hosts: ["yandex.net", "yandex.ru", "yandex.com"],
    domains: ["yandex.ru"],
    include: "_spf.yandex.net",
    selectors: ["mail"],
  },
};

export const SENDER_SERVICES: readonly SenderService[] = Object.entries(BY_NAME).map(
  ([name, service]) => ({ name, domains: service.hosts, ...service }),
);
