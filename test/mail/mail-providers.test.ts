import { DEFAULT_LIMITS, MAIL_PROVIDERS } from "@mailproof/mail/mail-provider-table";
import {
  findMailProvider,
  mayAcceptThenBounce,
  PROVIDER_CONNECTIONS,
  rejectsUnknownRecipients,
} from "@mailproof/mail/mail-providers";
import { expect, test } from "vitest";

const OUTLOOK = "eur.olc.protection.outlook.com";
const ICLOUD = "mx01.mail.icloud.com";
const GMAIL = "alt1.gmail-smtp-in.l.google.com";
const WORKSPACE = "aspmx.l.google.com";

test.each([
  [GMAIL, "google"],
  ["ASPMX2.GOOGLEMAIL.COM.", "google"],
  ["contoso-com.mail.protection.outlook.com", "microsoft"],
  ["contoso-com.o-v1.mx.microsoft", "microsoft"],
  [OUTLOOK, "microsoft_consumer"],
  ["mta7.am0.yahoodns.net", "yahoo"],
  [ICLOUD, "icloud"],
  ["eu-smtp-inbound-1.mimecast.com", "mimecast"],
  ["mxa-00000000.gslb.pphosted.com", "proofpoint"],
  ["mx1-us1.ppe-hosted.com", "proofpoint"],
  ["d1.a.ess.barracudanetworks.com", "barracuda"],
  ["filter10.antispamcloud.com", "spamexperts"],
  ["mx01.hornetsecurity.com", "hornetsecurity"],
  ["contoso.in.tmes.trendmicro.eu", "trend_micro"],
  ["mx.zoho.eu", "zoho"],
  ["smtp.secureserver.net", "godaddy"],
  ["mx1.emailsrvr.com", "rackspace"],
  ["mx1.mail.ovh.net", "ovh"],
  ["mx00.kundenserver.de", "ionos"],
  ["route1.mx.cloudflare.net", "cloudflare"],
  ["eforward1.registrar-servers.com", "namecheap_forwarding"],
  ["fwd1.porkbun.com", "porkbun_forwarding"],
  ["pixie.porkbun.com", "other"],
  ["mx00.gmx.net", "gmx"],
  ["mx3.qq.com", "qq"],
  ["smtp-in.orange.fr", "orange"],
  ["mx1.comcast.net", "comcast"],
  ["mail.example.com", "other"],
  ["notgoogle.com", "other"],
  ["google.com.evil.example", "other"],
  ["com", "other"],
  ["", "other"],
])("the host %s belongs to the provider %s", (host, provider) => {
  expect(findMailProvider(host).name).toBe(provider);
});

test("each suffix belongs to one provider", () => {
  const suffixes = MAIL_PROVIDERS.flatMap(({ hosts }) => hosts);

  expect(suffixes.length).toBeGreaterThan(70);
  expect(suffixes.filter((suffix, at) => suffixes.indexOf(suffix) !== at)).toEqual([]);
});

const rows = MAIL_PROVIDERS.map(({ name, hosts }) => [name, hosts[0]] as const);

test.each(rows)("the host %s at %s gets fewer probes than a server of its own", (_, host) => {
  const { limits } = findMailProvider(host);

  expect(limits.recipientsPerConnection).toBeLessThan(DEFAULT_LIMITS.recipientsPerConnection);
  expect(limits.recipientsPerTransaction).toBeLessThanOrEqual(limits.recipientsPerConnection);
  expect(limits.rejectionsPerConnection).toBeLessThanOrEqual(
    DEFAULT_LIMITS.rejectionsPerConnection,
  );
  expect(limits.connections).toBeLessThanOrEqual(PROVIDER_CONNECTIONS);
});

test("all Workspace domains share one host name, which gets the provider's limits", () => {
  const { limits } = findMailProvider(WORKSPACE);

  expect(limits).toMatchObject({
    connections: PROVIDER_CONNECTIONS,
    oneDomainPerTransaction: true,
  });
});

test.each([
  ["gmail.com", GMAIL],
  ["Outlook.com", OUTLOOK],
  ["outlook.fr", OUTLOOK],
  ["hotmail.co.uk", OUTLOOK],
  ["me.com", ICLOUD],
])("an acceptance proves a mailbox for %s at %s", (domain, host) => {
  expect(rejectsUnknownRecipients(domain, host)).toBe(true);
});

test.each([
  ["a custom domain may contain a catch-all mailbox", "company.example", ICLOUD],
  ["a Workspace domain may contain a catch-all mailbox", "company.example", WORKSPACE],
  ["the domain's MX record names Gmail's hosts", "company.example", GMAIL],
  ["gmail.com's own host did not answer", "gmail.com", "mx.elsewhere.example"],
  ["no host answered", "gmail.com", null],
])("an acceptance proves no mailbox when %s", (_, domain, host) => {
  expect(rejectsUnknownRecipients(domain, host)).toBe(false);
});

test.each([
  ["yahoo.com", "mta7.am0.yahoodns.net", true],
  ["sky.com", "mx-eu.mail.am0.yahoodns.net", true],
  ["bk.ru", "mxs.mail.ru", true],
  ["company.example", "emx.mail.ru", false],
  ["yahoo.com", null, false],
  ["company.example", "mail.company.example", false],
])("a message for %s at %s may bounce after its acceptance: %s", (domain, host, bounces) => {
  expect(mayAcceptThenBounce(domain, host)).toBe(bounces);
});

test("SpamExperts gets enough time to ask the system behind it before it replies", () => {
  expect(findMailProvider("filter10.antispamcloud.com").waits.rcpt).toBeGreaterThan(30_000);
});
