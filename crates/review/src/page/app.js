// The page: its steps, and what they share.

import {get, post, Refused} from "./api.js";
import {closeMenu, closeToasts, el, replace, say, toast} from "./dom.js";
import {runPage} from "./history.js";
import {Saving} from "./saving.js";
import {changesStep} from "./step_changes.js";
import {columnsStep} from "./step_columns.js";
import {fileStep} from "./step_file.js";
import {problemsStep} from "./step_problems.js";
import {sendStep} from "./step_send.js";
import {drawWork, guardClicks} from "./work.js";
import {load as loadWords, t} from "./words.js";

const STEPS = {file: fileStep, columns: columnsStep, problems: problemsStep, changes: changesStep, send: sendStep};
const ORDER = Object.keys(STEPS);
/** Milliseconds without an answer after which a person is told. */
const LOST = 4_000;
/** Milliseconds after which a hidden tab is not told of changes any more. */
const HIDDEN = 60_000;

export const app = {
  /** What the program has said at the start. */
  start: null,
  /** The number of the file under review. */
  id: null,
  /** What is known of the file. */
  review: null,
  step: "file",
  /** The chosen rate for requests; the usual one if empty. */
  rate: "",
  /** The parts of the step on the page. */
  view: null,
  /** Edits that are on their way. */
  saving: new Saving((answers) => {
    if (answers === true) app.found();
    if (answers === false) app.lost();
    app.view?.redraw?.();
  }),

  path(rest = "") {
    return `api/reviews/${this.id}${rest}`;
  },

  /** Changes something, and shows the result. Returns whether that was done, or `null` for a failure that `isExpected`. */
  async change(path, body, isExpected) {
    this.busy += 1;
    this.waitFor(path);
    try {
      const review = await post(this.path(path), body);
      this.take(review);
      if (review.cancelled) this.cancelled();
      return !review.cancelled;
    } catch (error) {
      if (isExpected?.(error)) return null;
      this.fail(error);
      return false;
    } finally {
      this.busy -= 1;
      if (!this.busy) document.body.removeAttribute("aria-busy");
    }
  },

  /** Changes that are under way. */
  busy: 0,

  /** Takes no clicks on the rows while many of them are changed. */
  waitFor(path) {
    if (/\/(?:fix|undo|redo)$/.test(path)) document.body.setAttribute("aria-busy", "true");
  },

  /** Says that what was cancelled has changed nothing. */
  cancelled() {
    toast(t("work.cancelled"));
    say(t("work.cancelled"));
  },

  take(review) {
    // An answer that was overtaken by a later one.
    const isOlder = (one, other) => (one ?? -1) < (other ?? -1);
    if (isOlder(review.revision, this.review?.revision) || isOlder(review.check?.revision, this.review?.check?.revision)) return;
    // What is being sent is told by events, which are newer.
    if (this.review) Object.assign(review, {status: this.review.status, comparison: this.review.comparison});
    this.review = review;
    this.drawSteps();
    this.view?.update?.();
  },

  async open(id, step = "columns") {
    this.id = id;
    this.review = null;
    this.review = await get(this.path());
    this.listen();
    this.go(step);
    this.check();
  },

  /** Checks the rows as they are now. What few edits concern was checked at once; `full` reads all rows all the same. */
  async check(full = false) {
    const id = this.id;
    this.isChecking = true;
    this.view?.update?.();
    // A verdict on rows without what was typed last would be sent.
    await this.saving.settled();
    if (id !== this.id) return;
    try {
      const review = await post(this.path("/check"), {full});
      if (id !== this.id) return;
      this.isChecking = false;
      this.isUnchecked = review.cancelled;
      this.take(review);
      if (!review.cancelled) return;
      this.view?.update?.();
      toast(t("work.unchecked"), {label: t("work.check"), run: () => this.check(full)});
    } catch (error) {
      this.isChecking = false;
      this.fail(error);
    }
  },

  /** Checks the rows in a moment, unless something else is changed before. */
  checkSoon(delay) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.check(), delay ?? (this.review.rows > 20_000 ? 1200 : 150));
  },

  /** Shows a step, and there what is named, such as the rows that are left out. */
  go(step, what) {
    if (step !== "file" && !this.review) step = "file";
    if (this.review && this.events?.readyState === EventSource.CLOSED) this.listen();
    this.show(step === "file" ? "#/" : `#/${this.id}/${step}`, step, (main, bar) => STEPS[step](this, main, bar, what));
    say(t(`step.${step}`));
    if (step === "send" || step === "changes") {
      this.check(true);
      if (this.start.service.problem) this.lookForService();
    }
    document.title = this.review && step !== "file" ? `${this.review.name} – Sheetport` : "Sheetport";
  },

  /** Asks whether somebody has signed in meanwhile. */
  async lookForService() {
    const {service} = await get("api/service").catch(() => this.start);
    if (service.problem === this.start.service.problem) return;
    this.start.service = service;
    this.drawService();
    this.view?.update?.();
  },

  /** Shows a run of the history. how: {undoes: whether to plan its undo at once; ended: how sending it has just ended} */
  openRun(run, how = {}) {
    // Browsers open few connections at a time.
    this.events?.close();
    this.show(`#/runs/${run}`, "file", (main, bar) => runPage(this, run, main, bar, how));
  },

  show(place, step, draw) {
    closeMenu();
    closeToasts();
    this.step = step;
    if (location.hash !== place) history.pushState(null, "", place);
    this.view?.close?.();
    const main = document.getElementById("main");
    const bar = document.getElementById("bar");
    replace(bar);
    bar.hidden = true;
    this.view = draw(main, bar);
    this.drawSteps();
    main.scrollTop = 0;
    main.focus({preventScroll: true});
  },

  drawSteps() {
    const at = ORDER.indexOf(this.step);
    // Nobody has to look at the changes.
    const isDone = (step, index) => index < at && (step !== "changes" || Boolean(this.review?.look));
    const list = ORDER.map((step, index) => el("li", {class: isDone(step, index) ? "done" : null},
      el("button", {
        onclick: () => this.go(step),
        disabled: index > 0 && !this.review,
        "aria-current": step === this.step ? "step" : null,
      }, el("span.number", {"aria-hidden": "true"}, isDone(step, index) ? "✓" : String(index + 1)), el("span.word", t(`step.${step}`)))));
    replace(document.getElementById("steps"), el("ol", list));
  },

  fail(error) {
    if (error instanceof Refused && error.status === 401) return locked();
    if (error instanceof Refused && error.status === 0) return this.lost();
    if (error instanceof Refused && error.status === 409) return this.check();
    toast([error.message, error.hint].filter(Boolean).join(" – "));
    if (!(error instanceof Refused)) throw error;
  },

  /** Takes that rows can't be loaded. Rows of an older check are loaded again after the next one. */
  unloaded(error) {
    if (error.status !== 409 && error.status !== 404) this.fail(error);
  },

  /** Says that the program does not answer, until it does. */
  lost() {
    const words = this.saving.isWaiting ? `${t("gone")} ${t("gone.waiting")}` : t("gone");
    if (this.banner?.words === words) return;
    this.banner?.remove();
    this.banner = {words, remove: toast(words, null, true)};
  },

  found() {
    if (!this.banner) return;
    this.banner.remove();
    this.banner = null;
    this.view?.refresh?.();
  },

  /** Says if the program does not answer for a while. */
  watch(events) {
    let timer = null;
    events.addEventListener("error", () => {
      timer ??= setTimeout(() => {
        if (events.readyState !== EventSource.OPEN && this.events === events) this.lost();
      }, LOST);
    });
    events.addEventListener("open", () => {
      clearTimeout(timer);
      timer = null;
      this.found();
    });
  },

  /** Follows what happens in the program, also through other tabs. */
  listen() {
    this.events?.close();
    drawWork(this, null);
    const events = new EventSource(this.path("/events"));
    this.watch(events);
    const id = this.id;
    events.addEventListener("message", async (event) => {
      const {revision, status, work, comparison} = JSON.parse(event.data);
      if (id !== this.id) return;
      drawWork(this, work);
      this.review.status = status;
      this.review.comparison = comparison;
      this.view?.compared?.();
      this.view?.progress?.(status);
      if (revision > this.review.revision && !this.isChecking && !this.busy) {
        try {
          const before = this.review.edits.of_others;
          this.take(await get(this.path()));
          this.view?.refresh?.();
          const {of_others, last_other} = this.review.edits;
          if (of_others > before) toast(t("others.edited", {who: last_other, n: of_others - before}));
          if (this.review.check?.revision !== this.review.revision) this.checkSoon();
        } catch (error) {
          this.fail(error);
        }
      }
    });
    this.events = events;
  },
};

/** Asks for the code that the terminal shows, as long as one is taken. */
async function locked() {
  const show = (...children) => replace(document.getElementById("main"), el("div.page", el("div.drop", el("div", children))));
  const taken = () => show(el("h1", t("locked.title")), el("p.soft", t("locked.text")));
  const {takes_code: takesCode} = await get("api/session").catch(() => ({}));
  if (!takesCode) return taken();
  const code = el("input", {type: "text", id: "code", autocomplete: "off", autocapitalize: "characters", spellcheck: "false", size: 12, required: true});
  const refused = el("p.problem", {role: "alert"});
  show(el("h1", t("code.title")), el("p.soft", t("code.text")), el("form.code", {onsubmit: async (event) => {
    event.preventDefault();
    try {
      await post("api/session", {code: code.value});
    } catch (error) {
      if (error.status === 401) return taken();
      replace(refused, error.message || t("gone"));
      return code.select();
    }
    await arrive();
  }}, el("label", {for: "code"}, t("code.label")), code, el("button.primary", t("code.open"))), refused);
  code.focus();
}

app.drawService = () => {
  const {service} = app.start;
  const node = document.getElementById("service");
  const address = service.address?.replace(/^https?:\/\//, "") ?? "";
  node.classList.toggle("problem", Boolean(service.problem));
  if (service.problem) {
    node.textContent = t(`service.${service.problem}`);
  } else {
    node.textContent = [address, service.workspace].filter(Boolean).join(" · ");
  }
};

addEventListener("popstate", async () => {
  const [, id, step] = location.hash.split("/");
  if (id === "runs") return app.openRun(Number(step));
  if (!id) return app.go("file");
  const known = STEPS[step] ? step : "columns";
  if (Number(id) === app.id && app.review) return app.go(known);
  // The file before another one was opened.
  try {
    await app.open(Number(id), known);
  } catch (error) {
    app.fail(error);
    app.go("file");
  }
});
// What is typed and not saved yet would be lost.
addEventListener("beforeunload", (event) => { if (app.saving.isWaiting) event.preventDefault(); });
// A file dropped beside the field, or at another step, must not replace the page.
addEventListener("dragover", (event) => event.preventDefault());
addEventListener("drop", (event) => {
  if (event.defaultPrevented) return;
  event.preventDefault();
  if (!app.start || !event.dataTransfer.files.length) return;
  app.go("file");
  app.view.take(event.dataTransfer.files);
});
// Browsers open few connections to a place at a time, so tabs that nobody looks at for long keep none.
let hidden = null;
document.addEventListener("visibilitychange", () => {
  clearTimeout(hidden);
  if (document.hidden) hidden = setTimeout(() => app.events?.close(), HIDDEN);
  else if (app.review && app.events?.readyState === EventSource.CLOSED && !location.hash.startsWith("#/runs/")) app.listen();
});

guardClicks();

async function begin() {
  await loadWords();
  const token = location.hash.slice(1);
  if (/^[0-9a-f]{64}$/.test(token)) {
    // The token is of no use any more, and does not belong in the history.
    history.replaceState(null, "", "#/");
    try {
      await post("api/session", {token});
    } catch (error) {
      if (error.status !== 401) throw error;
    }
  }
  await arrive();
}

/** Shows what the address names, or asks for the code. */
async function arrive() {
  const [, id, step] = location.hash.split("/");
  try {
    app.start = await get("api/start");
  } catch (error) {
    return error.status === 401 ? locked() : app.fail(error);
  }
  app.drawService();
  try {
    if (id === "runs") return app.openRun(Number(step));
    if (id) return await app.open(Number(id), STEPS[step] ? step : "columns");
    if (app.start.review) return await app.open(app.start.review);
  } catch (error) {
    if (error.status !== 404) app.fail(error);
  }
  app.go("file");
  const {failure} = app.start;
  if (failure) toast([failure.message, failure.hint].filter(Boolean).join(" – "));
}

begin();
