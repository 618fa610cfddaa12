/** Raised with each change of what is served: a page that names the hash of a version loads that, or nothing. */
export const VERSION = "1.0.0";
