// What would be taken back of a run, before a person agrees.

import {el, replace, say} from "./dom.js";
import {changesByField} from "./fields.js";
import {causes, line} from "./outcome.js";
import {t} from "./words.js";

const COUNTS = [["returned", "good"], ["partly", "warn"], ["kept", "warn"], ["cannot", "bad"], ["as_before", ""], ["taken_back_before", ""]];

/** Draws the plan of an undo. of: {title; about; isMovement: whether it is of stock; agree(); keep()} */
export function drawUndo({body, bar}, status, {about, title, isMovement, agree, keep}) {
  const {counts} = status;
  const lines = COUNTS.filter(([name]) => counts[name]).map(([name, kind]) => line(kind, counts[name], t(`undo.${isMovement && name === "returned" ? "answered" : name}`, {n: counts[name]})));
  replace(body, el("div.cards",
    el("section.card.wide", el("h1", `${title}: ${t("undo.title")}`), about, lines.length ? el("ul.sum", lines) : null,
      counts.returned ? el("p.soft", t("undo.text")) : el("p", t("undo.nothing")), status.notes.map((note) => el("p.soft", note))),
    status.fields.length ? el("section.card.wide", el("h2", t("undo.fields")), changesByField(status.fields)) : null,
    status.causes.length ? el("section.card.wide", el("h2", t("undo.stays")), causes(status.causes)) : null));
  bar.hidden = false;
  replace(bar, el("p.grow", t("changes.requests", {n: status.requests})), el("button", {"data-keep-run": "", onclick: keep}, t("undo.keep")),
    counts.returned ? el("button.primary", {"data-undo": "", onclick: agree}, t("undo.do", {n: counts.returned})) : null);
  say(t("undo.title"));
}
