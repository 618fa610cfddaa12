// SST's types name one of Bun's. All of Bun's would come with it, and with them another URL than the one of Node.
export type Shell = unknown;
