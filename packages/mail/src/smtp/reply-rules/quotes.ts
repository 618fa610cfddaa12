/**
 * The words that introduce another server's reply: Postfix and Exim name the host and its address, Exim also writes a line before the
 * reply, Barracuda names the recipient.
 */
export const QUOTE_STARTS = [
  /\bhost [^\s[\]]{1,255} ?\[[0-9a-f.:]{2,45}\](?::\d{1,5})?(?: said| refused to talk to me)?: {0,9}(?=[45]\d\d\b)/gi,
  /\b(?:said|replied|answered|responded|returned|reply|response)(?: with| was| from server)?:? {1,9}["'(<]?(?=[45]\d\d[ -])/gi,
  /\bfor one or more recipients:? ?\([^\s()<>@,;:]{1,64}@[^\s()<>@,;:]{1,255}: ?/gi,
  /\bcallout verification failed:\s{1,9}/gi,
];
