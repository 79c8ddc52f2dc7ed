// The third step: problems by cause, and the rows of each, edited in place.

import {get} from "./api.js";
import {el, replace, say, toast} from "./dom.js";
import {Fixes} from "./fixes.js";
import {Grid, isNumber} from "./grid.js";
import {memoryOf} from "./memory.js";
import {numbersLine} from "./numbers.js";
import {editCell, mark, orderOf, pasteCells, saveEdits} from "./rows.js";
import {causeTitle, fieldName, number, t} from "./words.js";

/** Rows of a fix after which all rows are read again, in the background. */
const MANY = 200;
/** The rows that are left out, as a cause of their own. */
const LEFT_OUT = {leftOut: true, code: "left-out"};

export function problemsStep(app, main, bar, wanted) {
  const tools = el("div.buttons");
  const list = el("nav.causes", {"aria-label": t("problems.causes")});
  const detail = el("section.detail", {"aria-label": t("problems.rows")});
  const split = el("div.split", list, detail);
  const memory = memoryOf(app, undo);
  const body = el("div.page.fill", el("div.title", el("h1", t("problems.title")), el("span.grow"), tools), memory.node, split);
  const about = el("div.about");
  const rows = el("div.rows_of_cause");
  const fixes = new Fixes(app, {apply, show: (value) => { only = value; showRows(); }, counted, cause: () => cause, only: () => only, showsAll: () => showsAll, toggleAll: () => { showsAll = !showsAll; showRows(); }});
  let cause = null;
  let grid = null;
  /** The text that the cells of the shown rows have; all if null. */
  let only = null;
  let showsAll = false;
  let wasWriting = false;
  /** Whether there is something new that would have taken away the cell into which somebody wrote. */
  let isLate = false;
  /** The row numbers that were edited, with the problems they have now, or `true`. */
  const fixed = new Map();

  const causes = () => (app.review.check?.causes ?? []);
  const same = (one, other) => one && other && one.code === other.code && one.column === other.column && one.field === other.field
    && one.message === other.message && one.warning === other.warning && one.refusal === other.refusal && one.leftOut === other.leftOut;

  /** Returns the causes of the list, with the rows that are left out. */
  function entries() {
    const out = app.review.check?.left_out ?? 0;
    return out ? [...causes(), {...LEFT_OUT, count: out}] : causes();
  }

  function first(all) {
    if (wanted === "left-out") return all.find((it) => it.leftOut);
    if (wanted === "warnings") return all.find((it) => it.warning);
    return all.find((it) => it.refusal) ?? all.find((it) => !it.warning && !it.leftOut) ?? all.find((it) => it.warning);
  }

  function update() {
    const all = entries();
    const {check, edits} = app.review;
    replace(tools, el("button", {disabled: !edits.can_undo, "data-again": "undo", onclick: undo}, `↶ ${t("undo")}`),
      el("button", {disabled: !edits.can_redo, "data-again": "redo", onclick: () => app.change("/redo")}, `↷ ${t("redo")}`));
    drawBar();
    if (grid?.isWriting) {
      isLate = true;
      return;
    }
    memory.draw();
    // What is shown stays, and what the list shows first comes next.
    const next = all.find((it) => same(it, cause)) ?? first(all);
    if (!next) {
      cause = null;
      closeGrid();
      replace(detail);
      const isUnchecked = check?.rows === undefined;
      replace(split, all.length ? list : [], el("div.empty", el("div", el("div.big", {"aria-hidden": "true"}, "✓"),
        el("h2", app.isChecking ? t("checking") : isUnchecked ? t("problems.not_checked") : t("problems.none")),
        isUnchecked ? mistakes() : el("p.soft", t("problems.none_text", {n: check.to_send})))));
      if (all.length) drawList(all, null);
      return;
    }
    if (!split.contains(list) || !split.contains(detail)) replace(split, list, detail);
    if (!same(next, cause) || !grid) {
      // Whoever writes goes on with the next cause.
      const goesOn = wasWriting && cause && !same(next, cause);
      show(next);
      if (goesOn) grid?.node.focus({preventScroll: true});
      return;
    }
    cause = next;
    drawList(all, next);
    if (only === null) grid.setTotal(next.of_file ? 0 : next.count);
    grid.refresh();
    drawAbout();
  }

  /** Takes the last step back, and says if that concerns the template. */
  async function undo() {
    const {undo_template} = app.review.edits;
    if (!await app.change("/undo") || !undo_template) return;
    toast(t(`remember.${undo_template}`));
    say(t(`remember.${undo_template}`));
  }

  function mistakes() {
    return el("ul.mistakes", (app.review.check?.mistakes ?? []).map((it) => el("li", it.message, it.hint ? ` – ${it.hint}` : "")));
  }

  function drawList(all, current) {
    const group = (title, some) => some.length ? [el("section", el("h2", title), el("ul", some.map((it) => entry(it, current))))] : [];
    replace(list, group(t("problems.group_refused"), all.filter((it) => it.refusal)),
      group(t("problems.group_errors"), all.filter((it) => !it.warning && !it.refusal && !it.leftOut)),
      group(t("problems.group_warnings"), all.filter((it) => it.warning)),
      group(t("problems.group_left_out"), all.filter((it) => it.leftOut)));
  }

  function entry(it, current) {
    const place = it.header || (it.field ? fieldName({name: it.field}) : "");
    const value = it.value && ["unknown-value", "duplicate"].includes(it.code) ? ` ${t("quoted", {value: it.value})}` : "";
    return el("li", {class: it.leftOut ? "out" : it.warning ? "warning" : null}, el("button", {
      "aria-current": same(it, current) ? "true" : null,
      onclick: () => show(it),
    }, el("span.count", it.of_file ? "!" : number(it.count)), el("span", titleOf(it) + value),
    el("span.where", [place, it.of_file ? t("problems.whole_file") : null].filter(Boolean).join(" · "))));
  }

  const titleOf = (it) => (it.leftOut ? t("problems.left_out_title") : causeTitle(it));

  function closeGrid() {
    grid?.close();
    grid = null;
  }

  /** Takes how many rows have the text that is shown. Without any, all rows are shown again. */
  function counted(n) {
    if (n) return grid?.setTotal(n);
    only = null;
    showRows();
  }

  function show(it) {
    cause = it;
    wanted = null;
    only = null;
    drawList(entries(), it);
    replace(detail, about, fixes.node, rows);
    drawAbout();
    showRows();
  }

  /** Draws the rows of the cause, or those with one text. */
  function showRows() {
    closeGrid();
    const it = cause;
    if (it.of_file) return replace(rows);
    const {columns} = app.review.template;
    // Of a row that is left out, the reason comes first.
    const order = [...it.leftOut ? [null] : [], ...orderOf(app, [it.column], showsAll)];
    const name = (index) => (index === null ? t("problems.why") : columns[index]?.name || columns[index]?.letter || "");
    const isWords = (place) => order[place] === null;
    grid = new Grid({
      label: t("problems.rows_of", {cause: titleOf(it)}),
      columns: order.map((index) => ({label: name(index), width: index === null ? 360 : index === it.column ? 230 : 150})),
      total: only === null ? it.count : fixes.countOf(only),
      largest: app.review.rows + 99,
      order,
      onPaste: (text) => pasteCells(app, grid, text, send, undo),
      textOf: (row, place) => (isWords(place) ? row.why : row.c[order[place]]) ?? "",
      load: async (from, count) => (await get(app.path(rowsOf(it, from, count)))).rows,
      failed: (error) => app.unloaded(error),
      classOf: (row) => `${row.x ? "out" : ""} ${fixed.get(row.n) === true ? "fixed" : ""}`,
      number: (row) => rowButton(row),
      cell: (row, place, node) => draw(row, order[place], node),
      head: (place) => el("span.letters", {title: name(order[place])}, name(order[place])),
      onEdit: (row, place, node, key) => { if (isWords(place)) return; wasWriting = true; editCell(app, grid, {row, place, node, key}, send, undo); },
      onClear: (row, place) => { if (!isWords(place) && row.c[order[place]]) send([{row: row.n, column: order[place], text: ""}]); },
      onRow: toggleRow,
      written: () => { if (isLate) { isLate = false; update(); } },
      editsAtOnce: true,
    });
    replace(rows, grid.node);
    fixes.drawValues(only);
  }

  function rowsOf(it, from, count) {
    const window = `from=${from}&count=${count}`;
    if (it.leftOut) return `/left-out?${window}`;
    const value = only === null ? "" : `&value=${encodeURIComponent(only)}`;
    return `/causes/${cause.number}/rows?${window}${value}`;
  }

  const toggleRow = (row) => send([{row: row.n, column: null, text: row.x ? null : "left-out"}]);

  function rowButton(row) {
    const isDone = fixed.get(row.n) === true && !row.x;
    const words = row.x ? t("problems.take_back") : t("problems.leave_row_out");
    return el("button.link", {tabindex: "-1", title: words, "aria-label": `${row.n}: ${words}`, onclick: () => toggleRow(row)}, isDone ? `✓ ${row.n}` : String(row.n));
  }

  function draw(row, column, node) {
    if (column === null) {
      node.classList.add("why");
      node.textContent = node.title = row.why ?? "";
      return;
    }
    const waiting = app.saving.text(app.path("/edits"), row.n, column);
    const text = waiting ?? row.c[column] ?? "";
    node.textContent = text;
    const {columns, fields} = app.review.template;
    if (isNumber(text) && columns[column]?.fields.some((at) => fields[at].number)) node.classList.add("figure");
    if (text.length > 18) node.title = text;
    if (waiting !== undefined) {
      node.classList.add("unsaved");
      node.title = t("problems.unsaved");
      return;
    }
    const before = row.e?.[column];
    if (before !== undefined) {
      node.classList.add("edited");
      node.append(el("span.was", {title: t("problems.was", {value: before})}, before || t("problems.blank")));
    }
    const state = fixed.get(row.n);
    const own = Array.isArray(state) ? state.find((problem) => problem.column === column) : null;
    if (own) return mark(node, "wrong", own.message);
    if (state === true || row.x) return;
    const of = (row.p ?? []).filter(([at]) => at === column).map(([, number]) => causes().find((it) => it.number === number)).filter(Boolean);
    const isOfCause = column === cause.column && !Array.isArray(state);
    if (!of.length && !isOfCause) return;
    const worst = of.find((it) => !it.warning) ?? of[0] ?? cause;
    mark(node, worst.warning ? "doubt" : "wrong", worst.message);
    if (text.trim() === "") {
      node.classList.add("blank");
      node.dataset.blank = t("problems.blank");
    }
  }

  async function send(edits) {
    grid?.schedule();
    const answer = await saveEdits(app, edits, () => grid?.schedule());
    if (!answer) return false;
    for (const {row, problems} of answer.rows) {
      const whole = row.x || problems.length === 0;
      fixed.set(row.n, whole ? true : problems);
      grid?.update({e: undefined, x: false, ...row});
      say(problems.length ? problems[0].message : t("problems.row_good", {n: row.n}));
    }
    if (tools.children.length) {
      tools.children[0].disabled = !answer.edits.can_undo;
      tools.children[1].disabled = !answer.edits.can_redo;
    }
    if (answer.check && answer.check.revision >= (app.review.check?.revision ?? 0)) {
      // The rows stay where they are until the next check, so that the hand does not lose its place.
      app.review.check = answer.check;
      drawList(entries(), cause);
      drawBar();
    }
    app.checkSoon(900);
    return true;
  }

  function drawAbout() {
    const it = cause;
    if (it.leftOut) {
      replace(about, el("h2", titleOf(it)), el("p.sentence", t("problems.left_out_text")));
      return fixes.clear();
    }
    const where = it.header ? t("problems.in_column", {column: it.header}) : "";
    const sample = it.value ? t("problems.for_example", {value: it.value}) : "";
    const message = `${it.message}${/[.!?]$/.test(it.message) ? "" : "."}`;
    replace(about, el("h2", causeTitle(it)), el("p.sentence", [where, message, sample].filter(Boolean).join(" "), it.remedy && !isForTemplate(it.remedy) ? el("span.soft", ` ${sentence(it.remedy)}`) : null),
      it.asks ? el("p", el("button", {onclick: () => accept(it.code)}, t(`problems.accept_${it.asks}`))) : null,
      it.of_file || it.code === "guess" ? el("p", el("button", {onclick: () => app.go("columns")}, t("problems.to_columns"))) : null);
    fixes.draw(it, only);
  }

  /** Whether a remedy is about the text of the template, which the buttons write. */
  const isForTemplate = (remedy) => /\b[a-z_]+ = |\b(?:template|Vorlage)\b/.test(remedy);
  const sentence = (text) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

  /** Answers a question for all files of the template. */
  async function accept(code) {
    if (await app.change("/template/change", {kind: "accept", code})) app.checkSoon();
  }

  async function apply(choice, isAgain = false) {
    const {kind, to, find} = choice;
    const [wanted, value] = [cause, only];
    const fix = {kind, ...(to !== undefined && to !== null ? {to} : {}), ...(find !== undefined ? {find, with: choice.with} : {})};
    const revision = app.review.check.revision;
    fixed.clear();
    // The rows may have been checked again meanwhile, and the causes have other numbers then.
    const isOverdue = (error) => error.status === 409 && !isAgain;
    // Nobody goes on with the rows as they were.
    bar.querySelector(".primary").disabled = true;
    fixes.begin();
    const done = await app.change(`/causes/${wanted.number}/fix`, {fix, revision, value}, isOverdue);
    fixes.end();
    if (app.step === "problems") drawBar();
    if (done === null) {
      await app.check();
      const now = causes().find((it) => same(it, wanted) && it.count === wanted.count);
      if (!now) return;
      cause = now;
      return apply(choice, true);
    }
    if (done) {
      if (value !== null && only === value) { only = null; if (cause && grid) showRows(); }
      toast(t("fix.done"), {label: t("undo"), run: undo});
      say(t("fix.done"));
      // What only all rows together tell, such as how most of them write numbers.
      if (wanted.count > MANY) app.check(true);
    }
  }

  function drawBar() {
    const {check} = app.review;
    bar.hidden = false;
    replace(bar, el("p.grow", numbersLine(app)), el("button", {onclick: () => app.go("columns")}, t("back")),
      el("button.primary", {disabled: !check?.to_send, onclick: () => app.go("send")}, t("problems.next", {n: check?.to_send ?? 0})));
  }

  /** The keys for undo and redo, as in a spreadsheet program. */
  function onKey(event) {
    if (!(event.ctrlKey || event.metaKey) || event.altKey || event.target.closest("input, textarea")) return;
    const key = event.key.toLowerCase();
    const isRedo = key === "y" || key === "z" && event.shiftKey;
    const {edits} = app.review;
    if (isRedo ? !edits.can_redo : key !== "z" || !edits.can_undo) return;
    event.preventDefault();
    if (isRedo) app.change("/redo"); else undo();
  }
  body.addEventListener("keydown", onKey);

  replace(main, body);
  update();
  return {
    update: () => { if (!app.isChecking) fixed.clear(); update(); },
    refresh: () => grid?.refresh(),
    redraw: () => grid?.schedule(),
    close: closeGrid,
  };
}
