import { orderAnswerers } from "@mailproof/api/http/answerers";
import type { Endpoint } from "@mailproof/api/http/endpoint";
import { createRouter } from "@mailproof/api/http/router";
import { expect, test } from "vitest";

const of = (route: Endpoint["route"]) => ({ route }) as Endpoint;
const route = createRouter([
  of("GET /v1/activity/{email}"),
  of("POST /v1/activity/batch"),
  of("GET /v1/activity/domain/{domain}"),
  of("GET /v1/jobs/{id}"),
  of("GET /v1/jobs/latest"),
]);

test.each([
  ["GET", "/v1/activity/a%2Bb%40c.de", "GET /v1/activity/{email}", { email: "a+b@c.de" }],
  ["GET", "/v1/activity/a+b@c.de", "GET /v1/activity/{email}", { email: "a+b@c.de" }],
  ["GET", "/v1/activity/a%2Fb@c.de", "GET /v1/activity/{email}", { email: "a/b@c.de" }],
  ["GET", "/v1/activity/a%2540b", "GET /v1/activity/{email}", { email: "a%40b" }],
  ["GET", "/v1/activity/batch", "GET /v1/activity/{email}", { email: "batch" }],
  ["POST", "/v1/activity/batch", "POST /v1/activity/batch", {}],
  ["GET", "/v1/activity/domain/x.de", "GET /v1/activity/domain/{domain}", { domain: "x.de" }],
  ["GET", "/v1/jobs/latest", "GET /v1/jobs/latest", {}],
  ["GET", "/v1/jobs/__proto__", "GET /v1/jobs/{id}", { id: "__proto__" }],
])("the router sends %s %s to %s", (method, path, expected, parameters) => {
  const routed = route(method, path);

  expect(routed.endpoint.route).toBe(expected);
  expect(routed.path).toEqual(parameters);
});

test.each([
  ["an unknown path", "GET", "/v1/nothing", "NOT_FOUND"],
  ["an empty parameter", "GET", "/v1/jobs/", "NOT_FOUND"],
  ["a slash after no route", "GET", "/v1/nothing/", "NOT_FOUND"],
  ["another host's name", "GET", "//evil.example/v1/jobs/1", "NOT_FOUND"],
  ["a wrong method", "PUT", "/v1/jobs/1", "METHOD_NOT_ALLOWED"],
  ["half a percent", "GET", "/v1/jobs/%4", "INVALID_REQUEST"],
])("the router answers %s with %s", (_, method, path, code) => {
  expect(() => route(method, path)).toThrow(expect.objectContaining({ code }));
});

test("a trailing slash redirects to the route's own path, also when the request names another host", () => {
  expect(route("GET", "/v1/jobs/a%2Fb//")).toMatchObject({
    path: { id: "a/b" },
    movedTo: "/v1/jobs/a%2Fb",
  });
  expect(route("GET", "/v1/jobs/1")).not.toHaveProperty("movedTo");
});

test("orderAnswerers asks the dashboard before the documents, since both answer a browser's root", () => {
  const answer = () => undefined;

  const ordered = orderAnswerers({ documents: answer, dashboard: answer, mcp: undefined });

  expect(ordered.map(({ route }) => route)).toEqual(["dashboard", "document"]);
});
