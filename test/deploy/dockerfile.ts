import { cpSync, existsSync, globSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { basename, join, matchesGlob, relative, resolve } from "node:path";
import {
  createDebian,
  installNode,
  NODE_24,
  readRegistry,
  runInRoot,
  writeInRoot,
} from "./fresh-root.ts";

// Reads a Dockerfile and does what it says in a fresh root: where there is no container engine, its steps are run all the same.
// Instructions that ours does not use are refused.

type Instruction = { readonly name: string; readonly text: string };

const parse = (file: string): readonly Instruction[] =>
  readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => !/^\s*(?:#|$)/.test(line))
    .join("\n")
    .replaceAll(/\\\n\s*/g, " ")
    .split("\n")
    .map((line) => {
      const [, name = "", text = ""] = /^(\w+)\s+(.*)$/.exec(line.trim()) ?? [];
      return { name: name.toUpperCase(), text };
    });

export type Image = {
  readonly root: string;
  readonly env: Record<string, string>;
  workdir: string;
  user: string;
  entrypoint: readonly string[];
  command: readonly string[];
  healthcheck: { readonly command: readonly string[]; readonly timeoutMs: number };
  readonly volumes: string[];
};

/** What a base image has: Debian, and in Node's also Node and npm below /usr/local, and a user without rights. */
const BASES: Readonly<Record<string, () => string>> = {
  "debian:bookworm-slim": createDebian,
  "node:24-bookworm-slim": () => {
    const root = createDebian();
    installNode(root, NODE_24);
    runInRoot({ root, command: ["useradd", "--uid", "1000", "--create-home", "node"] });
    return root;
  },
};

const createBase = (name: string): Image => {
  const create = BASES[name];
  if (!create) throw new Error(`There is no stand-in for the image ${name}.`);
  return {
    root: create(),
    env: {},
    workdir: "/",
    user: "0",
    entrypoint: [],
    command: [],
    healthcheck: { command: [], timeoutMs: 0 },
    volumes: [],
  };
};

const readIgnored = (context: string): readonly string[] => {
  const file = join(context, ".dockerignore");
  const lines = existsSync(file) ? readFileSync(file, "utf8").split("\n") : [];
  return lines.map((line) => line.trim()).filter((line) => line !== "" && !line.startsWith("#"));
};

const toList = (text: string): readonly string[] => JSON.parse(text) as string[];

const findSources = (from: string, pattern: string): readonly string[] =>
  pattern.includes("*") ? globSync(pattern.replace(/^\//, ""), { cwd: from }) : [pattern];

const copyInto = (
  image: Image,
  from: string,
  sources: readonly string[],
  to: string,
  ignored: readonly string[],
) => {
  const target = resolve("/", image.workdir, to);
  for (const pattern of sources)
    for (const source of findSources(from, pattern)) {
      const path = join(from, source);
      const isInto = to.endsWith("/") || statSync(path).isDirectory();
      const name = statSync(path).isDirectory() ? "" : basename(path);
      mkdirSync(join(image.root, target), { recursive: true });
      cpSync(path, join(image.root, target, isInto ? name : ""), {
        recursive: true,
        verbatimSymlinks: true,
        filter: (one) => !ignored.some((pattern_) => matchesGlob(relative(from, one), pattern_)),
      });
    }
};

type Build = { readonly context: string; readonly stages: Map<string, Image> };
type Act = (image: Image, text: string, build: Build) => void;

const ACTS: Readonly<Record<string, Act>> = {
  WORKDIR: (image, text) => {
    image.workdir = resolve("/", image.workdir, text);
    mkdirSync(join(image.root, image.workdir), { recursive: true });
  },
  COPY: (image, text, { context, stages }) => {
    const words = text.split(/\s+/);
    const [, stage] = /^--from=(.+)$/.exec(words[0] ?? "") ?? [];
    const [to = "", ...sources] = words.slice(stage === undefined ? 0 : 1).toReversed();
    const from = stage === undefined ? context : stages.get(stage)?.root;
    if (from === undefined) throw new Error(`COPY from ${stage}: there is no such stage.`);
    copyInto(image, from, sources, to, stage === undefined ? readIgnored(context) : []);
  },
  RUN: ({ root, env, workdir, user }, text) =>
    void runInRoot({
      root,
      workdir,
      user,
      env: { ...env, ...readRegistry(root) },
      command: ["sh", "-c", text],
    }),
  USER: (image, text) => {
    image.user = text;
  },
  ENV: (image, text) => {
    for (const word of text.split(/\s+/)) {
      const [name = "", ...value] = word.split("=");
      image.env[name] = value.join("=");
    }
  },
  VOLUME: (image, text) => void image.volumes.push(text),
  EXPOSE: () => {},
  HEALTHCHECK: (image, text) => {
    const [, seconds = "30"] = /--timeout=(\d+)s/.exec(text) ?? [];
    const command = toList(/CMD (\[.*\])$/.exec(text)?.[1] ?? "");
    image.healthcheck = { command, timeoutMs: Number(seconds) * 1_000 };
  },
  ENTRYPOINT: (image, text) => {
    image.entrypoint = toList(text);
  },
  CMD: (image, text) => {
    image.command = toList(text);
  },
};

/** The image of the last stage, and the roots of all of them. */
export const buildImage = (file: string, context: string) => {
  const stages = new Map<string, Image>();
  let image: Image | undefined;
  for (const { name, text } of parse(file)) {
    if (name === "FROM") {
      const [from = "", , as = "last"] = text.split(/\s+/);
      image = createBase(from);
      stages.set(as, image);
      continue;
    }
    const act = ACTS[name];
    if (!act || !image) throw new Error(`${name} is not understood here.`);
    act(image, text, { context, stages });
  }
  if (!image) throw new Error(`${file} has no stage.`);
  writeInRoot(image.root, "etc/hostname", "mailproof\n");
  return { image, roots: [...stages.values()].map(({ root }) => root) };
};
