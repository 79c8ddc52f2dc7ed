// Rows of the file in a grid: which columns tell what a row is about, and editing its cells in place.

import {get} from "./api.js";
import {blockOf, openEditor} from "./cells.js";
import {say, toast} from "./dom.js";
import {t} from "./words.js";

/** Columns that tell what a row is about; the rest is shown on request. */
export const COLUMNS = 7;
/** Rows of a block that is pasted. */
const MAX_PASTED = 500;

/** Returns the columns in the order of a grid: those with the problem, what tells the row, and on request the rest. */
export function orderOf(app, wrong, showsAll) {
  const {columns, fields} = app.review.template;
  const known = columns.map((column, index) => ({index, field: fields[column.fields[0]]}));
  const rank = ({index, field}) => {
    if (wrong.includes(index)) return 0;
    if (!field) return 4;
    return field.required ? 1 : field.name === "name" || field.name === "description" ? 2 : 3;
  };
  const sorted = known.toSorted((one, other) => rank(one) - rank(other) || one.index - other.index);
  return (showsAll ? sorted : sorted.slice(0, COLUMNS)).map(({index}) => index);
}

/** Marks a cell as `wrong` or as a `doubt`, for screen readers, too. */
export function mark(node, what, message) {
  node.classList.add(what);
  node.title = message;
  if (what === "wrong") node.setAttribute("aria-invalid", "true");
  node.setAttribute("aria-description", message);
}

/** Saves edits. Returns the answer, or null if the program refuses them: then `redraw` shows the rows as they were. */
export async function saveEdits(app, edits, redraw) {
  try {
    const answer = await app.saving.add(app.path("/edits"), edits);
    app.review.edits = answer.edits;
    app.review.revision = answer.revision;
    return answer;
  } catch (error) {
    redraw();
    app.fail(error);
    return null;
  }
}

/** Edits a cell of a grid in place. `key` replaces its text; `send` saves edits, and `undo` takes back what was pasted. */
export async function editCell(app, grid, {row, place, node, key}, send, undo) {
  const column = grid.options.order[place];
  let text = row.c[column] ?? "";
  // Of very long texts, the grid has only the beginning.
  if (row.l?.includes(column) && key === undefined) {
    try {
      ({text} = await get(app.path(`/cell?row=${row.n}&column=${column}`)));
    } catch (error) {
      return app.fail(error);
    }
    // The rows may have been drawn again meanwhile.
    node = grid.isClosed ? null : grid.current();
    if (!node || grid.get(grid.focus.row)?.n !== row.n || grid.focus.column !== place) return;
  }
  const field = app.review.template.columns[column]?.fields.map((at) => app.review.template.fields[at])[0];
  openEditor(node, {
    text: key ?? text,
    label: app.review.template.columns[column]?.name ?? "",
    allowed: field?.allowed ?? [],
    selects: key === undefined,
    done: (value, move) => {
      grid.node.focus({preventScroll: true});
      if (value !== null && value !== text) send([{row: row.n, column, text: value}]);
      grid.options.written?.();
      if (grid.isClosed) return;
      if (move) grid.move(grid.focus.row + move[0], grid.focus.column + move[1]);
      grid.schedule();
    },
    pasted: (block) => { grid.node.focus({preventScroll: true}); pasteCells(app, grid, block, send, undo); },
  });
}

/** Writes a block of cells, beginning with the current one. */
export async function pasteCells(app, grid, text, send, undo) {
  const cells = blockOf(text);
  const {row: first, column: from} = grid.focus;
  const {order} = grid.options;
  const edits = [];
  try {
    const rows = await grid.options.load(first, Math.min(cells.length, grid.options.total - first, MAX_PASTED));
    rows.forEach((row, at) => cells[at]?.forEach((text, nth) => {
      const column = order[from + nth];
      if (column !== undefined && column !== null && text !== (row.c[column] ?? "")) edits.push({row: row.n, column, text});
    }));
  } catch (error) {
    return app.fail(error);
  }
  if (!edits.length || !await send(edits)) return;
  const done = t("problems.pasted", {n: edits.length});
  toast(done, {label: t("undo"), run: undo});
  say(done);
}
