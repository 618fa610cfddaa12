export const TEXT_MAX = 320;

/** The parts of a text that is not an address, as far as it has any: enough to suggest gmail.com for "gmailcom". */
export const splitRoughly = (text: string): { local: string; domain: string } => {
  const short = text.trim().slice(0, TEXT_MAX);
  const at = short.lastIndexOf("@");
  return { local: short.slice(0, Math.max(0, at)), domain: short.slice(at + 1).toLowerCase() };
};
