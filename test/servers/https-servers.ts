import type { RequestListener } from "node:http";
import { createServer } from "node:https";
import { type AddressInfo, createServer as createTcpServer, type Socket } from "node:net";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import type { Dns } from "@mailproof/mail/dns/dns";
import { parseCidr } from "@mailproof/mail/ip";
import { createHttpsClient } from "@mailproof/net/https";
import { onTestFinished } from "vitest";

/** What the certificate of these tests is for. */
export const NAME = "mail.test";
/** Stands for the open internet: the one address of this machine that the guard lets through. */
export const OPEN = "127.0.0.5";

/** Returns what ends it: test files share a process, and others need a certificate that is not trusted. */
export const trustSelfSigned = (): (() => void) => {
  const before = getCACertificates("default");
  setDefaultCACertificates([...before, SELF_SIGNED.cert]);
  return () => setDefaultCACertificates(before);
};

type Serve = (...args: Parameters<RequestListener>) => unknown;

/** A server over TLS at every address of loopback, and at which of them clients connected. */
export const listenSecure = async (serve: Serve, host = "::") => {
  const connections: string[] = [];
  const server = createServer(SELF_SIGNED, (request, answer) => void serve(request, answer));
  const sockets = watch(server, connections);
  return { ...(await started(server, sockets, host)), connections };
};

/** The same without TLS: it takes what comes, and says nothing. */
export const listenPlain = async (serve: (socket: Socket) => void = () => undefined) => {
  const connections: string[] = [];
  const server = createTcpServer(serve);
  const sockets = watch(server, connections);
  return { ...(await started(server, sockets)), connections };
};

const watch = (server: ReturnType<typeof createTcpServer>, connections: string[]) => {
  const sockets = new Set<Socket>();
  server.prependListener("connection", (socket: Socket) => {
    connections.push((socket.localAddress ?? "").replace("::ffff:", ""));
    sockets.add(socket.on("error", () => socket.destroy()));
  });
  return sockets;
};

const started = async (
  server: ReturnType<typeof createTcpServer>,
  sockets: Set<Socket>,
  host = "::",
) => {
  await new Promise<void>((resolve) => void server.listen(0, host, resolve));
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => void server.close(resolve));
  });
  return { port: (server.address() as AddressInfo).port };
};

/** The client as it is, but for its port: no test may listen at 443. */
export const createClient = (dns: Dns, port: number, open: readonly string[] = [OPEN]) =>
  createHttpsClient({
    dns,
    port,
    allowed: open.flatMap((block) => parseCidr(block) ?? []),
  });

export const posted = (url: string) => ({ method: "POST", url, headers: {}, body: "{}" }) as const;

/** Made for these tests, of a name that cannot exist. It opens nothing. */
export const SELF_SIGNED = {
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg00W+nvSdMNJsg3C8
0tZih2i9rQ+OS1yzgaYQjxRuglihRANCAASHhLinmXmtxXGs+44gpvGz9ryo4HLK
L8ATFXYwGmO5v+YY584vcjYlbdT6OdXzO7KbToNDqqUoI+J5H+2t0tpc
-----END PRIVATE KEY-----`,
  cert: `-----BEGIN CERTIFICATE-----
MIIBfzCCASWgAwIBAgIUXRv314FNVOCEjARIr5Vy4qLOAD8wCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbWFpbC50ZXN0MCAXDTI2MTEyMTA1MzIxNFoYDzIxMjYxMDI4
MDUzMjE0WjAUMRIwEAYDVQQDDAltYWlsLnRlc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAASHhLinmXmtxXGs+44gpvGz9ryo4HLKL8ATFXYwGmO5v+YY584vcjYl
bdT6OdXzO7KbToNDqqUoI+J5H+2t0tpco1MwUTAdBgNVHQ4EFgQUEMNhIxgS/N78
NdFKphQEmID9kWgwHwYDVR0jBBgwFoAUEMNhIxgS/N78NdFKphQEmID9kWgwDwYD
VR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNIADBFAiAY6EH7ihdvzJSroPQs2VJW
le/SQaJ3TdgMQx2Pmnv6awIhAP/e/g2ID2/DVPviECboi6Jr8OSwzQZVRxK3YmB/
ofT1
-----END CERTIFICATE-----`,
};
