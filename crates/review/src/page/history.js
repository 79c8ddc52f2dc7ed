// Earlier uploads: a list of runs, and the page of one.

import {begin, get, post} from "./api.js";
import {el, replace} from "./dom.js";
import {drawEnded, drawFailed, drawLooking, drawSending, isUnderWay} from "./outcome.js";
import {drawUndo} from "./undo.js";
import {ago, has, number, t, time} from "./words.js";

/** Runs shown before a person asks for more. */
const SHOWN = 6;

/** Returns the list of earlier uploads, which stays empty if there are none. */
export function earlierUploads(app) {
  const node = el("section.history", {"aria-labelledby": "history-title", hidden: true});
  load();
  return node;

  async function load() {
    let runs;
    try {
      ({runs} = await get("api/runs"));
    } catch (error) {
      return app.fail(error);
    }
    node.hidden = runs.length === 0;
    draw(runs, SHOWN);
  }

  function draw(runs, count) {
    replace(node, el("h2", {id: "history-title"}, t("history.title")),
      el("div.scroll", {tabindex: "0", role: "group", "aria-labelledby": "history-title"}, el("table",
        el("thead", el("tr", ["when", "file", "kind", "outcome"].map((name) => el("th", {scope: "col"}, t(`history.${name}`))))),
        el("tbody", runs.slice(0, count).map(row)))),
      runs.length > count ? el("button", {onclick: () => draw(runs, runs.length)}, t("history.all", {n: runs.length})) : null);
  }

  function row(run) {
    if (run.damage) return el("tr", el("td", t("history.run", {n: run.run})), el("td", {colspan: 3}, el("span.bad", run.damage)));
    return el("tr", el("td", {title: time(run.at)}, ago(run.at)), el("td", el("button.link", {onclick: () => app.openRun(run.run)}, run.name)),
      el("td", t(`kind.${run.record}`)),
      el("td", outcome(run), run.undo_of ? el("span.soft", ` · ${t("history.undo_of", {n: run.undo_of})}`) : null));
  }
}

function outcome({counts, state: told, is_plan: isPlan}) {
  // A plan is withheld if a person gives it up.
  const state = told === "withheld" && isPlan ? "given_up" : told;
  if (state === "given_up") return [el("span.soft", t("history.state.given_up"))];
  const parts = [["sent", "good"], ["failed", "bad"], ["unknown", "warn"], ["rejected", "bad"], ["pending", "warn"]].filter(([name]) => counts[name]);
  const words = parts.map(([name, kind]) => el("span", {class: kind}, `${number(counts[name])} ${t(`history.${name}`)}`));
  if (!words.length) words.push(el("span.soft", counts.unchanged ? `${number(counts.unchanged)} ${t("history.unchanged")}` : t("history.nothing")));
  if (has(`history.state.${state}`)) words.push(el("span.soft", t(`history.state.${state}`)));
  return words.flatMap((word, index) => (index ? [" · ", word] : [word]));
}

/** Shows a run: how it ended, and what is left to do. */
export function runPage(app, id, main, bar, {undoes, ended} = {}) {
  const body = el("div.page");
  const path = `api/runs/${id}`;
  let run = null;
  let startedAt = 0;
  let isClosed = false;
  replace(main, body);
  const events = new EventSource(`${path}/events`);
  events.addEventListener("message", (event) => {
    const {status} = JSON.parse(event.data);
    if (run && (isUnderWay(status) || isUnderWay(run.status))) take(status);
  });
  if (undoes) beginUndo(); else load();
  return {close: () => { isClosed = true; events.close(); }};

  async function load(isAgain = false) {
    try {
      run = await get(path);
    } catch (error) {
      if (error.status === 401) return app.fail(error);
      // The ledger may be busy for a moment.
      if (isAgain !== true) return setTimeout(() => load(true), 800);
      const words = error.status === 0 ? {message: t("gone")} : error;
      if (!isClosed) drawFailed({body, bar}, words, {back: () => app.go("file"), again: () => load()});
      return;
    }
    // Why the last attempt did not begin was told when it was made.
    if (run.status.phase === "failed") run.status = {phase: "idle"};
    if (!isClosed) draw();
  }

  function take(status) {
    // What is known before something was sent may be told late.
    if (isClosed || status.phase === "idle") return;
    const wasUnderWay = isUnderWay(run.status);
    run.status = status;
    if (isUnderWay(status) || ["failed", "undo"].includes(status.phase)) return draw();
    // What was sent again, or taken back, is a run of its own.
    if (wasUnderWay && status.run !== id) return app.openRun(status.run, {ended: status});
    load();
  }

  function draw() {
    const {status} = run;
    const parts = {body, bar};
    if (status.phase === "looking") {
      return drawLooking(parts, status, {title: t("undo.looking"), cancel: stop});
    }
    if (isUnderWay(status)) {
      startedAt ||= Date.now();
      return drawSending(parts, status, startedAt, stop);
    }
    document.title = `${run.name} – Sheetport`;
    if (status.phase === "undo") return drawUndo(parts, status, {title: run.name, about: about(), isMovement: run.record === "inventory-transaction", agree: undo, keep});
    if (status.phase === "failed") return drawFailed(parts, status, {title: status.look ? t("undo.failed") : undefined, back: () => app.go("file"), again: () => { run.status = {phase: "idle"}; load(); }});
    drawEnded(app, parts, {...run.result, notes: ended?.notes ?? [], moved: ended?.moved}, {
      run: id,
      title: run.name,
      about: about(),
      isPlan: run.is_plan && ["planned", "withheld"].includes(run.state),
      isUndo: Boolean(run.undo_of),
      undo: beginUndo,
      report: (format) => `${path}/report?format=${format}`,
      fix: run.has_plan ? fix : null,
      again,
      canRepeat: !run.retried_by,
      canResume: run.state === "stopped",
      decided: (result) => { run = {...result, status: {phase: "idle"}}; draw(); },
      cards: [],
      another: {label: t("history.back"), run: () => app.go("file")},
    });
  }

  function about() {
    const other = (run_, key) => run_ ? [" · ", el("button.link", {onclick: () => app.openRun(run_)}, t(`history.${key}`, {n: run_}))] : null;
    return el("p.soft", [time(run.at), t(`kind.${run.record}`), t("history.run", {n: id}), run.service.replace(/^https?:\/\//, ""), run.workspace].filter(Boolean).join(" · "),
      other(run.retried_by, "retried_by"), other(run.undo_of, "undo_of"), other(run.undone_by, "undone_by"));
  }

  function stop() {
    post(`${path}/stop`).catch((error) => app.fail(error));
  }

  /** Asks what would be taken back. */
  async function beginUndo() {
    try {
      if (!run) run = await get(path);
      run.status = {phase: "looking"};
      draw();
      await begin(`${path}/undo/plan`);
    } catch (error) {
      app.fail(error);
      if (!isClosed) load();
    }
  }

  async function undo() {
    const {run: planned} = run.status;
    run.status = {phase: "reading", rows: 0};
    startedAt = Date.now();
    draw();
    try {
      await begin(`${path}/undo`, {undo: planned});
    } catch (error) {
      app.fail(error);
      if (!isClosed) load();
    }
  }

  async function keep() {
    try {
      await post(`${path}/undo/forget`, {undo: run.status.run});
    } catch (error) {
      app.fail(error);
    }
    if (!isClosed) load();
  }

  async function fix() {
    try {
      const {review} = await post(`${path}/open`);
      await app.open(review, "problems");
    } catch (error) {
      app.fail(error);
    }
  }

  async function again(kind) {
    // The end may be told before the answer arrives.
    run.status = {phase: "reading", rows: 0};
    startedAt = Date.now();
    draw();
    try {
      await begin(`${path}/send`, {again: kind});
    } catch (error) {
      app.fail(error);
      if (!isClosed) load();
    }
  }
}
