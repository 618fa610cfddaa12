import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { getPeople } from "@mailproof/lab/companies";
import { type Lab, startLab } from "@mailproof/lab/lab";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { converse, createResolver, dial, findMailHosts } from "../servers/smtp-client.ts";

let lab: Lab;
let now = new Date("2026-01-01T00:00:00Z");
beforeAll(async () => {
  lab = await startLab({ companies: 60, slowMs: 50, now: () => now });
});
afterAll(() => lab.close());

const getDomain = (name: string) => `${name}.lab.mailproof.test`;
const getHost = async (name: string) => (await findMailHosts(lab, getDomain(name))).at(0) ?? "";
const askAt = async (name: string, ...locals: readonly string[]) =>
  converse(
    lab,
    await getHost(name),
    locals.map((local) => `${local}@${getDomain(name)}`),
  );

describe("a host answers about a recipient as its row says", () => {
  test.each<[name: string, local: string, reply: RegExp]>([
    ["valid", "ada.lovelace", /^250 2\.1\.5 /],
    ["valid", "Ada.Lovelace+news", /^250 /],
    ["valid", "nobody", /^550 5\.1\.1 /],
    ["valid", "x7qk2v9w0m3t8r5y1p4z", /^550 5\.1\.1 /],
    ["valid", "unknown.person", /^550 5\.1\.1 /],
    ["unknown", "ada.lovelace", /^550 5\.1\.1 /],
    ["catchall", "x7qk2v9w0m3t8r5y1p4z", /^250 /],
    ["full", "ada.lovelace", /^452 4\.2\.2 /],
    ["overquota", "ada.lovelace", /^552 5\.2\.2 /],
    ["disabled", "ada.lovelace", /^550 5\.2\.1 /],
    ["busy", "ada.lovelace", /^450 4\.2\.1 /],
    ["blocked", "ada.lovelace", /^554 5\.7\.1 .*blocked/],
    ["blocked511", "ada.lovelace", /^550 5\.1\.1 .*blocklist/],
    ["relaydenied", "ada.lovelace", /^554 5\.7\.1 Relay/],
    ["tempfail", "ada.lovelace", /^451 4\.4\.4 /],
    ["multiline", "nobody", /^550-5\.1\.1 .*\r\n550-5\.1\.1 .*\r\n550 5\.1\.1 .*gsmtp$/],
    ["noenhanced", "nobody", /^550 Unrouteable address$/],
    ["opensmtpd", "nobody", /^524 5\.2\.4 /],
    ["helo", "ada.lovelace", /^250 /],
    ["microsoft", "nobody", /^550 5\.4\.1 .*Access denied/],
    ["yahoo", "nobody", /^250 /],
    ["mimecast", "nobody", /^550 Invalid Recipient/],
    ["smtputf8", "zoë.müller", /^250 /],
    ["noutf8", "zoë.müller", /^553 5\.6\.7 /],
    ["quoted", '"john doe"', /^250 /],
    ["quoted", '"jane doe"', /^550 /],
    ["xn--bcher-kva", "ada.lovelace", /^250 /],
    ["tls", "ada.lovelace", /^250 /],
    ["tlsonly", "nobody", /^550 5\.1\.1 /],
    ["tlsrefused", "ada.lovelace", /^250 /],
    ["aonly", "ada.lovelace", /^250 /],
    ["mxcname", "nobody", /^550 /],
    ["cname", "ada.lovelace", /^250 /],
    ["mxmany", "ada.lovelace", /^250 /],
    ["dropmid", "ada.lovelace", /^$/],
    ["closing", "ada.lovelace", /^421 4\.7\.0 /],
    ["garbledrcpt", "ada.lovelace", /^HTTP/],
    ["mixedcodes", "ada.lovelace", /^250-.*\r\n550 /],
    ["longline", "nobody", /^550 5\.1\.1 .{2900}/],
    ["barelf", "ada.lovelace", /^250 /],
    ["drip", "ada.lovelace", /^250 /],
    ["slow", "ada.lovelace", /^250 /],
    ["slowbanner", "ada.lovelace", /^250 /],
    ["tarpit", "ada.lovelace", /^250 /],
  ])("%s, asked about %s", async (name, local, expected) => {
    const replies = await askAt(name, local);

    expect(replies.at(-1)).toMatch(expected);
    expect(replies).toHaveLength(3);
  });

  test.each<[name: string, expected: readonly RegExp[]]>([
    ["blockedbanner", [/^554 5\.7\.1 mx\.blockedbanner\..* listed/]],
    ["banner5xx", [/^554 /]],
    ["banner521", [/^521 /]],
    ["throttled", [/^421 4\.7\.0 /]],
    ["hangup", [/^$/]],
    ["garbage", [/^SSH-2\.0/]],
    ["senderrefused", [/^220 /, /^550 5\.1\.8 /, /^503 /]],
    ["submission", [/^220 /, /^530 5\.7\.0 /, /^503 /]],
  ])("%s refuses before a recipient is named", async (name, expected) => {
    const replies = await askAt(name, "ada.lovelace");

    expect(replies.map((reply, index) => expected[index]?.test(reply))).toEqual(
      expected.map(() => true),
    );
    expect(replies).toHaveLength(expected.length);
  });
});

describe("a host remembers", () => {
  test.each([
    ["greylist", "450 4.2.0", 5],
    ["greylist451", "451", 4],
  ])("%s defers with %s until %i minutes have gone by", async (name, reply, minutes) => {
    const first = await askAt(name, "ada.lovelace");
    now = new Date(now.getTime() + minutes * 60_000 - 1);
    const tooSoon = await askAt(name, "ada.lovelace");
    now = new Date(now.getTime() + 1);
    const later = await askAt(name, "ada.lovelace", "grace.hopper");

    expect([first[2], tooSoon[2]].map((one) => one?.startsWith(reply))).toEqual([true, true]);
    expect(later[2]).toMatch(/^250 /);
    expect(later[3]?.startsWith(reply)).toBe(true);
  });

  test("toomany takes two recipients per connection and no more after RSET", async () => {
    const replies = await askAt("toomany", "ada.lovelace", "alan.turing", "grace.hopper");

    expect(replies.slice(2)).toEqual([
      expect.stringMatching(/^250/),
      expect.stringMatching(/^250/),
      expect.stringMatching(/^452 4\.5\.3 /),
    ]);
  });

  test("ratelimited ends the session at the third recipient", async () => {
    const replies = await askAt(
      "ratelimited",
      "ada.lovelace",
      "nobody",
      "grace.hopper",
      "alan.turing",
    );

    expect(replies.slice(4)).toEqual([expect.stringMatching(/^421 4\.7\.0 /), ""]);
  });

  test("ratelimited greets the fifth session at a time with 421", async () => {
    const host = await getHost("ratelimited");
    const open = await Promise.all([1, 2, 3, 4].map(() => dial(host, lab.smtpPort)));
    const greetings = await Promise.all(open.map((client) => client.reply()));
    const fifth = await dial(host, lab.smtpPort);

    expect(greetings.every((greeting) => greeting.startsWith("220"))).toBe(true);
    expect(await fifth.reply()).toMatch(/^421 4\.7\.0 /);
    for (const client of [...open, fifth]) client.close();
  });
});

describe("a hostile host", () => {
  test.each(["silent", "silentrcpt"])("%s says nothing when it is its turn", async (name) => {
    const client = await dial(await getHost(name), lab.smtpPort);
    if (name === "silentrcpt") {
      await client.reply();
      await client.say("EHLO client.example");
      await client.say("MAIL FROM:<probe@client.example>");
      client.send(`RCPT TO:<ada.lovelace@${getDomain(name)}>\r\n`);
    }

    expect(await client.reply(200)).toBe("…");
    client.close();
  });

  test("endless never comes to the end of its greeting", async () => {
    const socket = connect({ host: await getHost("endless"), port: lab.smtpPort });
    let received = "";
    for await (const chunk of socket) {
      received += String(chunk);
      if (received.length > 70_000) break;
    }

    expect(received).not.toMatch(/^220 /m);
  });

  test("patience refuses a client that speaks first", async () => {
    const client = await dial(await getHost("patience"), lab.smtpPort);

    expect(await client.say("EHLO client.example")).toMatch(/^554 /);
    client.close();
    expect((await askAt("patience", "ada.lovelace")).at(-1)).toMatch(/^250 /);
  });

  test("halfclose greets and says no more", async () => {
    const client = await dial(await getHost("halfclose"), lab.smtpPort);

    expect(await client.reply()).toMatch(/^220 /);
    expect(await client.say("EHLO client.example")).toBe("");
  });

  test("tlsbroken breaks the handshake, and wants it all the same", async () => {
    const host = await getHost("tlsbroken");
    await expect(askAt("tlsbroken", "ada.lovelace")).rejects.toThrow(/closed|SSL|TLS/i);

    const client = await dial(host, lab.smtpPort);
    await client.reply();
    await client.say("EHLO client.example");
    expect(await client.say("MAIL FROM:<a@client.example>")).toMatch(/^530 5\.7\.0 /);
    client.close();
  });

  test.each([
    ["nolisting", "refused"],
    ["secondbad", "421"],
  ])("%s has a bad first host (%s) and a good second", async (name, trouble) => {
    const [first = "", second = ""] = await findMailHosts(lab, getDomain(name));
    const greeting = await converse(lab, first, []).then(
      ([replies]) => replies,
      () => "refused",
    );

    expect(greeting?.startsWith(trouble)).toBe(true);
    expect((await converse(lab, second, [`ada.lovelace@${getDomain(name)}`])).at(-1)).toMatch(
      /^250 /,
    );
  });

  test("refused has its port closed", async () => {
    await expect(askAt("refused", "ada.lovelace")).rejects.toThrow(/ECONNREFUSED/);
  });
});

describe("the dialogue keeps to RFC 5321", () => {
  test("commands out of order are refused, and nothing accepts a message", async () => {
    const client = await dial(await getHost("valid"), lab.smtpPort);
    await client.reply();

    expect(await client.say("MAIL FROM:<a@b.example>")).toMatch(/^503 /);
    expect(await client.say("EHLO me")).toMatch(/^250-[\s\S]*\r\n250 /);
    expect(await client.say("RCPT TO:<a@b.example>")).toMatch(/^503 /);
    expect(await client.say("MAIL FROM:a@b.example")).toMatch(/^501 /);
    expect(await client.say("mail from:<>")).toMatch(/^250 /);
    expect(await client.say("MAIL FROM:<a@b.example>")).toMatch(/^503 /);
    expect(await client.say("RCPT TO:<no at>")).toMatch(/^501 /);
    expect(await client.say("DATA")).toMatch(/^554 /);
    expect(await client.say("RSET")).toMatch(/^250 /);
    expect(await client.say("RCPT TO:<a@b.example>")).toMatch(/^503 /);
    expect(await client.say("VRFY ada")).toMatch(/^252 /);
    expect(await client.say("NONSENSE")).toMatch(/^500 /);
    expect(await client.say("QUIT")).toMatch(/^221 /);
    expect(await client.reply()).toBe("");
  });

  test("a pipelined batch is answered in order, also when packets cut it anywhere", async () => {
    const batch = `EHLO me\r\nMAIL FROM:<a@b.example> SMTPUTF8\r\nRCPT TO:<zoë.müller@${getDomain("smtputf8")}>\r\nRCPT TO:<nobody@${getDomain("smtputf8")}>\r\n`;
    const client = await dial(await getHost("smtputf8"), lab.smtpPort);
    for (const byte of Buffer.from(batch)) {
      client.send(Buffer.of(byte));
      await new Promise(setImmediate);
    }
    const codes: string[] = [];
    for (let count = 0; count < 5; count += 1) codes.push((await client.reply()).slice(0, 3));

    expect(codes).toEqual(["220", "250", "250", "250", "550"]);
    client.close();
  });

  test("commands that arrive together are answered after one round trip", async () => {
    const own = await startLab({ companies: 0, replyMs: 40 });
    const [host = ""] = await findMailHosts(own, getDomain("valid"));
    const rcpt = `RCPT TO:<ada.lovelace@${getDomain("valid")}>`;
    const [pipelining, oneByOne] = await Promise.all([1, 2].map(() => dial(host, own.smtpPort)));
    const finished: string[] = [];
    const open = async (client: NonNullable<typeof pipelining>) => {
      await client.reply();
      await client.say("EHLO me");
      await client.say("MAIL FROM:<a@b.example>");
    };
    const pipeline = async (client: NonNullable<typeof pipelining>) => {
      await open(client);
      client.send(`${rcpt}\r\n`.repeat(40));
      for (let count = 0; count < 40; count += 1) expect(await client.reply()).toMatch(/^250/);
      finished.push("forty together");
    };
    const takeTurns = async (client: NonNullable<typeof pipelining>) => {
      await open(client);
      for (let count = 0; count < 10; count += 1) expect(await client.say(rcpt)).toMatch(/^250/);
      finished.push("ten one by one");
    };
    if (pipelining && oneByOne) await Promise.all([pipeline(pipelining), takeTurns(oneByOne)]);
    pipelining?.close();
    oneByOne?.close();
    await own.close();

    expect(finished).toEqual(["forty together", "ten one by one"]);
  });

  test("a line without end is cut off", async () => {
    const client = await dial(await getHost("valid"), lab.smtpPort);
    await client.reply();
    client.send("x".repeat(10_000));

    expect(await client.reply()).toMatch(/^500 /);
    client.close();
  });
});

describe("companies", () => {
  test("one has people, and they alone exist there, unless it takes everybody", async () => {
    const domains = Array.from({ length: 60 }, (_, index) =>
      getDomain(`c${String(index + 1).padStart(4, "0")}.companies`),
    );
    const answers = await Promise.all(
      domains.map(async (domain) => {
        const [host = ""] = await findMailHosts(lab, domain);
        const person = `${getPeople(domain)[0]?.local}@${domain}`;
        const [, , existing, missing] = await converse(lab, host, [person, `zz9.zz9@${domain}`]);
        return `${existing?.slice(0, 3)} ${missing?.slice(0, 3)}`;
      }),
    );

    expect(new Set(answers)).toEqual(new Set(["250 550", "250 250"]));
    expect(answers.filter((one) => one === "250 550").length).toBeGreaterThan(40);
  });

  test("their host relays for no other domain", async () => {
    const [host = ""] = await findMailHosts(lab, getDomain("c0001.companies"));

    expect((await converse(lab, host, ["ada@elsewhere.example"])).at(-1)).toMatch(/^554 5\.7\.1 /);
  });

  test("the same people work there in every run", () => {
    expect(
      getPeople("c0007.companies.lab.mailproof.test")
        .map(({ local }) => local)
        .slice(0, 3),
    ).toEqual(
      getPeople("c0007")
        .map(({ local }) => local)
        .slice(0, 3),
    );
    expect(getPeople("example.com")).toEqual([]);
  });
});

describe("a lab", () => {
  test("serves 1,000 sessions at a time and loses none", async () => {
    // Slow enough that all of them stand open at once, on a busy machine as well.
    const own = await startLab({ companies: 0, replyMs: 150 });
    const [host = ""] = await findMailHosts(own, getDomain("valid"));
    const to = [`ada.lovelace@${getDomain("valid")}`, `nobody@${getDomain("valid")}`];
    const all = await Promise.all(Array.from({ length: 1_000 }, () => converse(own, host, to)));
    const stats = own.stats();
    await own.close();

    expect(all.filter(([, , ada]) => ada?.startsWith("250"))).toHaveLength(1_000);
    expect(all.filter(([, , , missingReply]) => missingReply?.startsWith("550"))).toHaveLength(
      1_000,
    );
    expect(stats).toMatchObject({ sessions: 1_000, recipients: 2_000 });
    expect(stats.peakSessionsPerHost[`mx.${getDomain("valid")}`]).toBeGreaterThan(200);
    expect(stats.commands).not.toHaveProperty("DATA");
  });

  test("goes by another name when asked to, and two live beside each other", async () => {
    const own = await startLab({ companies: 3, zone: "Lab.Example" });
    const [host = ""] = await findMailHosts(own, "valid.lab.example");

    expect((await converse(own, host, ["ada.lovelace@valid.lab.example"])).at(-1)).toMatch(/^250 /);
    expect(own.smtpPort).not.toBe(lab.smtpPort);
    await own.close();
  });

  // A timer or socket that was forgotten keeps the program alive, and this waits for its end.
  test("lets its program end once it is closed", async () => {
    const program = `
      import { once } from "node:events";
      import { connect } from "node:net";
      import { startLab } from "@mailproof/lab/lab";
      const lab = await startLab({ companies: 3, slowMs: 1e6 });
      for (let host = 1; host < 90; host += 1) {
        const socket = connect({ host: "127.77.0." + host, port: lab.smtpPort });
        socket.on("error", () => {}).write("EHLO me\\r\\n");
        await once(socket, "connect").catch(() => {});
      }
      await lab.close();
      console.log("closed");`;
    const child = spawn(process.execPath, ["--input-type=module", "--eval", program], {
      timeout: 20_000,
    });
    const [replies, [code]] = await Promise.all([text(child.stdout), once(child, "close")]);

    expect([replies, code]).toEqual(["closed\n", 0]);
  }, 30_000);

  test("leaves nothing open when it is closed, whatever is under way", async () => {
    const own = await startLab({ companies: 3 });
    const hosts = await Promise.all(
      ["silent", "valid", "slowbanner", "endless", "tls"].map(async (name) =>
        (await findMailHosts(own, getDomain(name))).at(0),
      ),
    );
    const sockets = hosts.map((host) => connect({ host: host ?? "", port: own.smtpPort }));
    await Promise.all(sockets.map((socket) => once(socket, "connect")));
    const closed = sockets.map((socket) => {
      socket.on("error", () => socket.destroy()).resume();
      return once(socket, "close");
    });
    await own.close();
    await Promise.all(closed);

    expect(own.stats().open).toBe(0);
    await expect(dial(hosts[1] ?? "", own.smtpPort)).rejects.toThrow(/ECONNREFUSED/);
    await expect(createResolver(own).resolveMx(getDomain("valid"))).rejects.toThrow(
      /ECONNREFUSED|ETIMEOUT/,
    );
  });
});
