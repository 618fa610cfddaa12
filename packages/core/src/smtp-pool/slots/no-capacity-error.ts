/** All sessions are in use, and no mail server was asked. */
export class NoCapacityError extends Error {}
