/** A mailbox of an address field. Texts are Latin-1. */
export type FieldMailbox = { readonly name: string; readonly address: string };

/**
 * Parses the mailboxes of From, Sender or Reply-To (RFC 5322 §3.4), with those of groups. Text between two commas that holds no address
 * becomes the address itself, because a reader sees it.
 */
export const parseMailboxes = (value: string): readonly FieldMailbox[] => {
  const mailboxes: FieldMailbox[] = [];
  let [name, address, inAngles] = ["", "", false];
  let [isQuoted, comments] = [false, 0];
  let hasAngles = false;
  const end = (): void => {
    const text = name.trim();
    const found = hasAngles ? address.trim() : text.replaceAll(/\s/g, "");
    if (found !== "" || text !== "")
      mailboxes.push({ name: hasAngles ? text : "", address: found });
    [name, address, inAngles, hasAngles] = ["", "", false, false];
  };
  const add = (text: string): void => {
    if (inAngles) address += text;
    else name += text;
  };
  for (let at = 0; at < value.length; at += 1) {
    const sign = value.charAt(at);
    if (sign === "\\" && (isQuoted || comments > 0)) {
      at += 1;
      if (comments === 0)
        add(isAtInName(isQuoted, inAngles) ? value.charAt(at) : sign + value.charAt(at));
    } else if (comments > 0) {
      comments += sign === "(" ? 1 : sign === ")" ? -1 : 0;
    } else if (sign === '"') {
      isQuoted = !isQuoted;
      add(sign);
    } else if (isQuoted) add(sign);
    else if (sign === "(") comments = 1;
    else if (sign === "<" && !inAngles) [inAngles, hasAngles, address] = [true, true, ""];
    else if (sign === ">" && inAngles) inAngles = false;
    else if (sign === "," && !inAngles) end();
    else if (sign === ";" && !inAngles) end();
    // The name of a group. Within angle brackets the colon ends an obsolete route.
    else if (sign === ":") [name, address] = inAngles ? [name, ""] : ["", address];
    else add(sign);
  }
  end();
  return mailboxes;
};

const isAtInName = (isQuoted: boolean, inAngles: boolean): boolean => isQuoted && !inAngles;

export const getAddressDomain = (address: string): string =>
  address.slice(address.lastIndexOf("@") + 1 || address.length);
