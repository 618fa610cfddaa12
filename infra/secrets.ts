// npx sst secret set KeyPepper … --stage production. Secrets without a placeholder must be set before the first deployment.
// The service still reads data of a former value, and uses only the current value for new data (docs/operating.md).

/** Every stored hash of an API key contains this pepper. */
export const keyPepper = new sst.Secret("KeyPepper");
/** The former pepper; the service still accepts its keys. */
export const keyPepperBefore = new sst.Secret("KeyPepperBefore", "");
/** Signs pagination cursors. */
export const cursorSecret = new sst.Secret("CursorSecret");
export const cursorSecretBefore = new sst.Secret("CursorSecretBefore", "");
/** Key for hashing stored activity. */
export const activityKey = new sst.Secret("ActivityKey");
export const activityKeyBefore = new sst.Secret("ActivityKeyBefore", "");
/** Encrypts the signing secrets of webhooks. The receipts' keys and the secret header of CloudFront derive from it. */
export const sealingKey = new sst.Secret("SealingKey");
export const sealingKeyBefore = new sst.Secret("SealingKeyBefore", "");
/** The secret of this service at the identity provider; empty for a public client. */
export const oidcClientSecret = new sst.Secret("OidcClientSecret", "");
/** SOCKS5 proxies with their passwords, for stages that do not connect to port 25 directly. */
export const smtpProxies = new sst.Secret("SmtpProxies", "");
/** The relay that sends this service's mails, with its password, such as that of Amazon SES. */
export const smtpUrl = new sst.Secret("SmtpUrl", "");
/** Key of Spamhaus' Data Query Service. */
export const spamhausKey = new sst.Secret("SpamhausKey", "");
