export const MAIL_TEST_PREFIX = "test-";

/** The token has 128 random bits, so no address can be guessed, in lower case, because senders may change the case of a local part. */
export const toMailTestAddress = (token: string, domain: string): string =>
  `${MAIL_TEST_PREFIX}${token}@${domain}`;

export const toMailTestId = (token: string): string => `mlt_${token}`;
