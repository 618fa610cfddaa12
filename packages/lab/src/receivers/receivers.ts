import { google } from "./google.ts";
import { fastmail, icloud, proton, yahoo } from "./mailbox-providers.ts";
import { microsoft, microsoftConsumer } from "./microsoft.ts";
import type { Receiver } from "./receiver.ts";
import { exim, opensmtpd, postfix } from "./servers.ts";

/** In the order of docs/receivers.md. A new receiver is a value in one of these files and a name here. */
export const RECEIVERS: readonly Receiver[] = [
  google,
  microsoftConsumer,
  microsoft,
  yahoo,
  icloud,
  fastmail,
  proton,
  postfix,
  exim,
  opensmtpd,
];
