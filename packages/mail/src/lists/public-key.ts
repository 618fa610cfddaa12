/** The Ed25519 key (SPKI in base64) that signs editions of the lists. Its private key is the maintainers' own (docs/lists.md). */
export const LISTS_PUBLIC_KEY = "MCowBQYDK2VwAyEAVohoQmGRbPdNk12qV0SuZp2szCL7ELf1EXUxMM5SUl0=";
