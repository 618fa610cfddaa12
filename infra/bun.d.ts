// SST's types name one type of Bun. Installing all of Bun's types would replace Node's URL type.
export type Shell = unknown;
