/** Stories that run in memory alone, by the beginning of their names, and why. */
export const LEFT_OUT: readonly (readonly [name: string, why: string])[] = [
  [
    "dead letters that wait are 200 and degraded",
    "it gives up on a message after one try, and the queues of AWS are as their workers say",
  ],
  [
    'a job called "half',
    "DynamoDB keeps text as UTF-8, which has no halves of letters: it becomes the sign for what is none",
  ],
  [
    "a CSV that turns out to be short later on breaks off",
    "a Lambda hands over whole answers, so what is short is reported before its first byte",
  ],
  [
    "a file over fifty million bytes is 413",
    "a Lambda is called with 6 MB at most: a form has another limit there, which test/functions/whole-answer tells",
  ],
];

const escapeRegex = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** What every other name matches. */
export const INCLUDED = new RegExp(
  `^(?!.*(?:${LEFT_OUT.map(([name]) => escapeRegex(name)).join("|")}))`,
);
