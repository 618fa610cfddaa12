/** Whoever talks to mail servers for us is at work for others. Nobody was asked anything. */
export class NoCapacityError extends Error {}
