// Shows the rows of the page: filters, searches, sorts, opens and copies them. Cells become text, never markup, because
// elements are created one by one. The current view is stored in the fragment of the address, so that it can be linked.
"use strict";

const SIGNS = { sent: "✓", unchanged: "=", skipped: "–", rejected: "▲", failed: "✕", unknown: "?", pending: "…" };
const STATES = Object.keys(SIGNS);
// Number of rows added to the page at once. More are added while scrolling.
const CHUNK = 100;
// Maximum number of problems shown for a closed row, and maximum length of a value.
const FAULTS = 4;
const CHARACTERS = 200;
// Maximum number of printed rows, about 70 pages. Browsers take minutes to lay out ten times as many.
const PRINTED = 1000;
// Control characters, direction marks, and characters without width except joiners, which emoji and some scripts need.
const INVISIBLE =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/;

const at = (id) => document.getElementById(id);
const language = document.documentElement.lang;
const counted = new Intl.NumberFormat(language);
const collator = new Intl.Collator(language, { numeric: true, sensitivity: "base" });

// Creates an element with properties and children. Strings become text nodes. `set` contains ARIA and data attributes.
function make(tag, { set = {}, ...properties } = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  for (const [name, value] of Object.entries(set)) element.setAttribute(name, value);
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

function mark(text, title) {
  return make("span", { className: "mark", title }, text);
}

// Returns nodes for a text with invisible characters made visible.
function visible(text) {
  if (!INVISIBLE.test(text)) return [text];
  return text.split(new RegExp(`(${INVISIBLE.source})`)).filter(Boolean).map((part) => {
    if (!INVISIBLE.test(part)) return part;
    const code = part.codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
    return mark(`U+${code}`, say("invisible character"));
  });
}

// Returns a shortened value with visible line breaks and visible spaces at its ends.
function brief(text) {
  const middle = text.trim();
  const begin = middle ? text.indexOf(middle[0]) : text.length;
  const [before, after] = [text.slice(0, begin), text.slice(begin + middle.length)];
  const space = (c) => (INVISIBLE.test(c) && c !== "\r" ? visible(c)[0]
    : mark({ "\n": "↵", "\r": "↵", "\t": "⇥", "\u00a0": "NBSP" }[c] || "␣", say("space")));
  const ends = (spaces) => [...spaces.slice(0, CHARACTERS)].map(space);
  const lines = cut(middle).split("\n").flatMap((line, index) => [...(index ? [space("\n")] : []), ...visible(line)]);
  return make("bdi", {}, ends(before), lines, middle.length > CHARACTERS ? "…" : null, ends(after));
}

function cut(text) {
  if (text.length <= CHARACTERS) return text;
  // Avoids splitting a surrogate pair.
  return text.slice(0, CHARACTERS - (text.charCodeAt(CHARACTERS - 1) >> 10 === 0x36 ? 1 : 0));
}

function whole(text) {
  return make("bdi", {}, visible(text));
}

function letters(column) {
  const before = Math.floor(column / 26);
  return (before ? letters(before - 1) : "") + String.fromCharCode(65 + (column % 26));
}

// ---- The data

const source = at("data");
const { header, sheets: severalSheets, rows, texts = {} } = JSON.parse(source.textContent);
source.remove();
rows.forEach((row, place) => {
  row.place = place;
  row.faults ||= [];
});

// ---- Texts

// Returns a text in the language of the page. {0} stands for the first value. The page has the translations of all texts that
// are said here.
function say(english, ...values) {
  return (texts[english] || english).replace(/\{(\d)\}/g, (_, place) => values[place]);
}

function rowsInWords(count) {
  return count === 1 ? say("{0} row", counted.format(count)) : say("{0} rows", counted.format(count));
}

const STATE_NAMES = {
  sent: say("sent"), unchanged: say("unchanged"), skipped: say("skipped"), rejected: say("rejected"), failed: say("failed"),
  unknown: say("unknown"), pending: say("pending"),
};
const MEANINGS = {
  sent: say("accepted by the service"), unchanged: say("already in the service, not sent"), skipped: say("left out on purpose"),
  unknown: say("may or may not have been applied"), pending: say("not sent yet"),
};

function valueOf(row, fault) {
  return fault.value || row.cells[fault.column] || "";
}

// Returns the searchable text of a row, created on first use.
function haystack(row) {
  row.haystack ||= [
    row.row, row.sheet, STATE_NAMES[row.state], ...row.cells,
    ...row.faults.flatMap((fault) => [header[fault.column], fault.field, fault.value, fault.message, fault.remedy]),
    row.note, row.service_id, row.ctx_id, row.job_id, row.http_status,
  ].filter((text) => text !== undefined && text !== "").join("\n").normalize("NFC").toLowerCase();
  return row.haystack;
}

// ---- The view

const COLUMNS = [
  { name: "row", title: say("Row"), key: (row) => row.place },
  { name: "sheet", title: say("Sheet"), key: (row) => row.sheet || "" },
  { name: "status", title: say("Status"), key: (row) => STATES.indexOf(row.state) },
  { name: "cell", title: say("Cell"), key: (row, fault) => (fault && fault.column !== undefined ? fault.column : "") },
  { name: "value", title: say("Value"), key: (row, fault) => (fault ? numberOrText(valueOf(row, fault)) : "") },
  { name: "field", title: say("Field"), key: (row, fault) => (fault && fault.field) || "" },
  { name: "problem", title: say("What is wrong"), key: (row, fault) => (fault ? fault.message : noteOf(row)) },
].filter(({ name }) => name !== "sheet" || severalSheets);

function noteOf(row) {
  return row.note || MEANINGS[row.state] || "";
}

// The decimal separator, detected from the values of problems.
let decimalComma;
function numberOrText(text) {
  const plain = text.replace(/[\s\u00a0\u202f'’]/g, "");
  if (!/^[+-]?\d[\d.,]*$/.test(plain)) return text;
  decimalComma ??= hasDecimalCommas();
  const digits = decimalComma ? plain.replaceAll(".", "").replace(",", ".") : plain.replaceAll(",", "");
  const number = Number(digits);
  return Number.isNaN(number) ? text : number;
}

function hasDecimalCommas() {
  let commas = 0;
  for (const row of rows) {
    for (const fault of row.faults) {
      const [, last] = /^[+-]?\d[\d.,\s]*([.,])(?:\d{1,2}|\d{4,})$/.exec(valueOf(row, fault)) || [];
      if (last) commas += last === "," ? 1 : -1;
    }
  }
  return commas > 0;
}

// Sorts numbers before texts, and blanks last in either direction.
function compare(a, b, direction) {
  if (a === "" || b === "") return (a === "") - (b === "");
  const [first, second] = [typeof a === "number", typeof b === "number"];
  if (first && second) return (a - b) * direction;
  return (first !== second ? second - first : collator.compare(a, b)) * direction;
}

const view = { state: "", cause: null, search: "", sort: "row", descending: false };
const open = new Set();
let matching = rows;
let inPage = 0;

function readAddress() {
  const given = new URLSearchParams(location.hash.slice(1));
  const sort = given.get("sort") || "row";
  const cause = given.get("cause");
  view.state = STATES.includes(given.get("state")) ? given.get("state") : "";
  view.cause = /^\d{1,4}$/.test(cause) ? Number(cause) : null;
  view.search = given.get("search") || "";
  view.descending = sort.startsWith("-");
  const name = sort.replace("-", "");
  view.sort = COLUMNS.some((column) => column.name === name) ? name : "row";
}

let writing;
function writeAddress() {
  const parts = new URLSearchParams();
  if (view.state) parts.set("state", view.state);
  if (view.cause !== null) parts.set("cause", view.cause);
  if (view.search) parts.set("search", view.search);
  if (view.sort !== "row" || view.descending) parts.set("sort", (view.descending ? "-" : "") + view.sort);
  clearTimeout(writing);
  // Browsers limit the rate of changes to the address.
  writing = setTimeout(() => {
    try {
      history.replaceState(null, "", `#${parts}`);
    } catch { /* The page works without it. */ }
  }, 150);
}

function find() {
  const wanted = view.search.normalize("NFC").toLowerCase().split(/\s+/).filter(Boolean);
  const isOfCause = (fault) => fault.cause === view.cause;
  matching = rows.filter((row) =>
    (!view.state || row.state === view.state)
    && (view.cause === null || row.faults.some(isOfCause))
    && wanted.every((word) => haystack(row).includes(word)));
  if (view.sort === "row" && !view.descending) return;
  const { key } = COLUMNS.find(({ name }) => name === view.sort);
  const faultOf = (row) => (view.cause === null ? row.faults[0] : row.faults.find(isOfCause));
  const keyed = matching.map((row) => ({ row, key: key(row, faultOf(row)) }));
  keyed.sort((a, b) => compare(a.key, b.key, view.descending ? -1 : 1) || a.row.place - b.row.place);
  matching = keyed.map(({ row }) => row);
}

// Shows the rows of `view` and updates the address.
function show() {
  find();
  list.replaceChildren(head());
  inPage = 0;
  showMore(CHUNK);
  const count = matching.length;
  at("shown").replaceChildren(
    count === rows.length ? say("{0} shown", rowsInWords(count)) : say("{0} of {1} shown", counted.format(count), rowsInWords(rows.length)),
    make("span", { className: "printed" }, inWords()));
  at("none").hidden = count > 0;
  list.hidden = count === 0;
  at("copy").hidden = count === 0;
  showControls();
  writeAddress();
}

// Describes the current filters for printing.
function inWords() {
  const parts = [STATE_NAMES[view.state], causeInWords(), view.search && say("“{0}”", view.search)].filter(Boolean);
  const { title } = COLUMNS.find(({ name }) => name === view.sort);
  // German nouns begin with a capital.
  const sorted = say("by {0}", language === "en" ? title.toLowerCase() : title);
  if (view.sort !== "row" || view.descending) parts.push(sorted + (view.descending ? say(", last first") : ""));
  return parts.length ? `: ${parts.join("; ")}` : "";
}

function causeInWords() {
  const link = view.cause === null ? null : document.querySelector(`[data-cause="${view.cause}"] .what`);
  if (!link) return "";
  const copied = link.cloneNode(true);
  for (const part of copied.querySelectorAll(".such, .letters")) part.remove();
  return copied.textContent.trim();
}

function showControls() {
  if (at("search").value !== view.search) at("search").value = view.search;
  for (const button of at("choices").children) button.setAttribute("aria-pressed", button.value === view.state);
  for (const link of document.querySelectorAll("[data-cause], [data-state]")) {
    const { cause, state } = link.dataset;
    const isChosen = cause === undefined ? state === view.state : Number(cause) === view.cause;
    if (isChosen) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
  const cause = at("cause");
  cause.hidden = view.cause === null;
  cause.replaceChildren(make("span", { className: "label" }, causeInWords() || say("Unknown cause")),
    make("span", { set: { "aria-hidden": "true" } }, "✕"), make("span", { className: "unseen" }, say(", show all causes")));
}

// ---- The table

function head() {
  const cell = ({ name, title }) => {
    const isSorted = view.sort === name;
    const direction = isSorted ? (view.descending ? "descending" : "ascending") : "none";
    const arrow = isSorted ? (view.descending ? "↓" : "↑") : "↕";
    return make("th", { scope: "col", className: name, set: { role: "columnheader", "aria-sort": direction } },
      make("button", { type: "button", value: name }, title, make("span", { className: "arrow", set: { "aria-hidden": "true" } }, arrow)));
  };
  return make("thead", { set: { role: "rowgroup" } }, make("tr", { set: { role: "row" } }, COLUMNS.map(cell)));
}

function showMore(count) {
  const next = matching.slice(inPage, inPage + count);
  list.append(...next.map(body));
  inPage += next.length;
  const left = matching.length - inPage;
  at("more").hidden = left === 0;
  at("all").textContent = left === 1 ? say("Show the last row") : say("Show the other {0}", rowsInWords(left));
}

// Adds all rows to the page, some per frame, so that it stays responsive.
function showAll() {
  const wanted = matching;
  const step = () => {
    if (wanted !== matching || inPage === matching.length) return;
    showMore(5 * CHUNK);
    requestAnimationFrame(step);
  };
  step();
}

// Returns a row: one line per problem, and the details if the row is open.
function body(row) {
  const faults = row.faults.slice(0, FAULTS);
  const lines = Math.max(faults.length, 1);
  const group = make("tbody", { set: { role: "rowgroup" } });
  group.row = row;
  for (let line = 0; line < lines; line += 1) {
    const cells = faults.length ? faultCells(row, faults[line]) : noteCells(row);
    group.append(make("tr", { set: { role: "row" } }, line === 0 ? rowCells(row, lines) : null, cells));
  }
  const more = row.faults.length - faults.length;
  if (more > 0) group.lastChild.lastChild.append(make("p", { className: "hint" }, say("and {0} more: open the row", counted.format(more))));
  if (open.has(row)) group.append(detail(row));
  return group;
}

function cell(name, ...children) {
  const { title } = COLUMNS.find((column) => column.name === name);
  return make("td", { className: name, set: { role: "cell", "data-title": title } }, ...children);
}

function rowCells(row, lines) {
  const isOpen = open.has(row);
  const button = make("button", { type: "button", className: "toggle", set: { "aria-expanded": isOpen } },
    make("span", { className: "chevron", set: { "aria-hidden": "true" } }),
    make("span", { className: "unseen" }, `${say("Row")} `), String(row.row));
  const number = make("th", { scope: "row", className: "row", set: { role: "rowheader" } }, button);
  const cells = [number, severalSheets ? cell("sheet", whole(row.sheet || "")) : null, cell("status", badge(row.state))];
  if (lines > 1) cells.forEach((one) => one && Object.assign(one, { rowSpan: lines }));
  return cells;
}

function badge(state) {
  return make("span", { className: `badge ${state}` }, make("span", { set: { "aria-hidden": "true" } }, SIGNS[state]), STATE_NAMES[state]);
}

function faultCells(row, fault) {
  const value = valueOf(row, fault);
  const name = fault.column === undefined ? "" : header[fault.column] || "";
  const column = fault.column === undefined ? null : make("span", { className: "letters" }, letters(fault.column));
  return [
    cell("cell", column, column && name ? " " : null, name ? brief(name) : null),
    cell("value", value ? brief(value) : column ? make("span", { className: "blank" }, say("blank")) : null),
    cell("field", whole(fault.field || "")),
    cell("problem", warning(fault), whole(fault.message), remedy(fault)),
  ];
}

function warning(fault) {
  return fault.warns ? make("b", {}, `${say("Warning:")} `) : null;
}

function remedy(fault) {
  return fault.remedy ? make("span", { className: "remedy" }, " ", whole(fault.remedy)) : null;
}

function noteCells(row) {
  return [cell("cell"), cell("value"), cell("field"), cell("problem", make("span", { className: "note" }, whole(noteOf(row))))];
}

// ---- Details of a row

function detail(row) {
  const width = Math.max(header.length, row.cells.length);
  const long = new Map(row.cut);
  const cells = Array.from({ length: width }, (_, column) => original(row, column, long.get(column)));
  const button = make("button", { type: "button", className: "copy-row" }, say("Copy this row"));
  const inside = make("div", { className: "detail" },
    make("div", { className: "detail-head" }, make("h3", {}, say("Original row {0}", row.row)), button),
    make("dl", { className: "cells" }, cells),
    known(row));
  return make("tr", { className: "open", set: { role: "row" } },
    make("td", { colSpan: COLUMNS.length, set: { role: "cell" } }, inside));
}

function original(row, column, length) {
  const text = row.cells[column] || "";
  const faults = row.faults.filter((fault) => fault.column === column);
  const state = faults.every((fault) => fault.warns) ? "unknown" : row.state;
  const cutAt = length === undefined ? null : make("p", { className: "hint" },
    say("The first {0} of {1} characters; a .csv report has the complete text.", counted.format(row.cells[column].length), counted.format(length)));
  return make("div", { className: faults.length ? `at-fault ${state}` : "" },
    make("dt", {}, make("span", { className: "letters" }, letters(column)), " ", whole(header[column] || "")),
    make("dd", {},
      text ? make("div", { className: "text", tabIndex: text.length > 600 ? 0 : -1 }, whole(text)) : make("span", { className: "blank" }, say("blank")),
      cutAt,
      faults.map((fault) => make("p", { className: "fault" },
        make("span", { className: "sign", set: { "aria-hidden": "true" } }, `${fault.warns ? "!" : SIGNS[row.state]} `), warning(fault), whole(fault.message), remedy(fault)))));
}

function known(row) {
  const facts = [
    [say("Status"), STATE_NAMES[row.state]], [say("HTTP status"), row.http_status], [say("Attempts"), row.attempts],
    [say("Service id"), row.service_id], [say("Context id"), row.ctx_id], [say("Job id"), row.job_id],
  ];
  const elsewhere = row.faults.filter((fault) => fault.column === undefined);
  return make("div", { className: "known" },
    elsewhere.length ? make("ul", {}, elsewhere.map((fault) => make("li", {},
      fault.field ? [make("b", {}, whole(fault.field)), " "] : [], warning(fault), whole(fault.message),
      remedy(fault)))) : null,
    make("dl", {}, facts.filter(([, value]) => value !== undefined).map(([name, value]) =>
      make("div", {}, make("dt", {}, name), make("dd", {}, whole(String(value)))))));
}

function toggle(group) {
  const { row } = group;
  const isOpen = !open.has(row);
  if (isOpen) open.add(row);
  else open.delete(row);
  if (isOpen) group.append(detail(row));
  else group.lastChild.remove();
  group.querySelector(".toggle").setAttribute("aria-expanded", isOpen);
}

// ---- Copying

// Neutralizes text that a spreadsheet would run as a formula when pasted. Nearly the same texts get an apostrophe as in CSV
// reports, and reading removes it: before a sign where a cell may begin, behind characters that programs drop.
const signs = /[=+\-@＝＋－＠﹦﹢﹣﹫](?<=(?:^|[,;\t|\n\v\f\r\x85\u2028\u2029])[\s"\p{C}\p{M}\u115f\u1160\u3164\uffa0]*'*.)/gu;
const harmless = /^[+\-](?:[\d.,]*\d[\d.,\s]*%?|-*|\d[\d /.-]*[ (][\d ()/.-]*)$/;

function defused(text) {
  return harmless.test(text) ? text : text.replace(signs, "'$&");
}

// Formats cells for pasting into a spreadsheet.
function line(cells) {
  const width = Math.max(header.length, cells.length);
  return Array.from({ length: width }, (_, column) => {
    const text = defused(cells[column] || "");
    return /[\t\r\n"]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  }).join("\t");
}

function copyRows(some, withHeader, button) {
  const lines = some.map((row) => line(row.cells));
  const long = some.reduce((count, row) => count + (row.cut ? row.cut.length : 0), 0);
  const notes = [say("{0} copied.", rowsInWords(some.length))];
  if (long === 1) notes.push(say("1 cell is cut; a .csv report has the complete text."));
  if (long > 1) notes.push(say("{0} cells are cut; a .csv report has the complete text.", counted.format(long)));
  copy((withHeader ? [line(header), ...lines] : lines).join("\n"), notes.join(" "), button);
}

async function copy(text, done, button) {
  try {
    await navigator.clipboard.writeText(text);
    announce(done);
  } catch {
    // Some browsers block the clipboard for local files. Fall back to the old API, or to manual copying.
    const field = make("textarea", { className: "copied", value: text, readOnly: true, set: { "aria-label": say("Text to be copied") } });
    button.after(field);
    field.select();
    if (document.execCommand("copy")) {
      field.remove();
      button.focus();
      announce(done);
    } else {
      field.addEventListener("blur", () => field.remove());
      announce(say("The browser blocked copying. The text is selected: press Ctrl+C or ⌘C."));
    }
  }
}

let announcing;
function announce(text) {
  said.textContent = text;
  clearTimeout(announcing);
  announcing = setTimeout(() => { said.textContent = ""; }, 6000);
}

// ---- Events

function choose(changes, moves) {
  Object.assign(view, changes);
  show();
  if (!moves) return;
  const heading = at("rows");
  heading.focus({ preventScroll: true });
  heading.scrollIntoView({ block: "start" });
}

function clear() {
  choose({ state: "", cause: null, search: "" });
}

function listen() {
  at("search").addEventListener("input", (event) => choose({ search: event.target.value }));
  at("choices").addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button) choose({ state: button.value });
  });
  at("cause").addEventListener("click", () => {
    choose({ cause: null });
    at("search").focus();
  });
  at("clear").addEventListener("click", () => {
    clear();
    at("search").focus();
  });
  at("all").addEventListener("click", showAll);
  at("copy").addEventListener("click", (event) => copyRows(matching, true, event.currentTarget));
  list.addEventListener("click", clicked);
  // A second click on a filter removes it.
  for (const link of document.querySelectorAll("[data-cause], [data-state]")) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      const { cause, state } = link.dataset;
      if (state !== undefined) choose({ state: state === view.state ? "" : state }, true);
      else choose({ cause: Number(cause) === view.cause ? null : Number(cause), state: "", search: "" }, true);
    });
  }
  document.addEventListener("keydown", pressed);
  window.addEventListener("hashchange", () => {
    // Other fragments are anchors.
    if (!/^#($|.*=)/.test(location.hash)) return;
    readAddress();
    show();
  });
  new IntersectionObserver(([entry]) => {
    if (entry.isIntersecting) showMore(CHUNK);
  }, { rootMargin: "1200px" }).observe(at("more"));
  // The table header sticks below the toolbar, whose height varies.
  new ResizeObserver(([entry]) => {
    document.documentElement.style.setProperty("--tools", `${Math.ceil(entry.borderBoxSize[0].blockSize)}px`);
  }).observe(at("tools"));
  window.addEventListener("beforeprint", () => {
    list.replaceChildren(head());
    inPage = 0;
    showMore(PRINTED);
    at("unprinted").hidden = inPage === matching.length;
    at("unprinted").firstChild.textContent = say("The first {0} of {1} are printed.", counted.format(inPage), rowsInWords(matching.length));
    for (const details of document.querySelectorAll("details")) details.open = true;
  });
  window.addEventListener("afterprint", () => {
    at("unprinted").hidden = true;
    show();
  });
}

function clicked(event) {
  const group = event.target.closest("tbody");
  const button = event.target.closest("button");
  if (button && button.closest("thead")) {
    const name = button.value;
    choose({ sort: name, descending: view.sort === name && !view.descending });
    list.querySelector(`thead [value="${name}"]`).focus();
  } else if (button && button.className === "copy-row") {
    copyRows([group.row], false, button);
  } else if (group && !event.target.closest(".open") && (button || document.getSelection().isCollapsed)) {
    toggle(group);
  }
}

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const isTyping = event.target.closest("input, textarea, select");
  if (event.key === "/" && !isTyping) {
    event.preventDefault();
    at("search").focus();
    at("search").select();
  } else if (event.key === "Escape" && (view.search || view.cause !== null || view.state)) {
    event.preventDefault();
    if (view.search) choose({ search: "" });
    else clear();
  }
}

// ---- Start

function choices() {
  const counts = new Map(STATES.map((state) => [state, 0]));
  for (const row of rows) counts.set(row.state, counts.get(row.state) + 1);
  const used = STATES.filter((state) => counts.get(state) > 0);
  const choice = (value, name, count) =>
    make("button", { type: "button", value }, `${name} `, make("span", { className: "number" }, counted.format(count)));
  if (used.length < 2) at("choices").hidden = true;
  else at("choices").append(choice("", say("All"), rows.length), ...used.map((state) => choice(state, STATE_NAMES[state], counts.get(state))));
}

const list = at("list");
const said = make("p", { id: "said", set: { role: "status" } });
document.body.append(said);

for (const button of document.querySelectorAll("[data-copies]")) {
  button.hidden = false;
  button.addEventListener("click", () => copy(at(button.dataset.copies).textContent, say("Copied."), button));
}
if (list) {
  at("table").hidden = false;
  choices();
  readAddress();
  listen();
  show();
}
