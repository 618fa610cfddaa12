export const SCRIPT = String.raw`"use strict";
(() => {
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

  for (const pre of all("pre")) {
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
  }
  show(remembered() ?? "curl");

  // The menu of a small screen.
  const menu = document.querySelector(".menu");
  const closeMenu = () => { root.classList.remove("menu-open"); menu.setAttribute("aria-expanded", "false"); };
  menu.addEventListener("click", () => menu.setAttribute("aria-expanded", String(root.classList.toggle("menu-open"))));
  for (const link of all(".contents a")) link.addEventListener("click", closeMenu);

  // The page of a single topic is not searched.
  const input = document.querySelector(".search input");
  if (!input) return;

  // Search: every section with its whole text.
  const found = document.querySelector(".found");
  const side = document.querySelector(".side");
  const sections = all(".part[id]");
  const kindOf = ({ classList }) => classList.contains("operation") ? "Operation" : classList.contains("shape") ? "Shape" : "Guide";
  const pages = sections.map((section) => {
    const title = section.querySelector("h2, h3").firstChild.textContent;
    const route = all(".route > :not(.more)", section).map((one) => one.textContent);
    return {
      id: section.id,
      title,
      kind: kindOf(section),
      head: [title, ...route, section.id].join(" ").toLowerCase(),
      text: section.textContent.replace(/\s+/g, " "),
    };
  });
  const scored = (page, words) => {
    const text = page.text.toLowerCase();
    let score = 0;
    for (const word of words) {
      if (page.head.split(/[^\w]+/).includes(word)) score += 12;
      else if (page.head.includes(word)) score += 8;
      else if (text.includes(word)) score += Math.min(6, text.split(word).length - 1);
      else return 0;
    }
    return score + (page.kind === "Guide" ? 2 : page.kind === "Shape" ? -0.5 : 1);
  };
  const excerpt = (page, words) => {
    const at = Math.max(0, page.text.toLowerCase().indexOf(words[0]) - 10);
    const line = make("small");
    const piece = page.text.slice(at, at + 90);
    const hit = piece.toLowerCase().indexOf(words[0]);
    if (hit < 0) line.textContent = page.kind;
    else line.append(page.kind + ": " + piece.slice(0, hit), make("mark", { textContent: piece.slice(hit, hit + words[0].length) }), piece.slice(hit + words[0].length));
    return line;
  };
  const search = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    side.classList.toggle("searching", words.length > 0);
    const best = words.length === 0 ? [] : pages.map((page) => ({ page, score: scored(page, words) })).filter(({ score }) => score > 0).sort((a, b) => b.score - a.score).slice(0, 14);
    const items = best.map(({ page }, at) => {
      const link = make("a", { href: "#" + page.id, className: at === 0 ? "on" : "" });
      link.append(page.title, excerpt(page, words));
      link.addEventListener("click", closeMenu);
      const item = make("li");
      item.append(link);
      return item;
    });
    if (words.length > 0 && items.length === 0) items.push(make("li", { className: "none", textContent: "No results." }));
    found.replaceChildren(...items);
  };
  input.addEventListener("input", search);
  input.addEventListener("keydown", (event) => {
    const links = all("a", found);
    const at = links.findIndex((one) => one.classList.contains("on"));
    const to = event.key === "ArrowDown" ? at + 1 : event.key === "ArrowUp" ? at - 1 : null;
    if (to !== null && links[to]) {
      event.preventDefault();
      links[at]?.classList.remove("on");
      links[to].classList.add("on");
      links[to].scrollIntoView({ block: "nearest" });
    }
    if (event.key === "Enter") links[at]?.click();
    if (event.key === "Escape") { input.value = ""; search(); input.blur(); closeMenu(); }
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
  for (const section of sections) if (links.has(section.id)) seen.observe(section);
})();
`;
