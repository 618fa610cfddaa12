import { createMailer } from "@mailproof/net/mailer";
import type { Capability } from "../lambda-world.ts";
import { requireSetting } from "../settings.ts";

/** For the one worker that sends this service's mails, which alone has the relay's password. */
export const withRelay: Capability = ({ environment }) => ({
  mailer: { send: (mail) => createMailer(requireSetting(environment, "SMTP_URL")).send(mail) },
});
