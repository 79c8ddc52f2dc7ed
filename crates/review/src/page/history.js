// Earlier uploads: a list of runs, and the page of one.

import {begin, get, post} from "./api.js";
import {el, replace} from "./dom.js";
import {drawEnded, drawFailed, drawSending, isUnderWay} from "./outcome.js";
import {has, number, t, time} from "./words.js";

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
    return el("tr", el("td", time(run.at)), el("td", el("button.link", {onclick: () => app.openRun(run.run)}, run.name)),
      el("td", t(`kind.${run.record}`)), el("td", outcome(run)));
  }
}

function outcome({counts, state}) {
  const parts = [["sent", "good"], ["failed", "bad"], ["unknown", "warn"], ["rejected", "bad"], ["pending", "warn"]].filter(([name]) => counts[name]);
  const words = parts.map(([name, kind]) => el("span", {class: kind}, `${number(counts[name])} ${t(`history.${name}`)}`));
  if (!words.length) words.push(el("span.soft", counts.unchanged ? `${number(counts.unchanged)} ${t("history.unchanged")}` : t("history.nothing")));
  if (has(`history.state.${state}`)) words.push(el("span.soft", t(`history.state.${state}`)));
  return words.flatMap((word, index) => (index ? [" · ", word] : [word]));
}

/** Shows a run: how it ended, and what is left to do. */
export function runPage(app, id, main, bar) {
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
  load();
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
    if (isUnderWay(status) || status.phase === "failed") return draw();
    // What was sent again is a run of its own.
    if (wasUnderWay && status.run !== id) return app.openRun(status.run);
    load();
  }

  function draw() {
    const {status} = run;
    const parts = {body, bar};
    if (isUnderWay(status)) {
      startedAt ||= Date.now();
      return drawSending(parts, status, startedAt, () => post(`${path}/stop`).catch((error) => app.fail(error)));
    }
    if (status.phase === "failed") return drawFailed(parts, status, {back: () => app.go("file"), again: () => { run.status = {phase: "idle"}; load(); }});
    document.title = `${run.name} – Sheetport`;
    drawEnded(app, parts, run.result, {
      run: id,
      title: run.name,
      about: el("p.soft", [time(run.at), t(`kind.${run.record}`), t("history.run", {n: id}), run.service.replace(/^https?:\/\//, ""), run.workspace].filter(Boolean).join(" · "),
        run.retried_by ? [" · ", el("button.link", {onclick: () => app.openRun(run.retried_by)}, t("history.retried_by", {n: run.retried_by}))] : null),
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
