// What CloudFront runs before it looks for a file of the dashboard. A CloudFront function is one plain script.

/** `files`: the paths of all files that are built, such as "assets/index-1a2b.js". */
export const createRoutingCode = (files: readonly string[]): string => `
var FILES = ${JSON.stringify(Object.fromEntries(files.map((file) => [`/app/${file}`, true])))};

function redirect(status, location) {
  return {
    statusCode: status,
    statusDescription: status === 302 ? "Found" : "Permanent Redirect",
    headers: { location: { value: location }, "cache-control": { value: "no-cache" } },
  };
}

function handler(event) {
  var request = event.request;
  if (request.uri === "/app") return redirect(308, "/app/");
  if (request.uri === "/") {
    // Programs get what the API says there.
    var accept = request.headers.accept;
    return accept && /\\btext\\/html\\b/i.test(accept.value) ? redirect(302, "/app/") : request;
  }
  // A file of an earlier build may still be there; every other path is a screen, which the page itself opens.
  if (FILES[request.uri] !== true && !request.uri.startsWith("/app/assets/")) request.uri = "/app/index.html";
  return request;
}
`;
