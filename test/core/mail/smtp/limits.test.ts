import { findProvider, getLimits } from "@mailproof/core/mail/smtp/limits";
import { expect, test } from "vitest";

test.each([
  ["gmail-smtp-in.l.google.com", "google"],
  ["ASPMX2.GOOGLEMAIL.COM.", "google"],
  ["contoso-com.mail.protection.outlook.com", "microsoft"],
  ["contoso-com.o-v1.mx.microsoft", "microsoft"],
  ["outlook-com.olc.protection.outlook.com", "microsoft_consumer"],
  ["mta7.am0.yahoodns.net", "yahoo"],
  ["mx01.mail.icloud.com", "icloud"],
  ["eu-smtp-inbound-1.mimecast.com", "mimecast"],
  ["mxa-00000000.gslb.pphosted.com", "proofpoint"],
  ["d1.a.ess.barracudanetworks.com", "barracuda"],
  ["mx.zoho.eu", "zoho"],
  ["mx00.gmx.net", "gmx"],
  ["mx3.qq.com", "qq"],
  ["smtp-in.orange.fr", "orange"],
  ["mx1.comcast.net", "comcast"],
  ["mail.example.com", "other"],
  ["notgoogle.com", "other"],
  ["google.com.evil.example", "other"],
  ["", "other"],
])("%s belongs to %s", (host, provider) => {
  expect(findProvider(host)).toBe(provider);
});

test("the big ones are asked less than a server of its own", () => {
  const other = getLimits("other");
  const perConnection = ({ recipientsPerTransaction, transactionsPerConnection }: typeof other) =>
    recipientsPerTransaction * transactionsPerConnection;

  for (const provider of ["google", "microsoft", "yahoo", "icloud", "qq"] as const) {
    expect(perConnection(getLimits(provider))).toBeLessThan(perConnection(other));
    expect(getLimits(provider).connections).toBeLessThan(other.connections);
  }
});
