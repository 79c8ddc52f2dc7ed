// The progress and the result of sending: of a file under review, or of a run of the history.

import {get, post} from "./api.js";
import {el, replace, say, toast} from "./dom.js";
import {clock, duration, fieldName, number, t} from "./words.js";

/** Milliseconds after the click on "Send" in which another one does nothing. */
const DOUBLE_CLICK = 900;
/** Records of which nobody knows the outcome that are shown at a time. */
const UNKNOWN = 50;
/** Refused records whose reasons stand beside them, and need no list of their own. */
const LISTED = 12;

export const isUnderWay = (status) => ["reading", "sending", "looking"].includes(status.phase);

export function line(kind, n, words) {
  return el("li", el("strong", {class: kind || null}, number(n ?? 0)), el("span", words));
}

/** Draws that the service is read. of: {title; cancel() asks the program to stop} */
export function drawLooking({body, bar}, status, {title, cancel}) {
  const all = status.to_compare ?? 0;
  const bar_ = el("progress", {max: Math.max(1, all), "aria-label": title});
  if (all) bar_.value = status.compared; else bar_.removeAttribute("value");
  replace(body, el("div.title", el("h1", title)), el("section.card", bar_,
    el("p", {class: "progress-words"}, all ? t("changes.compared", {done: status.compared, n: all}) : t("send.reading", {n: status.rows ?? 0}))));
  bar.hidden = false;
  replace(bar, el("p.grow", status.stopping ? t("changes.stopping") : ""), el("button", {disabled: status.stopping, onclick: cancel}, t("changes.cancel")));
}

/** Draws what is being sent. `startedAt` is in milliseconds; `pause` asks the program to stop. */
export function drawSending({body, bar}, status, startedAt, pause) {
  const done = (status.sent ?? 0) + (status.failed ?? 0) + (status.unknown ?? 0);
  const isReading = status.phase === "reading";
  const seconds = (Date.now() - startedAt) / 1000;
  const left = done > 5 && status.pending > done ? seconds / done * (status.pending - done) : null;
  const facts = [
    status.rate ? t("send.rate", {n: Math.round(status.rate * 10) / 10}) : null,
    left ? t("send.left", {time: duration(left), at: clock(Date.now() + left * 1000)}) : null,
    status.pause ? t("send.waiting", {n: status.pause}) : null,
    status.retrying ? t("send.retrying", {n: status.retrying}) : null,
  ].filter(Boolean).join(" · ");
  const bar_ = el("progress", {max: isReading ? null : Math.max(1, status.pending), value: isReading ? undefined : done, "aria-label": t("send.progress")});
  if (isReading) bar_.removeAttribute("value");
  replace(body, el("div.title", el("h1", status.rehearsal ? t("send.rehearsing") : t("send.sending"))), el("section.card",
    bar_, el("p", {class: "progress-words"}, isReading && status.to_compare ? t("send.comparing_again", {done: status.compared, n: status.to_compare}) : isReading ? t("send.reading", {n: status.rows ?? 0}) : t("send.done_of", {done, n: status.pending})),
    el("p.soft", facts || " "),
    el("ul.sum", line("good", status.sent ?? 0, t("state.sent")), status.failed ? line("bad", status.failed, t("state.failed")) : null,
      status.unknown ? line("warn", status.unknown, t("state.unknown")) : null),
    el("p.soft", t("send.close_tab"))));
  bar.hidden = false;
  // The second click of a double click on "Send" is no wish to pause.
  const rest = DOUBLE_CLICK - (Date.now() - startedAt);
  const button = el("button", {disabled: status.stopping || rest > 0, onclick: pause}, t("send.pause"));
  if (rest > 0 && !status.stopping) setTimeout(() => { button.disabled = false; }, rest);
  replace(bar, el("p.grow", status.stopping ? t("send.stopping") : ""), button);
}

/** The code of the problem that a person has decided on. */
const DECIDED = "resolved";

/** Returns the number of records that have failed because a person says that they did not arrive. */
function missing(status) {
  return (status.refused ?? []).filter((cause) => cause.code === DECIDED).reduce((sum, cause) => sum + cause.count, 0);
}

/** The service's words, by cause. */
export function refused(status) {
  if (!status.refused?.length) return null;
  const counted = status.refused.reduce((sum, cause) => sum + cause.count, 0);
  const failed = status.counts?.failed ?? 0;
  if (missing(status) >= failed) return null;
  const shown = status.refused.filter((cause) => cause.code !== DECIDED).slice(0, 5);
  const rest = failed > counted ? el("p.soft", t("send.refused_first", {n: counted, all: status.counts.failed})) : null;
  return el("div.notice.bad", el("div.grow", el("strong", t("send.refused_because")), el("ul", shown.map((cause) =>
    el("li", `${number(cause.count)} × ${[cause.header, cause.message].filter(Boolean).join(": ")}`, cause.remedy ? el("div.soft", cause.remedy) : null))), rest));
}

/** Returns the reasons why records are not as they were meant to be, each with its first rows. */
export function causes(all) {
  return el("ul.reasons", all.map((cause) => el("li", el("strong", number(cause.count)), " × ",
    [cause.field ? fieldName({name: cause.field}) : "", cause.message].filter(Boolean).join(" "),
    cause.rows?.length ? el("span.soft", ` (${t("undo.rows", {n: cause.rows.length, rows: cause.rows.map(number).join(", ")})}${cause.count > cause.rows.length ? ", …" : ""})`) : null,
    cause.remedy ? el("div.soft", cause.remedy) : null)));
}

export function command(text) {
  return el("div.command", el("code", text), el("button", {onclick: async () => {
    await navigator.clipboard.writeText(text);
    toast(t("copied"));
  }}, t("copy")));
}

/**
 * Draws how sending has ended.
 *
 * of: {run: the number of the run; report(format) → address; fix() opens the rows that are left; again(kind) sends "rest" or
 * "failed", unless canResume or canRepeat is false; undo() begins to take it back; isUndo; decided(result) after a decision about unknown records; cards: more cards; refusals: the card with the refused rows; primary: the button for what is corrected there; another: {label, run}; kind and where: what was sent to which workspace}
 */
export function drawEnded(app, {body, bar}, status, of) {
  const {counts} = status;
  const isPaused = !status.withheld && (Boolean(status.stopped) || counts.pending > 0);
  const open = counts.failed + counts.rejected;
  const isGood = !isPaused && !open && !counts.unknown && !status.moved;
  const isNothing = !counts.sent && !counts.unchanged;
  const title = of.isPlan ? t("history.planned") : isPaused ? t("send.paused") : isGood ? t(of.isUndo ? "undo.finished" : status.approved && counts.skipped ? "send.finished_approved" : "send.finished") : isNothing && !counts.unknown ? t("send.finished_none") : t("send.finished_some");
  const lost = missing(status);
  const canGoOn = open > 0 && !isPaused && counts.unknown === 0 && of.fix;
  // What only got lost needs no fixing.
  const canRepeat = of.canRepeat !== false;
  const isOnlyLost = lost > 0 && lost === open && canRepeat;
  // What the service refused is corrected below, if it is shown there: the button is hidden then.
  const fix = !isOnlyLost && el(of.refusals ? "button" : "button.primary", {"data-fix": "", onclick: of.fix}, t("send.fix_rest", {n: open}));
  const again = counts.failed > 0 && canRepeat && el(isOnlyLost ? "button.primary" : "button", {onclick: () => of.again("failed")}, t("send.as_it_was", {n: counts.failed}));
  const lines = ["sent", "unchanged", "failed", "unknown", "rejected", "skipped", "pending"].map((name) => [name, name === "failed" ? counts.failed - lost : counts[name]]);
  replace(body, el("div.cards",
    el("section.card", el("h1", {class: isGood ? "good" : null}, `${isGood ? "✓ " : ""}${of.title ? `${of.title}: ` : ""}${title}`), of.about ?? null,
      of.where ? el("p", {"data-there": ""}, t("send.there", {n: counts.sent + counts.unchanged, all: counts.total - counts.skipped, kind: of.kind, where: of.where})) : null,
      status.stopped && counts.pending ? el("div.notice.warn", el("span", el("strong", status.stopped), status.stopped_hint ? ` – ${status.stopped_hint}` : "")) : null,
      el("ul.sum", lines.filter(([name, n]) => n || name === "sent").map(([name, n]) =>
        line({sent: "good", failed: "bad", rejected: "bad", unknown: "warn"}[name] ?? "", n, t(`state.${name}`, {n}))),
      lost ? line("bad", lost, t("state.lost")) : null),
      canGoOn ? [el("div.buttons", fix, again), again && !isOnlyLost ? el("p.soft", t("send.as_it_was_hint")) : null] : null,
      of.refusals && counts.failed <= LISTED ? null : refused(status),
      status.moved ? el("div.notice.warn", el("div.grow", el("strong", t("changes.moved_on", {n: status.moved.records})), causes(status.moved.causes))) : null,
      status.notes?.map((note) => el("p.soft", note)),
      undo(status, of)),
    el("section.card", el("h2", t("send.report")), el("p.soft", t("send.report_hint")),
      el("div.buttons", ["xlsx", "csv", "html"].map((format) => el("a.button", {href: of.report(format), download: ""}, t(`send.as_${format}`)))),
      status.report ? el("p.soft", t("send.report_at", {path: status.report})) : null),
    counts.unknown && !isPaused ? unknownRecords(app, of.run, of.decided) : null,
    of.cards));
  if (of.refusals && counts.failed > 0) body.querySelector(".cards > section").after(of.refusals);
  bar.hidden = false;
  replace(bar, el("p.grow"), of.another ? el("button", {onclick: of.another.run}, of.another.label) : null,
    isPaused ? null : of.primary,
    isPaused && of.canResume !== false ? el("button.primary", {"data-resume": "", onclick: () => of.again("rest")}, t("send.continue", {n: counts.pending})) : null);
  say(title);
}

/** Returns the way to take back what was sent, or why there is none. */
function undo(status, of) {
  if (!of.undo || status.can_undo === undefined || !(status.counts.sent || status.counts.unknown)) return null;
  if (!status.can_undo) return el("p.soft", t("undo.can_not"));
  return el("div.buttons", el("button", {"data-begin-undo": "", onclick: of.undo}, t(of.isUndo ? "undo.begin_undo" : "undo.begin")));
}

/** The records of which nobody knows whether they were applied, with the verdicts of a person. */
function unknownRecords(app, run, decided) {
  const list = el("ul.unknown");
  const all = el("div.buttons");
  const card = el("section.card.wide", {"aria-labelledby": "unknown-title"}, el("h2", {id: "unknown-title"}, t("unknown.title")),
    el("p", t("unknown.text")), all, list);
  const tell = async (records, applied) => {
    for (const button of card.querySelectorAll("button")) button.disabled = true;
    try {
      const result = await post(`api/runs/${run}/resolve`, {records, applied});
      say(t("unknown.left", {n: result.result.counts.unknown}));
      decided(result);
    } catch (error) {
      app.fail(error);
      load();
    }
  };
  const verdicts = (records, isAll, row) => [true, false].map((applied) => {
    const words = t(`unknown.${isAll ? "all" : "one"}_${applied ? "applied" : "missing"}`);
    return el("button", {"aria-label": row ? `${t("row")} ${row}: ${words}` : null, onclick: () => tell(records, applied)}, words);
  });
  async function load() {
    let answer;
    try {
      answer = await get(`api/runs/${run}/unknown?count=${UNKNOWN}`);
    } catch (error) {
      if (error.status === 0 || error.status === 401) return app.fail(error);
      return replace(list, el("li", el("span.grow", [error.message, error.hint].filter(Boolean).join(" – ")), el("button", {onclick: load}, t("send.again"))));
    }
    const {records, total} = answer;
    replace(all, total > 1 ? verdicts(null, true) : []);
    replace(list, records.map((record) => el("li",
      el("div.grow", el("strong", `${t("row")} ${record.rows.join(", ")}`), record.key ? ` · ${record.key}` : "", record.why ? el("div.soft", record.why) : null,
        el("code", bodyOf(record.body))),
      el("div.buttons", verdicts([record.seq], false, record.rows[0])))),
    total > records.length ? el("li.soft", t("unknown.more", {n: total - records.length})) : null);
  }
  load();
  return card;
}

/** Returns the fields of a request on one line. */
function bodyOf(text) {
  try {
    const text_of = (value) => (value !== null && typeof value === "object" ? JSON.stringify(value) : String(value));
    return Object.entries(JSON.parse(text)).map(([name, value]) => `${name}: ${text_of(value)}`).join(" · ");
  } catch {
    return text;
  }
}

/** Draws why nothing could be sent. */
export function drawFailed({body, bar}, status, {back, again, title}) {
  replace(body, el("div.cards", el("section.card", el("h1", title ?? t("send.failed")), el("div.notice.bad", el("span", el("strong", status.message), " ", status.hint ?? "")))));
  bar.hidden = false;
  replace(bar, el("p.grow"), back ? el("button", {onclick: back}, t("back")) : null, el("button.primary", {onclick: again}, t("send.again")));
}
