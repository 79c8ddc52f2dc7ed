// The toolbar above the rows of a cause: fixes for all of them, and for those with one text.

import {get, post} from "./api.js";
import {closeMenu, el, menu, replace} from "./dom.js";
import {COLUMNS} from "./rows.js";
import {number, t} from "./words.js";

/** Rows that a button names one by one. */
const NAMED = 3;
/** Milliseconds before a fix that is under way is told of. */
const SOON = 400;

export class Fixes {
  /** of: {apply(choice); show(value) shows the rows with a text, or all for null; counted(n) takes
   * how many these are now; cause(); only(): the text of the shown rows; showsAll(); toggleAll()} */
  constructor(app, of) {
    Object.assign(this, {app, of, values: []});
    this.tools = el("div.fixes", {role: "toolbar", "aria-label": t("fix.tools")});
    this.groups = el("div.filters", {role: "group", "aria-label": t("fix.values")});
    this.node = el("div.tools", this.tools, this.groups);
  }

  clear() {
    this.values = [];
    this.asked = null;
    replace(this.tools);
    replace(this.groups);
  }

  countOf(value) {
    return this.values.find(([text]) => text === value)?.[1] ?? 0;
  }

  /** Draws the fixes of a cause, or of its rows with one text. */
  async draw(it, only) {
    if (it.of_file) return this.clear();
    const asked = this.asked = {it};
    const path = this.app.path(`/causes/${it.number}`);
    const value = only === null ? "" : `?value=${encodeURIComponent(only)}`;
    let answer;
    try {
      answer = await get(`${path}/fixes${value}`);
    } catch (error) {
      // The rows are checked again, and drawn again then.
      return error.status === 409 ? undefined : this.app.fail(error);
    }
    if (this.asked !== asked || this.of.cause() !== it) return;
    const hasColumn = it.column !== null && it.column !== undefined;
    const set = el("button", {"aria-haspopup": "menu", onclick: () => this.openSet(set, answer.allowed)}, `${t("fix.set_all")} …`);
    const part = el("button", {"aria-haspopup": "menu", onclick: () => this.openPart(part)}, `${t("fix.find_replace")} …`);
    replace(this.tools, answer.choices.map((choice) => this.button(choice)), hasColumn ? [set, part] : null, el("span.grow"), this.more());
    this.values = answer.values;
    if (only !== null) this.of.counted(this.countOf(only));
    this.drawValues(only);
  }

  more() {
    const {columns} = this.app.review.template;
    const all = columns.length;
    return all > COLUMNS ? el("button.link", {"aria-pressed": String(this.of.showsAll()), onclick: (event) => { this.of.toggleAll(); event.target.replaceWith(this.more()); }}, t(this.of.showsAll() ? "problems.few_columns" : "problems.all_columns", {n: all})) : null;
  }

  button(choice) {
    return el("button", {onclick: () => this.of.apply(choice)}, el("span", wordsOf(choice)), sampleOf(choice));
  }

  /** Draws the texts of the cells with their numbers, where several cells have the same. */
  drawValues(only) {
    const {values} = this;
    const all = values.reduce((sum, [, n]) => sum + n, 0);
    if (values.length < 2 || values.length === all && only === null) return replace(this.groups);
    const chip = (text, n, words) => el("button", {"aria-pressed": String(only === text), onclick: () => { this.of.show(text); this.draw(this.of.cause(), text); }}, words, " ", el("strong", number(n)));
    replace(this.groups, chip(null, this.of.cause().count, t("fix.all_values")), values.map(([text, n]) => chip(text, n, text ? t("quoted", {value: text}) : t("problems.blank"))));
  }

  openSet(button, allowed) {
    const input = el("input", {type: "text", "aria-label": t("fix.set_all"), placeholder: t("fix.new_value"), list: allowed.length ? "fix-values" : null});
    const values = allowed.length ? el("datalist", {id: "fix-values"}, allowed.map((value) => el("option", {value}))) : null;
    menu(button, [{heading: t("fix.set_all")}, {node: el("form", {onsubmit: (event) => {
      event.preventDefault();
      closeMenu();
      this.of.apply({kind: "set", to: input.value});
    }}, input, values, el("button.primary", t("fix.apply", {n: this.count()})))}]);
  }

  openPart(button) {
    const find = el("input", {type: "text", placeholder: t("fix.find"), "aria-label": t("fix.find")});
    const to = el("input", {type: "text", placeholder: t("fix.with"), "aria-label": t("fix.with")});
    const go = el("button.primary", {disabled: true}, t("fix.replace"));
    const sample = el("p.soft", {role: "status"});
    let timer = null;
    const fix = () => ({kind: "replace-part", find: find.value, with: to.value});
    const preview = () => {
      clearTimeout(timer);
      timer = setTimeout(async () => {
        if (!find.value) { go.disabled = true; go.textContent = t("fix.replace"); return replace(sample); }
        const {cause, value} = {cause: this.of.cause(), value: this.of.only()};
        const {count, samples} = await post(this.app.path(`/causes/${cause.number}/preview`), {fix: fix(), value}).catch((error) => { this.app.fail(error); return {count: 0, samples: []}; });
        go.disabled = count === 0;
        go.textContent = t("fix.replace_n", {n: count});
        replace(sample, samples.slice(0, 1).map(([, before, after]) => `${t("quoted", {value: before})} → ${t("quoted", {value: after})}`));
      }, 200);
    };
    find.addEventListener("input", preview);
    to.addEventListener("input", preview);
    menu(button, [{heading: t("fix.find_replace")}, {node: el("form", {onsubmit: (event) => {
      event.preventDefault();
      if (go.disabled) return;
      closeMenu();
      this.of.apply(fix());
    }}, find, el("span", {"aria-hidden": "true"}, "→"), to, go)}, {node: sample}]);
  }

  count() {
    return this.of.only() === null ? this.of.cause().count : this.countOf(this.of.only());
  }

  /** Shows that a fix is under way; nothing can be pressed until its end. */
  begin() {
    for (const button of this.node.querySelectorAll("button")) button.disabled = true;
    this.timer = setTimeout(() => replace(this.groups, el("progress", {"aria-label": t("fix.working")}), el("span.soft", t("fix.working"))), SOON);
  }

  end() {
    clearTimeout(this.timer);
    for (const button of this.node.querySelectorAll("button")) button.disabled = false;
    if (this.groups.querySelector("progress")) replace(this.groups);
  }
}

/** Says what a fix does, with the rows if they are few. */
function wordsOf(choice) {
  const {kind, to, samples, count} = choice;
  const rows = count <= NAMED && samples.length === count ? samples.map(([row]) => number(row)).join(", ") : null;
  if (rows && ["leave-out", "keep-first", "keep-last"].includes(kind)) return t(`fix.${kind}.rows`, {rows, n: count});
  return t(`fix.${kind}`, {to: to ?? "", n: choice.about ? t("about", {n: count}) : count});
}

function sampleOf({kind, samples}) {
  if (!samples.length || ["leave-out", "keep-first", "keep-last"].includes(kind)) return null;
  const [, before, after] = samples[0];
  return el("small", `${t("quoted", {value: before})} → ${t("quoted", {value: after})}`);
}
