// A grid that holds only the rows in view.

import {el, replace} from "./dom.js";
import {t} from "./words.js";

const ROW = 34;
const AHEAD = 12;
const CHUNK = 100;
// Browsers limit the height of an element; beyond it, the place in the list follows the scroll bar.
const MAX_HEIGHT = 8_000_000;

export class Grid {
  /**
   * options: label; columns: [{label, width}]; total; load(from, count) → Promise<[row]>; cell(row, column) → Node or text;
   * head(column) → Node; classOf(row) → text; onEdit(row, column, node, key); number(row) → Node or text; textOf(row, column) → what is
   * copied; onPaste(text); toggles: whether a cell is not written but switched, also by the space bar
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
    this.observer = new ResizeObserver(() => this.schedule());
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
    const {columns} = this.options;
    const widths = columns.map((column) => column.width ?? 150);
    // Columns share what is left of a wide screen.
    this.template = `64px ${widths.map((width) => `minmax(${width}px, ${width}fr)`).join(" ")}`;
    this.inner.style.width = `${64 + widths.reduce((sum, width) => sum + width, 0)}px`;
    this.head.style.gridTemplateColumns = this.template;
    this.node.setAttribute("aria-colcount", columns.length + 1);
    this.drawHead();
    this.setTotal(this.options.total);
  }

  drawHead() {
    const {columns} = this.options;
    replace(this.head, el("div.corner", {role: "columnheader"}, el("span.unseen", t("row"))),
      columns.map((column, index) => {
        const node = this.options.head ? this.options.head(index) : document.createTextNode(column.label);
        return el("div.title", {role: "columnheader", "aria-colindex": index + 2}, node);
      }));
  }

  setTotal(total) {
    this.options.total = total;
    this.node.setAttribute("aria-rowcount", total + 1);
    this.height = Math.min(total * ROW, MAX_HEIGHT);
    this.space.style.height = `${this.height}px`;
    this.schedule();
  }

  /** Forgets the rows, and loads those in view again. */
  refresh() {
    this.forget();
    this.schedule();
  }

  /** Loads the rows in view again, and shows the old ones until then. */
  async reload() {
    const {from, to} = this.shown ?? {from: 0, to: 1};
    const chunks = [...new Set([from, Math.max(from, to - 1)].map((at) => Math.floor(at / CHUNK)))];
    const loading = this.loading = new Set();
    const rows = await Promise.all(chunks.map((chunk) => this.options.load(chunk * CHUNK, CHUNK)));
    if (this.loading !== loading) return;
    this.cache = new Map(chunks.map((chunk, index) => [chunk, rows[index]]));
    this.schedule();
  }

  /** Forgets the rows, also those that are on their way: an older answer may come after a newer one. */
  forget() {
    this.cache.clear();
    this.loading = new Set();
  }

  /** Replaces a row that is in view. */
  update(row) {
    for (const rows of this.cache.values()) {
      const at = rows.findIndex((known) => known.n === row.n);
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
    const nodes = [];
    for (let at = from; at < to; at += 1) nodes.push(this.row(at));
    const focused = this.node.contains(document.activeElement) && document.activeElement.closest(".editor");
    if (!focused) this.body.replaceChildren(...nodes);
    const current = this.body.querySelector(".cell.current");
    if (current) this.node.setAttribute("aria-activedescendant", current.id);
    else this.node.removeAttribute("aria-activedescendant");
    this.shown = {from, to};
  }

  row(at) {
    const row = this.get(at);
    const node = el("div.row", {role: "row", "aria-rowindex": at + 2});
    node.style.gridTemplateColumns = this.template;
    node.dataset.at = at;
    if (!row) {
      node.append(el("div.number", {role: "gridcell"}), el("div.wait", {role: "gridcell"}, "…"));
      return node;
    }
    const extra = this.options.classOf?.(row);
    if (extra) node.classList.add(...extra.split(" ").filter(Boolean));
    node.append(el("div.number", {role: "rowheader"}, this.options.number?.(row) ?? String(row.n)));
    this.options.columns.forEach((column, index) => {
      const cell = el("div.cell", {role: "gridcell", "aria-colindex": index + 2});
      cell.dataset.column = index;
      this.options.cell(row, index, cell);
      if (at === this.focus.row && index === this.focus.column) {
        cell.classList.add("current");
        cell.id = `${this.id()}-current`;
      }
      node.append(cell);
    });
    return node;
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
    } finally {
      loading.delete(chunk);
    }
  }

  move(row, column, scroll = true) {
    const {total, columns} = this.options;
    this.focus = {row: Math.max(0, Math.min(row, total - 1)), column: Math.max(0, Math.min(column, columns.length - 1))};
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
    const cell = this.body.querySelector(`[data-column="${column}"]`);
    if (cell) {
      const left = cell.offsetLeft - 64, right = cell.offsetLeft + cell.offsetWidth;
      if (left < this.node.scrollLeft) this.node.scrollLeft = left;
      if (right > this.node.scrollLeft + this.node.clientWidth) this.node.scrollLeft = right - this.node.clientWidth;
    }
  }

  key(event) {
    if (event.target !== this.node) return;
    const {row, column} = this.focus;
    const page = Math.max(1, Math.floor(this.node.clientHeight / ROW) - 2);
    const moves = {
      ArrowDown: [row + 1, column], ArrowUp: [row - 1, column], ArrowRight: [row, column + 1], ArrowLeft: [row, column - 1],
      PageDown: [row + page, column], PageUp: [row - page, column],
      Home: [event.ctrlKey ? 0 : row, 0], End: [event.ctrlKey ? this.options.total - 1 : row, this.options.columns.length - 1],
    };
    if (moves[event.key]) {
      event.preventDefault();
      this.move(...moves[event.key]);
    } else if (event.key === "Enter" || event.key === "F2") {
      event.preventDefault();
      this.open(this.body.querySelector(".cell.current"));
    } else if (event.key === " " && this.options.toggles) {
      event.preventDefault();
      this.open(this.body.querySelector(".cell.current"));
    } else if (event.key.length === 1 && !this.options.toggles && !event.ctrlKey && !event.metaKey && !event.altKey && event.key !== " ") {
      event.preventDefault();
      this.open(this.body.querySelector(".cell.current"), event.key);
    }
  }

  open(cell, text) {
    if (!cell || !this.options.onEdit || cell.classList.contains("editing")) return;
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
