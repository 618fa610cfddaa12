const line = (text: string): string => `${text}\r\n`;

/** Every reply of the receiver, with enhanced status codes (RFC 3463). */
export const REPLIES = {
  greeting: (name: string) => line(`220 ${name} ESMTP`),
  hello: (name: string) => line(`250 ${name}`),
  extensions: (
    name: string,
    { bytesMax, offersTls }: { readonly bytesMax: number; readonly offersTls: boolean },
  ) =>
    [
      name,
      "PIPELINING",
      `SIZE ${bytesMax}`,
      ...(offersTls ? ["STARTTLS"] : []),
      "ENHANCEDSTATUSCODES",
      "8BITMIME",
      "SMTPUTF8",
    ]
      .map((text, at, all) => line(`250${at === all.length - 1 ? " " : "-"}${text}`))
      .join(""),
  ok: line("250 2.0.0 OK"),
  senderOk: line("250 2.1.0 Sender OK"),
  recipientOk: line("250 2.1.5 Recipient OK"),
  sendData: line("354 End the message with a line that has a single dot"),
  stored: line("250 2.0.0 The message is stored"),
  tlsReady: line("220 2.0.0 Ready to start TLS"),
  notVerified: line("252 2.5.2 Send a message to find out"),
  help: line("214 2.0.0 This server takes mail for mail tests, and reports"),
  bye: line("221 2.0.0 Bye"),

  tooManyConnections: line("421 4.7.0 Too many connections from your address; try again later"),
  tooManyInAll: line("421 4.3.2 Too many connections; try again later"),
  tooManyErrors: line("421 4.7.0 Too many commands that were refused or lead nowhere"),
  timedOut: line("421 4.4.2 The session took too long"),
  tooSlow: line("421 4.4.2 The message comes too slowly"),
  stopping: line("421 4.3.2 The server is stopping; try again later"),
  localError: line("451 4.3.0 The server cannot do this right now; try again later"),
  noRoom: line("452 4.3.1 Too many messages at once; try again later"),
  busyRecipient: line("452 4.2.1 Too many messages for this address; try again later"),
  oneRecipient: line("452 4.5.3 One recipient for each message; send a message for each"),

  lineTooLong: line("500 5.5.6 The line is too long"),
  bareLineEnd: line("500 5.5.2 A line must end with CR and LF"),
  unknownCommand: line("500 5.5.1 Unknown command"),
  helloWithoutName: line("501 5.5.4 Send the name of your host"),
  noParameters: line("501 5.5.4 This command takes no parameters"),
  badSender: line("501 5.1.7 Send MAIL FROM:<address>"),
  badRecipient: line("501 5.1.3 Send RCPT TO:<address>"),
  badParameter: line("555 5.5.4 Unknown parameter, or one with an invalid value"),
  helloFirst: line("503 5.5.1 Send EHLO first"),
  mailFirst: line("503 5.5.1 Send MAIL FROM first"),
  rcptFirst: line("503 5.5.1 Send RCPT TO first"),
  nestedMail: line("503 5.5.1 The message before has not ended"),
  tlsAlready: line("503 5.5.1 The session is encrypted already"),
  improperPipelining: line("503 5.5.0 Wait for 354 before the message"),
  noRelay: line("550 5.7.1 This server does not relay"),
  unknownRecipient: line("550 5.1.1 No such address"),
  expiredRecipient: line("550 5.1.1 The address has expired"),
  usedRecipient: line("550 5.2.1 The address has received its message"),
  tooLarge: line("552 5.3.4 The message is too large"),
  noValidRecipient: line("554 5.5.1 No valid recipients"),
  unreadable: line("554 5.6.0 The message has no DMARC or TLS report"),
  bareInData: line("554 5.6.0 The message has a bare CR or LF; lines must end with CRLF"),
} as const;

export type Path = {
  readonly address: string;
  readonly parameters: readonly (readonly [name: string, value: string])[];
};

const PATH =
  /^ *(?<keyword>FROM|TO): *<(?<path>(?:"(?:[^"\\]|\\.)*"|[^"<>\s])*)>(?: (?<more>.*))?$/is;
const LENGTH_MAX = 320;

/** Parses the argument of MAIL and RCPT. Undefined when it is malformed. A source route is ignored (RFC 5321 §4.1.1.3). */
export const parsePath = (keyword: "FROM" | "TO", argument: string): Path | undefined => {
  const found = PATH.exec(argument)?.groups;
  if (found?.["keyword"]?.toUpperCase() !== keyword) return undefined;
  const { path = "", more = "" } = found;
  const address = path.replace(/^@[^:]*:/, "");
  // The only recipient without a domain (RFC 5321 §4.1.1.3).
  const isPostmaster = keyword === "TO" && /^postmaster$/i.test(address);
  const isAddress = isPostmaster || (address.lastIndexOf("@") > 0 && !address.endsWith("@"));
  if (address.length > LENGTH_MAX || (address !== "" && !isAddress)) return undefined;
  const parameters = more
    .split(" ")
    .filter((one) => one !== "")
    .map((one) => {
      const [name = "", ...value] = one.split("=");
      return [name.toUpperCase(), value.join("=")] as const;
    });
  return { address, parameters };
};
