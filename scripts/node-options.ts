/**
 * The options of Node with which the server runs, however it is started (docs/design/fairness.md). `npm start` has them in package.json.
 *
 * One thread that marks: with several, V8 takes the marking for done while half of it is still theirs, and the rest of it
 * stops the process for 20 ms.
 *
 * Young objects have 16 MB from the start. V8 begins with one, and returns to it with a collection: what is
 * allocated right after one may fill the old space with what is garbage a moment later. It makes a cached call a sixth cheaper.
 */
export const NODE_OPTIONS = ["--concurrent-marking-max-worker-num=1", "--min-semi-space-size=16"];
