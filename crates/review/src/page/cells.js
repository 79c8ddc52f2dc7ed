// Writing into cells: the editor in a cell, and blocks from the clipboard.

import {el} from "./dom.js";

/** Texts from here on are edited on several lines. */
const LONG = 120;

/** Returns the cells of a block as spreadsheet programs copy it: rows of cells between tabs, quoted if they have line ends. */
export function blockOf(text) {
  const rows = [];
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"(?=[\t\r\n]|$)|([^\t\r\n]*))(\t|\r\n|\n|\r|$)/g)) {
    if (!rows.length || rows.at(-1).isDone) rows.push({cells: [], isDone: false});
    rows.at(-1).cells.push(quoted?.replaceAll('""', '"') ?? plain ?? "");
    rows.at(-1).isDone = end !== "\t";
    if (end === "") break;
  }
  // Programs end the last row, too.
  if (rows.length > 1 && rows.at(-1).cells.join("") === "") rows.pop();
  return rows.map(({cells}) => cells);
}

export const isBlock = (text) => /[\t\n\r]/.test(text.replace(/\r?\n$/, ""));

/**
 * Opens an editor in a cell.
 *
 * of: {text; label; allowed: the texts that are offered; selects: whether the text is selected; done(text, move) with `null` if
 * nothing is kept, and how far to go on; pasted(text) takes a block of cells}
 */
export function openEditor(node, of) {
  const isLong = !of.allowed.length && (of.text.length > LONG || of.text.includes("\n"));
  const input = isLong
    ? el("textarea.editor.long", {"aria-label": of.label, rows: 6}, of.text)
    : el("input.editor", {type: "text", value: of.text, "aria-label": of.label, list: of.allowed.length ? "allowed" : null});
  let isDone = false;
  const finish = (keeps, move = null) => {
    if (isDone) return;
    isDone = true;
    node.classList.remove("editing");
    const {value} = input;
    input.remove();
    of.done(keeps ? value : null, move);
  };
  input.addEventListener("keydown", (event) => {
    event.stopPropagation();
    const breaksLine = isLong && (event.altKey || event.shiftKey);
    if (event.key === "Enter" && breaksLine) {
      event.preventDefault();
      input.setRangeText("\n", input.selectionStart, input.selectionEnd, "end");
    } else if (event.key === "Enter") { event.preventDefault(); finish(true, [1, 0]); }
    else if (event.key === "Tab") { event.preventDefault(); finish(true, [0, event.shiftKey ? -1 : 1]); }
    else if (event.key === "Escape") finish(false);
  });
  input.addEventListener("paste", (event) => {
    const text = event.clipboardData.getData("text/plain");
    if (isLong || !isBlock(text)) return;
    event.preventDefault();
    finish(false);
    of.pasted(text);
  });
  input.addEventListener("blur", () => finish(true));
  node.classList.add("editing");
  const values = of.allowed.length ? el("datalist", {id: "allowed"}, of.allowed.map((value) => el("option", {value}))) : null;
  if (isLong) {
    // Beside the grid, which would cut it off.
    document.getElementById("main").append(input);
    const box = node.getBoundingClientRect();
    input.style.left = `${Math.max(8, Math.min(box.left, innerWidth - input.offsetWidth - 8))}px`;
    input.style.top = `${Math.max(8, Math.min(box.top, innerHeight - input.offsetHeight - 8))}px`;
  } else {
    node.replaceChildren(...[input, values].filter(Boolean));
  }
  input.focus({preventScroll: true});
  if (of.selects) input.select();
}
