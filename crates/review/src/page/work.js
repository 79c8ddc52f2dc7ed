// Long work on the rows: its progress with a way to cancel it, and clicks that were meant for something else.

import {post} from "./api.js";
import {el, replace} from "./dom.js";
import {t} from "./words.js";

/** Milliseconds before work is told of: most of it is done by then. */
const SOON = 500;

let timer = null;
let shown = null;

/** Draws how far the work is. work: {done, all}, or null at its end */
export function drawWork(app, work) {
  const node = document.getElementById("work");
  if (!work) {
    clearTimeout(timer);
    [timer, shown] = [null, null];
    node.hidden = true;
    return;
  }
  if (shown) return shown(work);
  const path = app.path("/cancel");
  timer ??= setTimeout(() => {
    const bar = el("progress", {"aria-label": t("work.title")});
    const words = el("span.grow", {role: "status"});
    const cancel = el("button", {"data-cancel": "", onclick: () => {
      cancel.disabled = true;
      cancel.textContent = t("changes.stopping");
      post(path).catch((error) => app.fail(error));
    }}, t("changes.cancel"));
    shown = ({done, all}) => {
      bar.max = Math.max(1, all ?? 1);
      if (all) bar.value = done; else bar.removeAttribute("value");
      words.textContent = all ? t("work.of", {done, n: all}) : t("send.reading", {n: done});
    };
    shown(work);
    replace(node, bar, words, cancel);
    node.hidden = false;
  }, SOON);
}

/** Ignores the second click of a double click on what was not there at the first, and keys that are held down. */
export function guardClicks() {
  let last = null;
  addEventListener("click", (event) => {
    const button = event.target.closest?.("button, a[href]");
    if (!button) return;
    const isSame = button === last || button.dataset.again && button.dataset.again === last?.dataset.again;
    if (event.detail > 1 && !isSame) {
      event.preventDefault();
      event.stopImmediatePropagation();
    } else {
      last = button;
    }
  }, true);
  addEventListener("keydown", (event) => {
    if (event.repeat && ["Enter", " "].includes(event.key) && event.target.closest?.("button")) event.preventDefault();
  }, true);
}
