// The step before sending, for those who want to look: what each record changes in the service, and what is approved of it.

import {get, post} from "./api.js";
import {el, replace, say} from "./dom.js";
import {changesByField, oldAndNew} from "./fields.js";
import {Grid} from "./grid.js";
import {drawFailed, drawLooking, drawSending, isUnderWay} from "./outcome.js";
import {fieldName, number, t} from "./words.js";

/** The columns before those of the fields: whether a record is sent, its name, and what happens to it. */
const APPROVE = 0, NAME = 1, KIND = 2, FIELDS = 3;
/** Records that are changed one by one are read one by one. */
const SINGLE = ["order"];
/** Records that only ever are created. */
const ALWAYS_NEW = ["inventory-transaction", "subscription", "invoice"];
/** What is done to change a record. */
const COLORS = {changed: "", new: "good", "not there": "bad", refused: "bad", odd: "warn"};

/** Returns the look at the changes if it is of the file as it is now. */
export function currentLook({look, revision}) {
  return look?.revision === revision ? look : null;
}

export function changesStep(app, main, bar) {
  const body = el("div.page.fill");
  const parts = {body, bar};
  let grid = null;
  /** The plan that the grid shows, and the last decision in it. */
  let shown = null;
  let version = null;
  /** The decisions under way, one after the other, and how many were refused. */
  let deciding = Promise.resolve();
  let refused = 0;
  let filter = {kind: null, field: null};
  let total = 0;
  let startedAt = Date.now();
  let keepsLines = Boolean(app.review.look?.keep_lines);
  const filters = el("div.filters", {role: "group", "aria-label": t("changes.kinds")});
  const fields = el("div.by_field");
  const tools = el("div.buttons");
  const facts = el("div.notices");

  function draw() {
    const {status, look, report_of: isReport} = app.review;
    const current = currentLook(app.review);
    if (!current || shown !== current.run) closeGrid();
    if (status.phase === "looking") return drawLooking(parts, status, {title: t("changes.looking"), cancel: stop});
    if (isUnderWay(status)) return drawSending(parts, status, startedAt, stop);
    if (status.phase === "failed" && status.look && !look) {
      return drawFailed(parts, status, {title: t("changes.failed"), back: () => app.go("problems"), again: start});
    }
    if (isReport) return drawOffer(el("p", t("changes.not_report")), false);
    if (!look) return drawOffer([el("p", t("changes.offer_text")), el("p.soft", cost())], true);
    if (!current) return drawOutdated();
    if (shown !== current.run) drawList(current);
    drawLook(current);
    if (version < current.version) refresh(current).catch((error) => app.fail(error));
  }

  /** Shows the decisions that the look has and the rows don't yet. */
  function refresh(look) {
    version = look.version;
    grid.drawHead();
    return grid.reload();
  }

  /** Says how many requests a look takes. */
  function cost() {
    const {template, check, comparison} = app.review;
    if (ALWAYS_NEW.includes(template.record)) return t("changes.cost_none");
    if (SINGLE.includes(template.record)) return t("changes.cost_single", {n: check?.to_send ?? 0});
    if (comparison?.phase === "done" && comparison.requests) return t("changes.cost_known", {n: comparison.requests});
    return t("changes.cost_list");
  }

  function canLook() {
    return !app.isChecking && Boolean(app.review.check?.to_send) && !app.start.service.problem;
  }

  function drawOffer(words, isPossible) {
    const {problem} = app.start.service;
    const isOrder = app.review.template.record === "order";
    replace(body, el("div.title", el("h1", t("changes.title"))), el("section.card.offer", el("h2", t("changes.offer")), words,
      problem ? el("div.notice.warn", el("span", el("strong", t(`service.${problem}`)), " ", t(`service.${problem}.hint`))) : null,
      isPossible && isOrder ? el("label.check", el("input", {type: "checkbox", checked: keepsLines, onchange: (event) => { keepsLines = event.target.checked; }}), ` ${t("compare.keep_lines")}`) : null,
      isPossible ? el("div.buttons", el("button", {"data-look": "", disabled: !canLook(), onclick: start}, t("changes.show"))) : null));
    drawBar(null, app.isChecking ? t("checking") : "", el("button.primary", {onclick: () => app.go("send")}, isPossible ? t("changes.continue") : t("columns.next_send")));
  }

  function drawOutdated() {
    replace(body, el("div.title", el("h1", t("changes.title"))), el("div.notice.warn", {role: "status"},
      el("span.grow", el("strong", t("changes.outdated")), " ", t("changes.outdated_text"))));
    drawBar(null, app.isChecking ? t("checking") : "", el("button", {"data-forget": "", onclick: () => forget(app)}, t("changes.no_look")),
      el("button.primary", {"data-look": "", disabled: !canLook(), onclick: start}, t("changes.again")));
  }

  function drawBar(back, words, ...buttons) {
    bar.hidden = false;
    replace(bar, el("p.grow", words), el("button", {onclick: () => app.go("problems")}, t("back")), buttons);
  }

  async function start() {
    const before = app.review.status;
    startedAt = Date.now();
    // The end may be told before the answer arrives.
    app.review.status = {phase: "looking", rows: 0};
    app.review.look = null;
    draw();
    try {
      await post(app.path("/changes"), {rate: app.rate || null, keep_lines: keepsLines});
    } catch (error) {
      app.review.status = before;
      app.fail(error);
      await load();
    }
  }

  function stop() {
    post(app.path("/stop")).catch((error) => app.fail(error));
  }

  /** Takes what the program knows now. */
  async function load() {
    try {
      app.take(await get(app.path()));
      draw();
    } catch (error) {
      app.fail(error);
    }
  }

  function closeGrid() {
    grid?.close();
    grid = null;
    shown = null;
  }

  /** Draws what stays while a person decides. */
  function drawList(look) {
    filter = {kind: null, field: null};
    total = look.kinds.reduce((sum, [, n]) => sum + n, 0);
    shown = look.run;
    version = look.version;
    grid = new Grid({
      label: t("changes.grid"),
      columns: [{label: t("changes.approve"), width: 96}, {label: t("changes.record"), width: 170}, {label: t("changes.kind"), width: 170},
        ...look.columns.map((name) => ({label: nameOf(name), width: 220}))],
      total,
      load: async (from, count) => (await get(app.path(`/changes/rows?${query({from, count})}`))).rows,
      failed: (error) => app.unloaded(error),
      classOf: (row) => (row.approved ? "" : "off"),
      number: (row) => String(row.n ?? ""),
      head: (index) => head(index),
      cell: (row, index, node) => cell(row, index, node),
      textOf: (row, index) => textOf(row, index),
      onEdit: (row, index) => toggle(row, index),
      editsAtOnce: true,
      toggles: true,
    });
    replace(body, el("div.title", el("h1", t("changes.title")), el("span.grow"), tools), facts, filters, fields, grid.node);
  }

  const columnAt = (index) => app.review.look.columns[index - FIELDS];
  const fieldAt = (index) => app.review.look.fields.find((change) => change.field === columnAt(index));

  function query(more = {}) {
    const chosen = Object.entries({...filter, ...more}).filter(([, value]) => value !== null);
    return new URLSearchParams(chosen).toString();
  }

  function drawLook(look) {
    const notes = [look.why_not ? t("changes.not_compared", {why: look.why_not}) : null, ...look.notes].filter(Boolean);
    replace(facts, el("p.soft", t("changes.requests", {n: look.requests}), " ", t("changes.hint")), notes.map((note) => el("p.soft", note)));
    const all = look.kinds.reduce((sum, [, n]) => sum + n, 0);
    const kinds = [[null, all, t("changes.all_kinds")], look.odd ? ["odd", look.odd, t("changes.odd")] : null,
      ...look.kinds.map(([name, n]) => [name, n, t(`fate.${name}`)])].filter(Boolean);
    replace(filters, kinds.map(([name, n, words]) => el("button", {"data-kind": name ?? "", "aria-pressed": String(filter.kind === name), onclick: () => choose({...filter, kind: name})},
      el("strong", {class: COLORS[name] || null}, number(n)), ` ${words}`)));
    drawFields(look);
    replace(tools, el("button", {disabled: !total, onclick: () => decide({approves: true, selection: filter})}, filter.field ? t("changes.approve_field", {field: nameOf(filter.field)}) : t("changes.approve_shown")),
      el("button", {disabled: !total, onclick: () => decide({approves: false, selection: filter})}, filter.field ? t("changes.leave_field", {field: nameOf(filter.field)}) : t("changes.leave_shown")));
    drawBar(null, [el("strong", {"data-approved": ""}, t("changes.count", {n: look.approved, all: look.sendable})), look.partly ? ` · ${t("changes.partly", {n: look.partly})}` : ""],
      el("button", {"data-look": "", onclick: start}, t("changes.again")),
      el("button.primary", {disabled: !look.approved, onclick: () => app.go("send")}, look.approved ? t("changes.next", {n: look.approved}) : t("changes.none")));
  }

  const nameOf = (field) => fieldName({name: field});

  function drawFields(look) {
    if (!look.fields.length) return replace(fields);
    const isOpen = fields.querySelector("details")?.open ?? (innerHeight > 700 && innerWidth > 760);
    const title = (change) => el("button.link", {"data-field": change.field, "aria-pressed": String(filter.field === change.field), "aria-label": t("changes.only_field", {field: nameOf(change.field)}),
      onclick: () => choose({...filter, field: filter.field === change.field ? null : change.field})}, nameOf(change.field));
    replace(fields, el("details", {open: isOpen}, el("summary", t("changes.fields")),
      filter.field ? el("p", el("button", {onclick: () => choose({...filter, field: null})}, t("changes.all_fields"))) : null,
      changesByField(look.fields, title)));
  }

  async function choose(next) {
    filter = next;
    try {
      ({total} = await get(app.path(`/changes/rows?${query({count: 0})}`)));
    } catch (error) {
      return app.fail(error);
    }
    if (!grid) return;
    grid.node.scrollTop = 0;
    grid.move(0, grid.focus.column, false);
    grid.forget();
    grid.setTotal(total);
    drawLook(app.review.look);
    say(`${number(total)} ${t("changes.record")}`);
  }

  function head(index) {
    const name = el("span.letters", grid?.options.columns[index].label ?? label(index));
    const change = fieldAt(index);
    if (!change) return name;
    const isAll = change.approved === change.count;
    if (change.needed) return el("div", name, el("span.soft.small", {title: t("changes.needed", {field: nameOf(change.field)})}, `${number(change.approved)} / ${number(change.count)}`));
    return el("div", name, el("button.link.small", {"data-column-of": change.field, onclick: () => decide({approves: !isAll, selection: {kind: null, field: change.field}})},
      el("span.unseen", t(isAll ? "changes.leave_field" : "changes.approve_field", {field: nameOf(change.field)})),
      `${isAll ? "☑" : change.approved ? "◪" : "☐"} ${number(change.approved)} / ${number(change.count)}`));
  }

  function label(index) {
    return [t("changes.approve"), t("changes.record"), t("changes.kind")][index] ?? nameOf(columnAt(index) ?? "");
  }

  const words = (isApproved) => t(isApproved ? "changes.approved" : "changes.left_out");

  function cell(row, index, node) {
    if (index === APPROVE) {
      node.classList.add("sends");
      if (row.sendable) node.append(el("span", {"aria-hidden": "true"}, row.approved ? "☑" : "☐"), el("span.unseen", words(row.approved)));
      else node.append(el("span.soft", "–"));
      return;
    }
    if (index === NAME || index === KIND) {
      node.textContent = textOf(row, index);
      node.title = node.textContent;
      if (index === KIND) node.classList.add(...[COLORS[row.kind]].filter(Boolean));
      return;
    }
    const change = row.fields[columnAt(index)];
    if (!change) {
      const value = valueOf(row, index);
      node.title = value;
      if (value) {
        node.classList.add("change");
        node.append(el("ins", value));
      }
      return;
    }
    node.classList.add("change");
    if (!change.approved) node.classList.add("off");
    if (change.odd) node.classList.add("doubt");
    const remarks = [change.odd ? t(`odd.${change.odd}`) : null, change.as_sent ? t("changes.as_sent_mark") : null, words(change.approved)].filter(Boolean);
    node.title = `${change.old || t("problems.blank")} → ${change.new || t("problems.blank")} (${remarks.join("; ")})`;
    node.append(...oldAndNew(change.old, change.new), el("span.unseen", ` ${remarks.join("; ")}`));
  }

  function textOf(row, index) {
    if (index === APPROVE) return row.sendable ? words(row.approved) : "";
    if (index === NAME) return [row.sheet, row.name].filter(Boolean).join(" · ");
    if (index === KIND) return [t(`fate.${row.kind}`), row.remark.message].filter(Boolean).join(": ");
    return row.fields[columnAt(index)]?.new ?? valueOf(row, index);
  }

  /** Returns the value of a new record. */
  function valueOf(row, index) {
    return row.values.find(([name]) => name === columnAt(index))?.[1] ?? "";
  }

  function toggle(row, index) {
    if (!row.sendable) return;
    const name = columnAt(index);
    const change = row.fields[name];
    decide({seq: row.seq, approves: !(change ? change.approved : row.approved), selection: {field: change ? name : null}});
  }

  /** Decides after what was decided before, of which the answer tells the version. */
  function decide(decision) {
    const [run, known] = [shown, refused];
    // What a person decided beside a refused decision was about something else than the page shows then.
    deciding = deciding.catch(() => {}).then(() => (run === shown && known === refused ? decideNow(decision) : null));
    return deciding;
  }

  async function decideNow(decision) {
    try {
      app.review.look = await post(app.path("/changes/decide"), {run: shown, version, ...decision});
    } catch (error) {
      refused += 1;
      await load();
      return app.fail(error);
    }
    const {look} = app.review;
    if (!grid || shown !== look.run) return;
    drawLook(look);
    await refresh(look).catch((error) => app.fail(error));
    say(t("changes.count", {n: look.approved, all: look.sendable}));
  }

  function progress(status) {
    if (status.phase === "looked") return load();
    if (status.phase === "looking" || isUnderWay(status) || status.phase === "failed" || status.phase === "idle") draw();
  }

  replace(main, body);
  draw();
  return {update: draw, progress, close: closeGrid};
}

/** Gives up the look, so that the file can be sent without. */
export async function forget(app) {
  try {
    app.review.look = null;
    app.take(await post(app.path("/changes/forget")));
    app.go("send");
  } catch (error) {
    app.fail(error);
  }
}
