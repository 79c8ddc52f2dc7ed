// Building elements. Texts of others only ever become text.

/** Creates an element: `el("p.hint", {title: "…"}, "text", child)`. Event handlers are attributes such as `onclick`. */
export function el(what, ...rest) {
  const [tag, ...classes] = what.split(".");
  const node = document.createElement(tag || "div");
  if (classes.length) node.className = classes.join(" ");
  let children = rest;
  const first = rest[0];
  if (first && typeof first === "object" && !(first instanceof Node) && !Array.isArray(first)) {
    children = rest.slice(1);
    for (const [name, value] of Object.entries(first)) {
      if (value === null || value === undefined || value === false) continue;
      if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
      else if (name === "value" || name === "checked" || name === "disabled" || name === "selected") node[name] = value;
      else node.setAttribute(name, value === true ? "" : String(value));
    }
  }
  append(node, children);
  return node;
}

function append(node, children) {
  for (const child of children) {
    if (Array.isArray(child)) append(node, child);
    else if (child !== null && child !== undefined && child !== false) node.append(child);
  }
}

/** Replaces the children of a node. The focus stays on what has the same id, words or place as before. */
export function replace(node, ...children) {
  const active = document.activeElement;
  const hasFocus = active !== node && node.contains(active);
  const at = hasFocus ? focusable(node).indexOf(active) : -1;
  const words = hasFocus ? wordsOf(active) : "";
  node.replaceChildren();
  append(node, children);
  if (!hasFocus) return;
  const all = focusable(node);
  const same = all.find((it) => it === active) ?? all.find((it) => active.id && it.id === active.id)
    ?? all.find((it) => wordsOf(it) === words) ?? all[at];
  same?.focus({preventScroll: true});
}

const focusable = (node) => [...node.querySelectorAll("button, a[href], input, select, textarea, summary, [tabindex]")];
const wordsOf = (node) => node.getAttribute("aria-label") ?? node.textContent;

/** Tells screen readers. */
export function say(text) {
  document.getElementById("said").textContent = text;
}

/** Shows a message that goes away by itself, or with an action. One that `stays` is removed by calling what is returned. */
export function toast(text, action, stays = false) {
  const box = el("div.toast", el("span", text));
  const remove = () => box.remove();
  if (action) box.append(el("button.link", {onclick: () => { remove(); action.run(); }}, action.label));
  document.getElementById("toasts").append(box);
  if (!stays) setTimeout(remove, action ? 9000 : 6000);
  return remove;
}

/** Removes messages with an action of a step that is left. */
export function closeToasts() {
  for (const box of document.querySelectorAll(".toast")) if (box.querySelector("button")) box.remove();
}

let open = null;
/** Milliseconds between letters that belong together. */
const TYPING = 800;
let typed = "";
let typedAt = 0;

/** Opens a menu below a button. Arrow keys move, Escape closes. */
export function menu(button, items) {
  closeMenu();
  const list = el("div.menu", {role: "menu"});
  const entries = [];
  for (const item of items) {
    if (item.heading) { list.append(el("p.heading", {role: "presentation"}, item.heading)); continue; }
    if (item.node) { list.append(item.node); continue; }
    const entry = el("button.entry", {
      role: item.checked === undefined ? "menuitem" : "menuitemradio",
      "aria-checked": item.checked === undefined ? null : String(item.checked),
      tabindex: "-1",
      onclick: () => { closeMenu(); item.run(); },
    }, el("span", item.label), item.hint ? el("small", item.hint) : null);
    entries.push(entry);
    list.append(entry);
  }
  // Within the main part, where screen readers look for it.
  document.getElementById("main").append(list);
  place(list, button);
  button.setAttribute("aria-expanded", "true");
  open = {list, button};
  list.addEventListener("keydown", (event) => {
    const at = entries.indexOf(document.activeElement);
    const step = {ArrowDown: 1, ArrowUp: -1}[event.key];
    const isTyped = event.key.length === 1 && event.key !== " " && !event.ctrlKey && !event.metaKey && !event.altKey;
    if (step) {
      event.preventDefault();
      entries[(at + step + entries.length) % entries.length]?.focus();
    } else if (at >= 0 && isTyped) {
      event.preventDefault();
      typed = event.timeStamp - typedAt < TYPING ? typed + event.key.toLowerCase() : event.key.toLowerCase();
      typedAt = event.timeStamp;
      entries.find((entry) => entry.textContent.toLowerCase().startsWith(typed))?.focus();
    } else if (event.key === "Escape" || event.key === "Tab" && at >= 0 && !list.querySelector("input")) {
      event.preventDefault();
      closeMenu();
      button.focus();
    }
  });
  (entries.find((entry) => entry.getAttribute("aria-checked") === "true") ?? entries[0] ?? list.querySelector("input"))?.focus();
  setTimeout(() => document.addEventListener("pointerdown", outside), 0);
}

function place(list, button) {
  const box = button.getBoundingClientRect();
  const width = list.offsetWidth, height = list.offsetHeight;
  const left = Math.max(8, Math.min(box.left, innerWidth - width - 8));
  const below = box.bottom + 4 + height < innerHeight;
  const top = below ? box.bottom + 4 : Math.max(8, box.top - height - 4);
  list.style.left = `${left}px`;
  list.style.top = `${top}px`;
}

function outside(event) {
  if (open && !open.list.contains(event.target)) closeMenu();
}

export function closeMenu() {
  if (!open) return;
  open.button.removeAttribute("aria-expanded");
  open.list.remove();
  open = null;
  document.removeEventListener("pointerdown", outside);
}
