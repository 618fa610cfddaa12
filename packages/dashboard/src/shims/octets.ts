// Replaces core's use of Buffer (packages/mail/src/octets.ts), because a browser has no Buffer. The function counts, because most texts are
// short and encoding each of them takes longer.

const isHighSurrogate = (code: number): boolean => code >= 0xd8_00 && code < 0xdc_00;
const isLowSurrogate = (code: number): boolean => code >= 0xdc_00 && code < 0xe0_00;

/** Counts the octets of a text in UTF-8. Half of a surrogate pair becomes U+FFFD, which has three octets. */
export const countOctets = (text: string): number => {
  let octets = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (isHighSurrogate(code) && isLowSurrogate(text.charCodeAt(at + 1))) {
      octets += 4;
      at++;
    } else octets += code < 0x80 ? 1 : code < 0x8_00 ? 2 : 3;
  }
  return octets;
};
