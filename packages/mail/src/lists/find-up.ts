/** Returns the first answer for a domain or one of its parents, in this order: mail.example.com, example.com, com. */
export const findUp = <T>(domain: string, find: (at: string) => T | undefined): T | undefined => {
  for (let at = domain; ; ) {
    const found = find(at);
    if (found !== undefined) return found;
    const dot = at.indexOf(".");
    if (dot < 0) return undefined;
    at = at.slice(dot + 1);
  }
};
