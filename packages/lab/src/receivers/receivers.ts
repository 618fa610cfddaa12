import { att, comcast } from "./american.ts";
import { docomo, naver, netease, qq } from "./asian.ts";
import { cisco, hornetsecurity, spamexperts, symantec, zerospam } from "./filters.ts";
import { free, laposte, orange, ovh, sfr } from "./french.ts";
import { barracuda, mimecast, proofpoint } from "./gateways.ts";
import { gmx, ionos, tOnline } from "./german.ts";
import { google } from "./google.ts";
import { godaddy, infomaniak, libero, rackspace, zoho } from "./hosters.ts";
import { fastmail, icloud, proton, yahoo } from "./mailbox-providers.ts";
import { microsoft, microsoftConsumer } from "./microsoft.ts";
import type { Receiver } from "./receiver.ts";
import { iua, mailRu, rambler, yandex } from "./russian.ts";
import { exim, opensmtpd, postfix } from "./servers.ts";
import { cloudflare, exchangeTarpit, postscreen, spamd, stalwart } from "./throttling-servers.ts";

/** The receivers follow the order of docs/receivers.md. A new receiver is a value in one of these files and a name in this list. */
export const RECEIVERS: readonly Receiver[] = [
  [google, microsoftConsumer, microsoft, yahoo, icloud, fastmail, proton],
  [gmx, ionos, tOnline, orange, laposte, free, sfr, ovh, libero],
  [comcast, att, godaddy, rackspace, zoho, infomaniak],
  [mailRu, yandex, rambler, iua, qq, netease, naver, docomo],
  [mimecast, proofpoint, barracuda, cisco, symantec, spamexperts, hornetsecurity, zerospam],
  [postfix, exim, opensmtpd, cloudflare, stalwart, postscreen, spamd, exchangeTarpit],
].flat();
