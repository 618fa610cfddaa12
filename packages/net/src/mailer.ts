import type { Mailer, MailOutcome, OutgoingMail } from "@mailproof/core/ports/mailer";

/** The relay answers within a minute, or the mail is sent later. Each answer in part begins the socket's time anew, so a minute ends it. */
const DEADLINE_MS = 60_000;
const TIMEOUTS = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 30_000 };
/** The commands whose refusal concerns the mail. A refusal of another concerns the relay's settings, which an operator corrects. */
const ABOUT_THE_MAIL = ["RCPT TO", "DATA"];

/** Sends mail through a relay (RFC 6409), such as smtps://user:password@relay.example:465. It loads its library with the first mail. */
export const createMailer = (url: string, deadlineMs = DEADLINE_MS): Mailer => ({
  async send(mail) {
    const { createTransport } = await import("nodemailer");
    const transport = createTransport({ ...readRelay(url), ...TIMEOUTS });
    try {
      const { response } = await transport.sendMail({
        ...toMessage(mail),
        signal: AbortSignal.timeout(deadlineMs),
      });
      return { kind: "sent", reply: response };
    } catch (error) {
      return readError(error as RelayError);
    } finally {
      transport.close();
    }
  },
});

const LOOPBACK = ["127.0.0.1", "[::1]", "localhost"];

const readRelay = (url: string) => {
  const { protocol, hostname, port, username, password } = new URL(url);
  const isSecure = protocol === "smtps:";
  const auth = username && {
    user: decodeURIComponent(username),
    pass: decodeURIComponent(password),
  };
  return {
    host: hostname.replaceAll(/^\[|\]$/g, ""),
    port: port ? Number(port) : isSecure ? 465 : 587,
    secure: isSecure,
    // Without TLS, a network attacker could read the password.
    requireTLS: !isSecure && auth !== "" && !LOOPBACK.includes(hostname),
    ...(auth && { auth }),
  };
};

const toMessage = ({ from, to, fields, ...mail }: OutgoingMail) => ({
  ...mail,
  from: { name: "Mailproof", address: from },
  to: { name: "", address: to },
  envelope: { from, to: [to] },
  headers: { ...fields },
  disableFileAccess: true,
  disableUrlAccess: true,
});

type RelayError = Error & {
  readonly responseCode?: number;
  readonly response?: string;
  readonly command?: string;
};

const readError = ({
  responseCode = 0,
  response,
  command = "",
  message,
}: RelayError): MailOutcome => ({
  kind: responseCode >= 500 && ABOUT_THE_MAIL.includes(command) ? "refused" : "failed",
  reply: response ?? message,
});
