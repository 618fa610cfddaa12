// Replaces `node:http` in bundles. An ES module that imports a module of Node's has every name of it read at once.
// One name here is WebSocket, and reading it loads all of Node's fetch: as long as everything else of a Lambda takes
// together. So only the names in use are exported.
const http = process.getBuiltinModule("node:http");

export const { Agent, request, STATUS_CODES } = http;

/** For the library that sends mail. */
export { http as default };
