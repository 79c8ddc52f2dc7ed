// The last fix of many rows as a rule of the template, so that the next file needs none.

import {get} from "./api.js";
import {el, replace, say, toast} from "./dom.js";
import {t} from "./words.js";

/** Returns a notice that offers to keep the last fix, or says why that is not possible; `draw()` brings it up to date. `undo()` takes the last step back. */
export function memoryOf(app, undo) {
  const node = el("div.notice.memory", {role: "status"});
  /** The step for which it was asked whether the template can do it. */
  let asked = null;

  async function draw() {
    const last = app.review.edits.last_fix;
    if (!last) { asked = null; return replace(node); }
    if (asked === last.step) return;
    asked = last.step;
    replace(node, el("p.soft", t("remember.looking")));
    let answer;
    try {
      answer = await get(app.path("/remember"));
    } catch (error) {
      if (asked === last.step) replace(node);
      if (error.status === 409) { asked = null; return; }
      return app.fail(error);
    }
    if (asked !== last.step) return;
    const {why_not} = answer;
    replace(node, el("p.grow", t(last.rows ? "remember.fixed_rows" : "remember.fixed", {n: last.count}), " ", t(why_not ? `remember.${why_not}` : "remember.possible")),
      why_not ? null : el("button", {onclick: keep}, t("remember.do")));
  }

  async function keep() {
    if (!await app.change("/remember", {})) return;
    asked = null;
    replace(node);
    const done = t("remember.done", {name: app.review.template.name.split(/[\\/]/).pop()});
    toast(done, {label: t("undo"), run: undo});
    say(done);
  }

  return {node, draw};
}
