/**
 * The options of Node with which the server runs, however it is started (docs/design/fairness.md). `npm start` has them in package.json.
 *
 * One thread that marks: with several, V8 takes the marking for done while half of it is still theirs, and the rest of it
 * stops the process for 20 ms.
 */
export const NODE_OPTIONS = ["--concurrent-marking-max-worker-num=1"];
