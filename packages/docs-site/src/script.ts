import { HERE, HERE_PATH } from "@mailproof/api/http/documents";

export const SCRIPT = String.raw`"use strict";
(() => {
  const PATH = "${HERE_PATH}/".slice(0, -1);
  const root = document.documentElement;
  root.classList.add("js");
  const all = (selector, from = document) => [...from.querySelectorAll(selector)];
  const make = (tag, more = {}) => Object.assign(document.createElement(tag), more);

  // Colours for code: strings, numbers, keywords and comments.
  const TOKEN = /("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(\b\d+(?:\.\d+)?\b)|\b(const|await|import|from|export|return|if|throw|new|async|function|with|as|def|for|in|raise|not|print|true|false|null|True|False|None|curl)\b|((?:^|\s)(?:\/\/|# ).*$)/gm;
  const coloured = (element) => {
    const text = element.textContent;
    const parts = [];
    let at = 0;
    for (const found of text.matchAll(TOKEN)) {
      const [whole, string, number, word] = found;
      parts.push(text.slice(at, found.index));
      parts.push(make("span", { className: string ? "s" : number ? "n" : word ? "w" : "c", textContent: whole }));
      at = found.index + whole.length;
    }
    element.replaceChildren(...parts, text.slice(at));
  };

  // The key that is signed in to the dashboard in this tab, if it is a test key: a live key is neither shown nor sent here.
  const isTest = (key) => /^mp_test_[0-9A-Za-z]+$/.test(key);
  let key = "";
  try { key = sessionStorage.getItem("mailproof.key") ?? ""; } catch { /* blocked */ }
  if (!isTest(key)) key = "";

  // What a sample of curl sends; undefined if it is not one request. Before the key is filled in.
  const toRequest = (text) => {
    const [, method, url] = /^curl -s (?:-X (\w+) )?'([^']+)'/.exec(text) ?? [];
    const body = /-d '([^]*)'$/.exec(text)?.[1];
    return url && { method: method ?? (body ? "POST" : "GET"), path: url.slice("${HERE}".length), body, isPublic: !text.includes("$MAILPROOF_KEY") };
  };
  const requests = new Map(all(".languages").map((group) => [group, toRequest(group.querySelector("pre").textContent)]));

  for (const pre of all("pre")) {
    pre.tabIndex = 0;
    if (key && pre.textContent.startsWith("curl")) pre.firstElementChild.textContent = pre.textContent.replaceAll("$MAILPROOF_KEY", key);
    const text = pre.textContent;
    coloured(pre.firstElementChild);
    const holder = make("div", { className: "holder" });
    pre.replaceWith(holder);
    const copy = make("button", { className: "copy", type: "button", textContent: "Copy" });
    copy.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(text);
      } catch {
        const area = make("textarea", { value: text });
        document.body.append(area);
        area.select();
        document.execCommand("copy");
        area.remove();
      }
      copy.textContent = "Copied";
      setTimeout(() => { copy.textContent = "Copy"; }, 1500);
    });
    holder.append(pre, copy);
  }

  // One language for the whole page, and for the next visit.
  const remembered = () => { try { return localStorage.getItem("language"); } catch { return null; } };
  const groups = all(".languages");
  const show = (language) => {
    for (const group of groups) {
      const figures = all(".language", group);
      const wanted = figures.find((one) => one.dataset.language === language) ?? figures[0];
      for (const one of figures) one.classList.toggle("on", one === wanted);
      for (const tab of all(".tabs button", group)) tab.setAttribute("aria-pressed", String(tab.textContent === wanted.dataset.language));
    }
  };
  const addRun = (group, request) => {
    const row = make("div", { className: "try" });
    const run = make("button", { type: "button", textContent: "Run" });
    const panel = make("div", { className: "ran", textContent: request.isPublic ? "without a key" : key ? "with the test key of this tab" : "with a test key" });
    panel.setAttribute("role", "status");
    const send = async () => {
      panel.textContent = "Sending …";
      const began = performance.now();
      try {
        const headers = { ...(!request.isPublic && { "X-Api-Key": key }), ...(request.body && { "Content-Type": "application/json" }) };
        const answer = await fetch(PATH + request.path, { method: request.method, body: request.body, headers });
        // It was mistyped or revoked: the next run asks for another one.
        if (answer.status === 401) key = "";
        let text = await answer.text();
        try { text = JSON.stringify(JSON.parse(text), null, 1); } catch { /* as it is */ }
        const status = make("b", { className: answer.ok ? "post" : "delete", textContent: answer.status });
        const code = make("code", { textContent: text.slice(0, 20000) });
        coloured(code);
        const pre = make("pre", { tabIndex: 0 });
        pre.append(code);
        panel.replaceChildren(status, "in " + Math.round(performance.now() - began) + " ms", make("small", { textContent: answer.headers.get("x-request-id") ?? "" }), pre);
      } catch {
        panel.textContent = "The response could not be read. Run it again, or use curl.";
      }
    };
    const ask = () => {
      const form = make("form");
      const label = make("label", { textContent: "Test key " });
      const field = make("input", { autocomplete: "off", spellcheck: false, placeholder: "mp_test_…" });
      const fault = make("p", { className: "bad" });
      fault.setAttribute("role", "alert");
      label.append(field);
      form.append(label, make("button", { textContent: "Send" }), fault);
      form.addEventListener("submit", (event) => {
        event.preventDefault();
        if (isTest(field.value.trim())) { key = field.value.trim(); run.focus(); send(); return; }
        field.setAttribute("aria-invalid", "true");
        fault.textContent = "Only a test key is sent from here. It begins with mp_test_.";
      });
      panel.replaceChildren(form);
      field.focus();
    };
    run.addEventListener("click", () => { if (key || request.isPublic) send(); else ask(); });
    row.append(run, panel);
    group.append(row);
  };
  for (const group of groups) {
    const tabs = make("div", { className: "tabs" });
    tabs.setAttribute("role", "group");
    tabs.setAttribute("aria-label", "Language");
    for (const { dataset } of all(".language", group)) {
      const tab = make("button", { type: "button", textContent: dataset.language });
      tab.addEventListener("click", () => {
        const before = tab.getBoundingClientRect().top;
        show(dataset.language);
        scrollBy(0, tab.getBoundingClientRect().top - before);
        try { localStorage.setItem("language", dataset.language); } catch { /* not stored */ }
      });
      tabs.append(tab);
    }
    group.prepend(tabs);
    // Nothing is deleted by one press.
    if (requests.get(group) && requests.get(group).method !== "DELETE") addRun(group, requests.get(group));
  }
  show(remembered() ?? "curl");

  // The menu of a small screen.
  const menu = document.querySelector(".menu");
  const closeMenu = () => { root.classList.remove("menu-open"); menu.setAttribute("aria-expanded", "false"); };
  menu.addEventListener("click", () => menu.setAttribute("aria-expanded", String(root.classList.toggle("menu-open"))));
  for (const link of all(".contents a")) link.addEventListener("click", closeMenu);

  // Search: every part of the manual. What it has is loaded when somebody wants to search.
  const input = document.querySelector(".search input");
  const found = document.querySelector(".found");
  const side = document.querySelector(".side");
  const isWhole = location.pathname.replace(/\/$/, "") === PATH + "/docs";
  let index;
  const load = () => index ??= fetch(PATH + "/docs/search.json").then((answer) => answer.json()).then((parts) => parts.map((part) => ({
    ...part,
    href: isWhole ? "#" + part.id : PATH + "/docs/" + part.page,
    head: [part.title, part.route, part.id].join(" ").toLowerCase(),
  })));
  const scored = (page, words) => {
    const text = page.text.toLowerCase();
    let score = 0;
    for (const word of words) {
      if (page.head.split(/[^\w]+/).includes(word)) score += 12;
      else if (page.head.includes(word)) score += 8;
      else if (text.includes(word)) score += Math.min(6, text.split(word).length - 1);
      else return 0;
    }
    return score + (page.kind === "Guide" ? 2 : page.kind === "Schema" ? -0.5 : 1);
  };
  const excerpt = (page, words) => {
    const from = page.text.toLowerCase().indexOf(words[0]) - 20;
    const at = from < 1 ? 0 : page.text.indexOf(" ", from) + 1;
    const line = make("small");
    const piece = page.text.slice(at, at + 90);
    const hit = piece.toLowerCase().indexOf(words[0]);
    if (hit < 0) line.textContent = page.kind;
    else line.append(page.kind + ": " + piece.slice(0, hit), make("mark", { textContent: piece.slice(hit, hit + words[0].length) }), piece.slice(hit + words[0].length));
    return line;
  };
  const search = async () => {
    const asked = input.value;
    const words = asked.toLowerCase().split(/\s+/).filter(Boolean);
    side.classList.toggle("searching", words.length > 0);
    const say = (text) => found.replaceChildren(make("li", { className: "none", textContent: text }));
    const parts = words.length === 0 ? [] : await load().catch(() => { index = undefined; });
    if (asked !== input.value) return;
    if (!parts) { say("The search could not be loaded."); return; }
    const best = parts.map((page) => ({ page, score: scored(page, words) })).filter(({ score }) => score > 0).sort((a, b) => b.score - a.score).slice(0, 14);
    found.replaceChildren(...best.map(({ page }, at) => {
      const link = make("a", { href: page.href, className: at === 0 ? "on" : "" });
      link.append(page.title, excerpt(page, words));
      link.addEventListener("click", closeMenu);
      const item = make("li");
      item.append(link);
      return item;
    }));
    if (words.length > 0 && best.length === 0) say("No results.");
  };
  let searched;
  input.addEventListener("focus", () => { load().catch(() => { index = undefined; }); });
  input.addEventListener("input", () => { searched = search(); });
  input.addEventListener("keydown", async (event) => {
    const { key } = event;
    if (key === "Escape") { input.value = ""; search(); input.blur(); closeMenu(); return; }
    const step = { ArrowDown: 1, ArrowUp: -1, Enter: 0 }[key];
    if (step === undefined) return;
    event.preventDefault();
    // A user who types before the index has loaded also wants the best result.
    await searched;
    const links = all("a", found);
    const at = links.findIndex((one) => one.classList.contains("on"));
    if (key === "Enter") links[at]?.click();
    else if (links[at + step]) {
      links[at].classList.remove("on");
      links[at + step].classList.add("on");
      links[at + step].scrollIntoView({ block: "nearest" });
    }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || /^(?:INPUT|TEXTAREA)$/.test(document.activeElement?.tagName ?? "")) return;
    event.preventDefault();
    root.classList.add("menu-open");
    input.focus();
  });

  // Where the reader is.
  const links = new Map(all(".contents a").map((link) => [link.hash.slice(1), link]));
  const seen = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) {
      const link = links.get(target.id);
      if (!isIntersecting || !link) continue;
      for (const one of links.values()) one.classList.toggle("here", one === link);
      if (matchMedia("(min-width: 900px)").matches) link.scrollIntoView({ block: "nearest" });
    }
  }, { rootMargin: "-15% 0px -75% 0px" });
  for (const section of all(".part[id]")) if (links.has(section.id)) seen.observe(section);
})();
`;
