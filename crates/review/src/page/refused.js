// What the service refused, in the result of an upload: corrected here, and sent again with one button.

import {get} from "./api.js";
import {el, replace, say} from "./dom.js";
import {Grid, isNumber} from "./grid.js";
import {editCell, mark, orderOf, pasteCells, saveEdits} from "./rows.js";
import {t} from "./words.js";

/** The place of the service's words, before the cells of a row. */
const WORDS = 0;
/** Pixels of a row, and of the head with the edge. */
const ROW = 28, HEAD = 40;
/** Rows that are shown before the grid scrolls. */
const SHOWN = 12;

/** Returns the card with the refused rows, which is empty while there are none. of: {saved(revision) takes the revision of an edit; changed() is called when another number of rows is corrected} */
export function refusedRows(app, of) {
  const node = el("section.card.wide.refused", {"aria-labelledby": "refused-title", hidden: true});
  const rows = el("div.rows_of_cause");
  const text = el("p.soft", {role: "status"});
  /** What a row lacks after an edit, by its number; nothing if the list is empty. */
  const judged = new Map();
  let grid = null;

  const count = () => app.review.refused ?? 0;
  /** How many rows were edited and have nothing else that is known to be wrong. */
  const corrected = () => app.review.edits.corrected - [...judged.values()].filter((problems) => problems.length).length;

  /** Draws the rows once they are known. */
  function update() {
    node.hidden = count() === 0;
    if (node.hidden) return close();
    if (!grid) open();
    else grid.refresh();
    tell();
  }

  function tell() {
    const n = corrected();
    replace(text, n ? t("refused.corrected", {n, all: count()}) : t("refused.text"));
    of.changed();
  }

  function open() {
    const causes = (app.review.check?.causes ?? []).filter((cause) => cause.refusal);
    const wrong = causes.map((cause) => cause.column).filter((column) => Number.isInteger(column));
    const {columns} = app.review.template;
    const order = [null, ...orderOf(app, wrong, false)];
    const name = (index) => (index === null ? t("refused.words") : columns[index]?.name || columns[index]?.letter || "");
    grid = new Grid({
      label: t("refused.title", {n: count()}),
      columns: order.map((index) => ({label: name(index), width: index === null ? 300 : 150})),
      total: count(),
      largest: app.review.rows + 99,
      order,
      load: async (from, n) => (await get(app.path(`/refused?from=${from}&count=${n}`))).rows,
      failed: (error) => app.unloaded(error),
      textOf: (row, place) => (place === WORDS ? wordsOf(row) : row.c[order[place]] ?? ""),
      classOf: (row) => (row.x ? "out" : isDone(row) ? "fixed" : ""),
      number: (row) => el("button.link", {tabindex: "-1", title: row.x ? t("problems.take_back") : t("problems.leave_row_out"), onclick: () => toggle(row)}, isDone(row) ? `✓ ${row.n}` : String(row.n)),
      head: (place) => el("span.letters", {title: name(order[place])}, name(order[place])),
      cell: (row, place, cell) => draw(row, order[place], cell),
      onEdit: (row, place, cell, key) => { if (place !== WORDS) editCell(app, grid, {row, place, node: cell, key}, send, () => {}); },
      onClear: (row, place) => { if (place !== WORDS && row.c[order[place]]) send([{row: row.n, column: order[place], text: ""}]); },
      onPaste: (block) => pasteCells(app, grid, block, send, () => {}),
      onRow: toggle,
      editsAtOnce: true,
    });
    // The words are read, and the cell beside them is what is usually wrong.
    grid.focus.column = WORDS + 1;
    rows.style.height = `${HEAD + ROW * Math.min(count(), SHOWN) + 14}px`;
    replace(rows, grid.node);
    replace(node, el("h2", {id: "refused-title"}, t("refused.title", {n: count()})), text, rows);
  }

  const isDone = (row) => row.d && !row.x && !judged.get(row.n)?.length;

  function wordsOf(row) {
    if (row.x) return t("state.skipped");
    const open = judged.get(row.n);
    if (open?.length) return open[0].message;
    return row.d ? t("refused.ready") : row.r.map(({message}) => message).join("; ");
  }

  function draw(row, column, cell) {
    if (column === null) {
      cell.textContent = wordsOf(row);
      cell.title = cell.textContent;
      cell.classList.add("words");
      return;
    }
    const waiting = app.saving.text(app.path("/edits"), row.n, column);
    cell.textContent = waiting ?? row.c[column] ?? "";
    const {columns, fields} = app.review.template;
    if (isNumber(cell.textContent) && columns[column]?.fields.some((at) => fields[at].number)) cell.classList.add("figure");
    if (waiting !== undefined) return cell.classList.add("unsaved");
    if (row.e?.[column] !== undefined) cell.classList.add("edited");
    const said = row.d ? judged.get(row.n) : row.r;
    const own = said?.find((it) => it.column === column);
    if (own && !row.x) mark(cell, "wrong", own.message);
  }

  const toggle = (row) => send([{row: row.n, column: null, text: row.x ? null : "left-out"}]);

  async function send(edits) {
    grid?.schedule();
    // The result belongs to the rows with this edit, too; an event may tell of it before the answer.
    of.saved(app.review.revision + app.saving.queue.length + 1);
    const answer = await saveEdits(app, edits, () => grid?.schedule());
    if (!answer) return false;
    of.saved(answer.revision);
    if (answer.check) app.review.check = answer.check;
    for (const {row, problems} of answer.rows) {
      judged.set(row.n, row.x ? [] : problems);
      grid?.update({e: undefined, x: false, d: true, ...row});
      say(problems[0]?.message ?? t("refused.ready"));
    }
    tell();
    return true;
  }

  function close() {
    judged.clear();
    grid?.close();
    grid = null;
  }

  return {node, update, close, corrected, refresh: () => grid?.refresh(), redraw: () => grid?.schedule()};
}
