// npx sst secret set KeyPepper … --stage production. Those without a placeholder must be set before the first deploy.

/** Mixed into every stored hash of a key. */
export const keyPepper = new sst.Secret("KeyPepper");
/** Signs the cursors of lists. */
export const cursorSecret = new sst.Secret("CursorSecret");
/** Key for hashing stored activity. */
export const activityKey = new sst.Secret("ActivityKey");
/** Encrypts the signing secrets of webhooks. */
export const sealingKey = new sst.Secret("SealingKey");
/** SOCKS5 proxies with their passwords, where port 25 is not asked for directly. */
export const smtpProxies = new sst.Secret("SmtpProxies", "");
/** Of Spamhaus' Data Query Service. */
export const spamhausKey = new sst.Secret("SpamhausKey", "");
