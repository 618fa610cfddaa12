/** The version rises with each change of the served script: a page that names the hash of a version loads exactly that version. */
export const VERSION = "1.0.0";
