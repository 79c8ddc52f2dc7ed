// A grid that holds only the rows and columns in view.

import {el, replace} from "./dom.js";
import {t} from "./words.js";

const ROW = 28;
const AHEAD = 12;
const CHUNK = 100;
/** Pixels beside those in view for which columns are drawn, so that small steps show no gap. */
const BESIDE = 240;
/** Width of a digit of a row number, and the space around it with the mark of a fixed row. */
const DIGIT = 9, AROUND_NUMBER = 36;
// Browsers limit the height of an element; beyond it, the place in the list follows the scroll bar.
const MAX_HEIGHT = 8_000_000;
/** The place of the row number, from which a row can be left out. */
const ROW_NUMBER = -1;

export class Grid {
  /**
   * options: label; columns: [{label, width}]; total; load(from, count) → Promise<[row]>; failed(error) tells that rows can't be loaded; cell(row, column, node) fills a cell;
   * head(column) → Node; classOf(row) → text; onEdit(row, column, node, key); onClear(row, column) empties a cell; onRow(row) takes
   * the row number as a button; number(row) → Node or text; textOf(row, column) → what is copied; onPaste(text); toggles: whether a
   * cell is not written but switched, also by the space bar; largest: the largest row number
   */
  constructor(options) {
    this.options = options;
    this.cache = new Map();
    this.loading = new Set();
    this.focus = {row: 0, column: 0};
    this.head = el("div.head", {role: "row", "aria-rowindex": "1"});
    this.body = el("div.rows", {role: "rowgroup"});
    this.space = el("div.space", this.body);
    this.inner = el("div.inner", {role: "presentation"}, el("div", {role: "rowgroup"}, this.head), this.space);
    this.node = el("div.grid", {role: "grid", "aria-label": options.label, tabindex: "0"}, this.inner);
    this.node.addEventListener("scroll", () => this.schedule(), {passive: true});
    this.node.addEventListener("keydown", (event) => this.key(event));
    this.node.addEventListener("paste", (event) => {
      const text = event.clipboardData.getData("text/plain");
      if (event.target !== this.node || !options.onPaste || !text) return;
      event.preventDefault();
      options.onPaste(text);
    });
    this.node.addEventListener("copy", (event) => {
      const row = this.get(this.focus.row);
      if (event.target.closest?.(".editor") || !options.textOf || !row || !getSelection().isCollapsed) return;
      event.preventDefault();
      event.clipboardData.setData("text/plain", options.textOf(row, this.focus.column));
    });
    this.node.addEventListener("dblclick", (event) => this.open(event.target.closest("[data-column]")));
    this.node.addEventListener("click", (event) => {
      const cell = event.target.closest("[data-column]");
      if (!cell) return;
      const same = cell.classList.contains("current");
      this.move(Number(cell.parentNode.dataset.at), Number(cell.dataset.column), false);
      if (same || options.editsAtOnce) this.open(cell);
    });
    this.observer = new ResizeObserver(() => { this.layOut(); this.schedule(); });
    this.observer.observe(this.node);
    this.reset();
  }

  /** Takes other columns or another number of rows. */
  set(changes) {
    Object.assign(this.options, changes);
    this.reset();
  }

  reset() {
    this.forget();
    this.node.setAttribute("aria-colcount", this.options.columns.length + 1);
    this.layOut();
    this.setTotal(this.options.total);
  }

  /** Computes the left edge of each column, after the row numbers. Columns share what is left of a wide screen. */
  layOut() {
    const widths = this.options.columns.map((column) => column.width ?? 150);
    const sum = widths.reduce((total, width) => total + width, 0);
    const digits = String(this.options.largest ?? this.options.total).length;
    this.numberWidth = AROUND_NUMBER + DIGIT * Math.max(3, digits);
    const share = Math.max(1, (this.node.clientWidth - this.numberWidth) / Math.max(1, sum));
    this.lefts = [0];
    for (const width of widths) this.lefts.push(this.lefts.at(-1) + Math.floor(width * share));
    this.inner.style.width = `${this.numberWidth + this.lefts.at(-1)}px`;
    this.drawn = null;
  }

  /** Returns the columns to draw: from the first, up to but without the last. */
  columnsInView() {
    const {scrollLeft, clientWidth} = this.node;
    const count = this.options.columns.length;
    let from = this.lefts.findIndex((left) => left > scrollLeft - BESIDE) - 1;
    from = Math.max(0, from < 0 ? 0 : from);
    let to = from;
    while (to < count && this.lefts[to] < scrollLeft + clientWidth + BESIDE) to += 1;
    return {from, to};
  }

  drawHead() {
    const {columns} = this.options;
    this.view ??= this.columnsInView();
    const {from, to} = this.view;
    this.head.style.gridTemplateColumns = this.template();
    const titles = [];
    for (let index = from; index < to; index += 1) {
      const node = this.options.head ? this.options.head(index) : document.createTextNode(columns[index].label);
      titles.push(this.placed(el("div.title", {role: "columnheader", "aria-colindex": index + 2}, node), index));
    }
    replace(this.head, el("div.corner", {role: "columnheader", "aria-colindex": 1}, el("span.unseen", t("row"))), titles);
  }

  /** Returns the tracks of a row: its number, what is left of the view, and the columns in view. */
  template() {
    this.view ??= this.columnsInView();
    const {from, to} = this.view;
    const widths = [];
    for (let index = from; index < to; index += 1) widths.push(`${this.lefts[index + 1] - this.lefts[index]}px`);
    return `${this.numberWidth}px ${this.lefts[from]}px ${widths.join(" ")}`;
  }

  placed(node, index) {
    node.style.gridColumn = String(index - this.view.from + 3);
    return node;
  }

  setTotal(total) {
    this.options.total = total;
    this.node.setAttribute("aria-rowcount", total + 1);
    this.height = Math.min(total * ROW, MAX_HEIGHT);
    this.space.style.height = `${this.height}px`;
    this.schedule();
  }

  /** Loads the rows in view again, and shows the old ones until then. Those that can't be loaded stay. */
  refresh() {
    this.reload().catch((error) => this.options.failed?.(error));
  }

  /** Loads the rows in view again. */
  async reload() {
    const {from, to} = this.shown ?? {from: 0, to: 1};
    const current = this.known(this.focus.row)?.n;
    const chunks = [...new Set([from, Math.max(from, to - 1)].map((at) => Math.floor(at / CHUNK)))];
    const loading = new Set();
    this.loading = loading;
    const loaded = await Promise.all(chunks.map((chunk) => this.options.load(chunk * CHUNK, CHUNK)));
    if (this.loading !== loading || this.isClosed) return;
    this.cache.clear();
    chunks.forEach((chunk, at) => this.cache.set(chunk, loaded[at]));
    this.keepFocus(current);
    this.schedule();
  }

  /** Keeps the focus on a row that has another place now, or on the next one if it is gone. */
  keepFocus(n) {
    let next = null;
    for (const [chunk, rows] of n === undefined ? [] : this.cache) {
      const at = rows.findIndex((row) => row?.n >= n);
      if (at >= 0) next = Math.min(next ?? Infinity, chunk * CHUNK + at);
    }
    this.focus.row = Math.max(0, Math.min(next ?? this.focus.row, this.options.total - 1));
  }

  /** Returns a row if it is loaded. */
  known(at) {
    return this.cache.get(Math.floor(at / CHUNK))?.[at % CHUNK];
  }

  /** Forgets the rows, also those that are on their way: an older answer may come after a newer one. */
  forget() {
    this.cache.clear();
    this.loading = new Set();
  }

  /** Replaces a row that is shown, without loading it. */
  update(row) {
    for (const rows of this.cache.values()) {
      const at = rows.findIndex((known) => known?.n === row.n);
      if (at >= 0) rows[at] = {...rows[at], ...row};
    }
    this.schedule();
  }

  schedule() {
    if (this.frame || this.isClosed) return;
    this.frame = requestAnimationFrame(() => { this.frame = null; this.draw(); });
  }

  /** Returns the first row in view. */
  first() {
    const {total} = this.options;
    const view = this.node.clientHeight;
    const full = total * ROW;
    if (full <= MAX_HEIGHT) return Math.floor(this.node.scrollTop / ROW);
    const share = this.node.scrollTop / Math.max(1, this.height - view);
    return Math.floor(Math.min(1, share) * Math.max(0, total - Math.floor(view / ROW) + 2));
  }

  draw() {
    const {total} = this.options;
    const visible = Math.ceil(this.node.clientHeight / ROW) + 1;
    const first = Math.max(0, Math.min(this.first(), total - 1));
    const from = Math.max(0, first - AHEAD);
    const to = Math.min(total, first + visible + AHEAD);
    const isScaled = total * ROW > MAX_HEIGHT;
    const top = isScaled ? this.node.scrollTop - (first - from) * ROW : from * ROW;
    this.body.style.transform = `translateY(${Math.max(0, top)}px)`;
    this.view = this.columnsInView();
    const columns = `${this.view.from}-${this.view.to}`;
    if (columns !== this.drawn) {
      this.drawn = columns;
      this.drawHead();
    }
    this.tracks = this.template();
    const nodes = [];
    for (let at = from; at < to; at += 1) nodes.push(this.row(at));
    if (!this.isWriting) this.body.replaceChildren(...nodes);
    const current = this.current();
    if (current) this.node.setAttribute("aria-activedescendant", current.id);
    else this.node.removeAttribute("aria-activedescendant");
    this.shown = {from, to};
  }

  /** Whether somebody writes into a cell, which must not be drawn anew. */
  get isWriting() {
    return this.node.contains(document.activeElement) && Boolean(document.activeElement.closest(".editor"));
  }

  /** Returns the current cell if it is drawn. */
  current() {
    return this.body.querySelector(".current");
  }

  row(at) {
    const row = this.get(at);
    const node = el("div.row", {role: "row", "aria-rowindex": at + 2});
    node.style.gridTemplateColumns = this.tracks;
    node.dataset.at = at;
    if (!row) {
      node.append(el("div.number", {role: "gridcell"}), el("div.wait", {role: "gridcell"}, "…"));
      return node;
    }
    const extra = this.options.classOf?.(row);
    if (extra) node.classList.add(...extra.split(" ").filter(Boolean));
    const number = el("div.number", {role: "rowheader", "aria-colindex": 1}, this.options.number?.(row) ?? String(row.n));
    this.mark(number, at, ROW_NUMBER);
    node.append(number);
    for (let index = this.view.from; index < this.view.to; index += 1) {
      const cell = this.placed(el("div.cell", {role: "gridcell", "aria-colindex": index + 2}), index);
      cell.dataset.column = index;
      this.options.cell(row, index, cell);
      this.mark(cell, at, index);
      node.append(cell);
    }
    return node;
  }

  /** Marks the current cell. */
  mark(cell, at, index) {
    if (at !== this.focus.row || index !== this.focus.column) return;
    cell.classList.add("current");
    cell.id = `${this.id()}-current`;
  }

  id() {
    this.name ??= `grid${Grid.count = (Grid.count ?? 0) + 1}`;
    return this.name;
  }

  get(at) {
    const chunk = Math.floor(at / CHUNK);
    const rows = this.cache.get(chunk);
    if (rows) return rows[at - chunk * CHUNK];
    this.fetch(chunk);
    return undefined;
  }

  async fetch(chunk) {
    if (this.loading.has(chunk)) return;
    this.loading.add(chunk);
    const loading = this.loading;
    try {
      const rows = await this.options.load(chunk * CHUNK, CHUNK);
      if (this.loading !== loading) return;
      this.cache.set(chunk, rows);
      if (this.cache.size > 30) this.cache.delete(this.cache.keys().next().value);
      this.schedule();
    } catch (error) {
      this.options.failed?.(error);
    } finally {
      loading.delete(chunk);
    }
  }

  move(row, column, scroll = true) {
    const {total, columns, onRow} = this.options;
    const first = onRow ? ROW_NUMBER : 0;
    this.focus = {row: Math.max(0, Math.min(row, total - 1)), column: Math.max(first, Math.min(column, columns.length - 1))};
    if (scroll) this.show();
    this.schedule();
  }

  show() {
    const {row, column} = this.focus;
    const visible = Math.max(1, Math.floor((this.node.clientHeight - this.head.offsetHeight) / ROW));
    if (this.options.total * ROW <= MAX_HEIGHT) {
      const top = row * ROW;
      if (top < this.node.scrollTop) this.node.scrollTop = top;
      if (top > this.node.scrollTop + (visible - 1) * ROW) this.node.scrollTop = top - (visible - 1) * ROW;
    } else {
      this.node.scrollTop = row / Math.max(1, this.options.total - visible) * (this.height - this.node.clientHeight);
    }
    this.showColumn(column);
  }

  /** Scrolls to a column. */
  showColumn(column) {
    if (column < 0) return;
    const [left, right] = [this.lefts[column], this.lefts[column + 1]];
    const view = this.node.clientWidth - this.numberWidth;
    if (left < this.node.scrollLeft) this.node.scrollLeft = left;
    else if (right > this.node.scrollLeft + view) this.node.scrollLeft = Math.min(left, right - view);
  }

  key(event) {
    // Whoever composes a character has not pressed a key yet.
    if (event.target !== this.node || event.isComposing) return;
    const {row, column} = this.focus;
    const page = Math.max(1, Math.floor(this.node.clientHeight / ROW) - 2);
    const moves = {
      ArrowDown: [row + 1, column], ArrowUp: [row - 1, column], ArrowRight: [row, column + 1], ArrowLeft: [row, column - 1],
      PageDown: [row + page, column], PageUp: [row - page, column],
      Home: [event.ctrlKey ? 0 : row, 0], End: [event.ctrlKey ? this.options.total - 1 : row, this.options.columns.length - 1],
    };
    const {onRow, onClear, toggles} = this.options;
    const isOfRow = column === ROW_NUMBER;
    if (moves[event.key]) {
      event.preventDefault();
      this.move(...moves[event.key]);
    } else if (isOfRow && ["Enter", " ", "Delete", "Backspace"].includes(event.key)) {
      event.preventDefault();
      const known = this.get(row);
      if (known) onRow(known);
    } else if (event.key === "Enter" || event.key === "F2" || event.key === " " && toggles) {
      event.preventDefault();
      this.open(this.current());
    } else if (["Delete", "Backspace"].includes(event.key) && onClear) {
      event.preventDefault();
      const known = this.get(row);
      if (known) onClear(known, column);
    } else if (event.key.length === 1 && !isOfRow && !toggles && !event.ctrlKey && !event.metaKey && !event.altKey && event.key !== " ") {
      event.preventDefault();
      this.open(this.current(), event.key);
    }
  }

  open(cell, text) {
    if (!cell || !this.options.onEdit || !cell.dataset.column || cell.classList.contains("editing")) return;
    const at = Number(cell.parentNode.dataset.at);
    const row = this.get(at);
    if (row) this.options.onEdit(row, Number(cell.dataset.column), cell, text);
  }

  /** Draws nothing any more: what the rows are about may be gone. */
  close() {
    this.isClosed = true;
    cancelAnimationFrame(this.frame);
    this.observer.disconnect();
  }
}

/** Whether a cell holds a number, as spreadsheet programs set it to the right. */
export function isNumber(text) {
  return /^[\s(]*[-+]?\s*(?:[$€£¥]\s*|[A-Z]{3}\s+)?[-+]?\d[\d.,'’\s]*(?:[%€$£¥)]|\s[A-Z]{3})?\s*$/.test(text) && !/^0\d/.test(text);
}
