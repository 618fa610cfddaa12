import * as v from "valibot";
import { endpoint, ok } from "../http/endpoint.ts";
import * as field from "../schema/fields.ts";

export const getSignIn = endpoint({
  id: "getSignIn",
  route: "GET /v1/sign-in",
  tag: "People",
  addition: "The contract knows keys only; people sign in to the dashboard here.",
  summary: "Get the ways to sign in to the dashboard.",
  access: "public",
  needs: [],
  // Not a tool: a person signs in.
  tool: null,

  output: v.object({
    oidc: field.maybeObject("The identity provider. Left out when none is set.", {
      issuer: field.text("The provider's issuer URL."),
    }),
    passkeys: field.boolean("True when passkeys work at the host of this request."),
  }),

  async handle({ settings }, _caller, { baseUrl }) {
    const { hostname } = new URL(baseUrl);
    return ok({
      ...(settings.oidc && { oidc: { issuer: settings.oidc.issuer } }),
      // Browsers refuse passkeys at an IP address; at this machine the page has the name localhost.
      passkeys: hostname === "127.0.0.1" || !/^[[\d.:\]]+$/.test(hostname),
    });
  },
});
