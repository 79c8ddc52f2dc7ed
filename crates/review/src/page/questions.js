// The questions about the columns of a file: each is a card with values, which a person answers with a click.

import {el, menu} from "./dom.js";
import {fieldName, has, inSentence, t} from "./words.js";

/** Values shown of a column. */
const SAMPLES = 3;

/** Whether nobody has decided about the columns before. */
const isProposed = (origin) => origin === "proposed" || origin === "built-in";

/** Returns what a column without a field is asked to be: its index and the field that is still open for such values. */
function openColumns({columns, fields, origin}) {
  if (!isProposed(origin)) return [];
  const asked = new Map();
  for (const field of fields) {
    if (!field.asks) continue;
    // One field for values of a kind is enough.
    const known = asked.get(field.asks) ?? {field, isMapped: false};
    known.isMapped ||= field.mapped;
    asked.set(field.asks, known);
  }
  return columns.flatMap((column, index) => {
    const {field, isMapped} = (!column.fields.length && asked.get(column.looks)) || {isMapped: true};
    return isMapped ? [] : [{index, field}];
  });
}

/** Whether no column gives the lines of orders. */
const lacksLines = ({record, fields, origin}) => isProposed(origin) && record === "order" && !fields.some((field) => field.line && field.mapped);

/** Answers that are no change of the template, by file: columns that stay unused. */
const left = new Map();
const leftOf = ({id}) => {
  if (!left.has(id)) left.set(id, new Set());
  return left.get(id);
};

/** Returns whether a question is open, so that nothing is sent before it is answered. */
export function hasQuestions(app) {
  const {template} = app.review;
  const known = leftOf(app);
  return template.kind_guess || template.group_guess || template.fields.some((field) => field.guess)
    || openColumns(template).some(({index}) => !known.has(index)) || (lacksLines(template) && !known.has("lines"));
}

/**
 * Returns the cards of the open questions.
 *
 * of: {change(edit) changes the template; fields(button, column) offers the fields of a column; choose(button, field) offers the
 * columns for a field; show(column) scrolls to a column; redraw()}
 */
export function questionCards(app, of) {
  const {template} = app.review;
  const known = leftOf(app);
  const cards = [];
  const leave = (key) => () => { known.add(key); of.redraw(); };
  const yes = (change) => el("button.primary", {"data-yes": "", onclick: () => of.change(change)}, t("yes"));
  if (template.kind_guess) {
    cards.push(card("kind", t("ask.kind", {kind: inSentence(t(`kind.${template.record}`))}), [], t("ask.kind_hint"), [yes({kind: "confirm", field: "record"})]));
  }
  if (template.group_guess) {
    const names = template.group.map((index) => nameOf(template.columns[index])).join(", ");
    cards.push(card("group", t("ask.group", {columns: names, kind: t(`kind.${template.record}`)}), samplesOf(template.columns[template.group[0]]), null, [yes({kind: "confirm", field: "group"})]));
  }
  template.fields.forEach((field) => {
    if (!field.guess) return;
    const [index] = field.columns;
    const column = template.columns[index];
    const title = column ? t("ask.column", {column: nameOf(column), field: inSentence(fieldName(field))}) : t("ask.constant", {field: fieldName(field), value: field.constant ?? ""});
    const other = el("button", {"aria-haspopup": "menu", onclick: () => (column ? of.fields(other, index) : of.choose(other, field))}, t(column ? "ask.other_field" : "ask.other_value"));
    cards.push(card(field.path, title, samplesOf(column), field.reason, [yes({kind: "confirm", field: field.path}), other,
      el("button", {onclick: () => of.change({kind: "remove", field: field.path})}, t("ask.leave"))], () => of.show(index)));
  });
  for (const {index, field} of openColumns(template)) {
    if (known.has(index)) continue;
    const column = template.columns[index];
    const other = el("button", {"aria-haspopup": "menu", onclick: () => of.fields(other, index)}, t("ask.other_field"));
    cards.push(card(`column-${index}`, t("ask.unused", {column: nameOf(column), field: inSentence(fieldName(field))}), samplesOf(column), null, [
      yes({kind: "column", field: field.path, column: index}), other, el("button", {"data-leave": "", onclick: leave(index)}, t("ask.leave"))], () => of.show(index)));
  }
  if (lacksLines(template) && !known.has("lines")) {
    const item = template.fields.findLast((field) => field.line && field.asks === "code") ?? template.fields.find((field) => field.line);
    const choose = el("button.primary", {"aria-haspopup": "menu", onclick: () => of.choose(choose, item)}, t("columns.choose_column"));
    cards.push(card("lines", t("ask.lines", {field: inSentence(fieldName(item))}), [], t("ask.lines_hint"), [choose, el("button", {"data-leave": "", onclick: leave("lines")}, t("ask.no_lines"))]));
  }
  return cards;
}

const nameOf = (column) => column?.name || (column ? t("columns.column", {letter: column.letter}) : "");
const samplesOf = (column) => (column?.samples ?? []).slice(0, SAMPLES);

function card(key, title, samples, hint, buttons, show) {
  return el("section.card.question", {"data-question": key, onpointerenter: show ?? null, onfocusin: show ?? null},
    el("h2", title), samples.length ? el("p.samples", samples.map((text) => el("span", text))) : null, hint ? el("p.soft", hint) : null, el("div.buttons", buttons));
}

/** Opens the menu of the fields that a column can have. of: {change(edit); remove(fields)} */
export function fieldMenu(button, {columns, fields}, index, of) {
  const used = (columns[index]?.fields ?? []).map((at) => fields[at]);
  const items = [];
  const guess = used.find((field) => field.guess);
  if (guess) {
    items.push({heading: guess.reason ?? t("confidence.guess")});
    items.push({label: t("columns.confirm", {field: fieldName(guess)}), run: () => of.change({kind: "confirm", field: guess.path})});
  }
  items.push({heading: t("columns.field_for", {column: nameOf(columns[index])})});
  for (const field of fields) {
    items.push({
      label: fieldName(field) + (field.line ? ` (${t("columns.of_line")})` : "") + (field.required ? " *" : ""),
      hint: field.mapped && !field.columns.includes(index) ? t("columns.taken") : docOf(field),
      checked: field.columns.includes(index),
      run: () => of.change({kind: "column", field: field.path, column: index}),
    });
  }
  if (used.length) items.push({label: t("columns.leave_out"), checked: false, run: () => of.remove(used)});
  menu(button, items);
}

export const docOf = (field) => (has(`doc.${field.name}`) ? t(`doc.${field.name}`) : field.doc);
