// The line of numbers that stays from the file to the result: 38 items = 25 ready + 12 to fix + 1 left out.

import {el} from "./dom.js";
import {has, number, t} from "./words.js";

/** Returns the line of numbers of the checked file, each of which leads to its records; while there is no check, its state. */
export function numbersLine(app) {
  const {check, template} = app.review;
  if (check?.rows === undefined) return app.isChecking ? t("checking") : app.isUnchecked ? el("button.link", {onclick: () => app.check()}, t("work.check")) : "";
  const {to_send: ready, rejected, skipped, accepted} = check;
  const all = ready + rejected + skipped + accepted;
  const words = t(template.group?.length ? (has(`numbers.${template.record}`) ? `numbers.${template.record}` : "numbers.records") : "numbers.rows", {n: all});
  const parts = [
    ["ready", ready, "good", "send"],
    ["to_fix", rejected, rejected ? "bad" : "", "problems"],
    ["left_out", skipped, "", "problems", "left-out"],
    ["there", accepted, "", "send"],
  ].filter(([name, n]) => n || name !== "there");
  return el("span.numbers", el("strong", number(all)), ` ${words} = `, parts.map(([name, n, kind, step, what], index) => [
    index ? " + " : "",
    el("button.link", {"data-count": name, disabled: !n, onclick: () => app.go(step, what)}, el("strong", {class: kind || null}, number(n)), ` ${t(`numbers.${name}`)}`),
  ]), check.warned ? [" · ", el("button.link", {"data-count": "warned", onclick: () => app.go("problems", "warnings")}, el("strong.warn", number(check.warned)), ` ${t("numbers.warned")}`)] : null,
  app.isChecking ? el("span.soft", ` · ${t("checking")}`) : null);
}
