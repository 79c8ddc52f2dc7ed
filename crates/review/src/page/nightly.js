// The same upload every night: an inbox, and an entry of the scheduler.

import {get, post} from "./api.js";
import {el, replace} from "./dom.js";
import {command} from "./outcome.js";
import {t} from "./words.js";

/** Returns a button that shows what would be set up, and sets it up. */
export function nightly(app) {
  const node = el("div.nightly");
  replace(node, el("div.buttons", el("button", {onclick: ask}, t("nightly.begin"))));
  return node;

  async function ask() {
    let proposed;
    try {
      proposed = await get(app.path("/nightly"));
    } catch (error) {
      return app.fail(error);
    }
    const folder = el("input", {type: "text", id: "nightly-folder", value: proposed.folder, required: true});
    const at = el("input", {type: "time", id: "nightly-at", value: proposed.at, required: true});
    replace(node, el("form.nightly", {onsubmit: async (event) => {
      event.preventDefault();
      try {
        done(await post(app.path("/nightly"), {folder: folder.value.trim(), at: at.value}));
      } catch (error) {
        app.fail(error);
      }
    }}, el("h3", t("nightly.title")), el("p", t("nightly.text", {files: proposed.files})),
    el("label", {for: "nightly-folder"}, t("nightly.folder")), folder,
    el("label", {for: "nightly-at"}, t("nightly.at")), at,
    el("details", el("summary", t("nightly.job")), el("pre", {tabindex: "0"}, el("code", proposed.text))),
    el("div.buttons", el("button.primary", t("nightly.set_up")))));
    folder.focus();
  }

  function done(result) {
    const {refused, obstacles, remaining} = result;
    const isGood = !refused && !obstacles.length;
    const title = el("strong", {tabindex: "-1"}, refused ? t("nightly.not_entered") : t("nightly.done"));
    replace(node,
      el("div", {class: `notice ${isGood ? "good" : "warn"}`}, el("div.grow", title, refused ? el("p", refused.message) : null,
        obstacles.length || remaining.length ? el("ul", [...obstacles, ...remaining].map((text) => el("li", text))) : null)),
      el("dl", el("dt", t("nightly.inbox")), el("dd", el("code", result.inbox)), el("dt", t("nightly.file")), el("dd", el("code", result.file))),
      el("p.soft", t("nightly.now")), command(result.run), refused ? null : [el("p.soft", t("nightly.remove")), command(result.remove)]);
    title.focus();
  }
}
