// What is changed in the service, by field: how often, what is odd about it, and examples.

import {el} from "./dom.js";
import {fieldName, number, t} from "./words.js";

/** Returns a list of the changed fields. `title(change)` is shown instead of the name of a field. */
export function changesByField(fields, title = (change) => el("strong", fieldName({name: change.field}))) {
  return el("ul.changes", fields.map((change) => el("li", title(change), ` · ${t("compare.records", {n: change.count})}`, usual(change),
    change.odd.map(([what, n]) => el("div.warn", t(`compare.${what}`, {n}))),
    change.as_sent ? el("div.soft", t("changes.as_sent")) : null,
    change.samples.map(([name, before, after]) => el("div.soft", `${name}: `, oldAndNew(before, after))))));
}

/** Returns an old value, struck through, beside the new one. */
export function oldAndNew(before, after) {
  return [el("del", before || t("problems.blank")), " → ", el("ins", after || t("problems.blank"))];
}

/** Returns what most changes of numbers have in common. */
function usual(change) {
  if (change.factor) return ` · ${t("compare.factor", {factor: number(Math.round(change.factor * 10000) / 10000)})}`;
  if (!change.median) return "";
  const percent = Math.round((change.median - 1) * 1000) / 10;
  return ` · ${t("changes.median", {n: `${percent > 0 ? "+" : ""}${number(percent)}`})}`;
}
