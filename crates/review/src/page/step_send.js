// The last step: what will be sent, the progress, and the result.

import {begin, post} from "./api.js";
import {el, replace, say} from "./dom.js";
import {changesByField} from "./fields.js";
import {nightly} from "./nightly.js";
import {login} from "./login.js";
import {numbersLine} from "./numbers.js";
import {command, drawEnded, drawFailed, drawLooking, drawSending, isUnderWay, line, refused} from "./outcome.js";
import {SAMPLE} from "./step_file.js";
import {currentLook, forget} from "./step_changes.js";
import {refusedRows} from "./refused.js";
import {duration, inSentence, number, t} from "./words.js";

/** The rates that can be chosen; the first one is the usual one. */
const RATES = ["", "1/s", "2/s", "5/s", "10/s", "20/s", "50/s"];

export function sendStep(app, main, bar) {
  const body = el("div.page.narrow");
  const differs = el("section.card", {"aria-live": "polite"});
  const forecast = el("span");
  let pacesOpen = false;
  let startedAt = 0;
  let tried = null;
  /** The chosen rate, and what it is. */
  let {rate} = app;
  let pace = null;
  let leavesOut = true;
  /** Whether the other lines of orders are sent, too. */
  let keepsLines = false;
  /** Whether what the service has is read before sending, so that it can be taken back. */
  let keepsWayBack = false;
  /** The revision for which a comparison was asked for. */
  let asked = null;

  function summary() {
    const {check} = app.review;
    const {service} = app.start;
    const warnings = (check?.causes ?? []).filter((cause) => cause.warning);
    const isAsked = (check?.causes ?? []).some((cause) => cause.asks === "file");
    const {look} = app.review;
    const isOutdated = Boolean(look) && !currentLook(app.review);
    const cards = [
      tried,
      service.problem ? (isSample() ? null : signIn()) : look ? looked(look, isOutdated) : check?.to_send ? differs : null,
      warnings.length ? el("section.card", el("h2", t("send.look_at")), el("ul.sum", warnings.slice(0, 6).map((cause) =>
        line("warn", cause.count, [cause.header, cause.message].filter(Boolean).join(": "))))) : null,
      el("section.card", el("details", {open: pacesOpen || isSample() || null, ontoggle: (event) => { pacesOpen = event.target.open; }}, el("summary", t("send.more")),
        service.problem ? null : el("dl", el("dt", t("send.service")), el("dd", service.address), service.workspace ? [el("dt", t("send.workspace")), el("dd", service.workspace)] : null,
          el("dt", el("label", {for: "rate"}, t("send.speed"))), el("dd", rates())),
        el("p.soft", t("send.rehearse_hint")), el("div.buttons", el("button", {disabled: !check?.to_send, onclick: () => start({rehearse: true})}, t("send.rehearse"))))),
    ];
    replace(body, el("div.title", el("h1", {"data-sentence": ""}, sentence())), facts(isAsked), el("div.cards", cards));
    bar.hidden = false;
    replace(bar, el("p.grow", numbersLine(app)), el("button", {onclick: () => app.go("problems")}, t("back")),
      el("button.primary", {"data-send": "", disabled: app.isChecking || app.saving.isWaiting || isAsked || !toSend() || isOutdated || Boolean(service.problem) || isSample(), onclick: () => start({rehearse: false})}, sendWords()));
    compare();
    drawComparison();
  }

  let form = null;
  /** Returns the form for the address and the tokens: one for all drawings, so that what is typed there stays. */
  const signIn = () => { form ??= login(app, draw); return form; };
  const isSample = () => app.review.name === SAMPLE;
  const kindOf = () => inSentence(t(`kind.${app.review.template.record}`));
  const placeOf = ({address, workspace}) => workspace || (address ?? "").replace(/^https?:\/\//, "");

  /** Says in one sentence what will happen. */
  function sentence() {
    const {check} = app.review;
    const {service} = app.start;
    if (check?.rows === undefined) return t("send.title");
    const all = check.to_send + check.rejected + check.accepted;
    return service.problem ? t("send.ready_for", {n: check.to_send, all, kind: kindOf()}) : t("send.sentence", {n: toSend(), all, kind: kindOf(), where: placeOf(service)});
  }

  function sendWords() {
    return app.review.last_run && !app.review.look ? t("send.changes") : t("send.now", {n: toSend()});
  }

  /** Returns what a person should know before sending. */
  function facts(isAsked) {
    const {check, last_run, last_was_approved, look, report_of} = app.review;
    const link = (words) => el("button.link", {onclick: () => app.go("problems")}, words);
    return el("div.facts_", isSample() ? el("p", t("send.sample")) : null, el("p.soft", forecast),
      last_run ? el("p.soft", t("send.only_changed")) : null,
      last_was_approved && !look ? el("p.warn", {"data-left-out": ""}, t("send.left_out_before")) : null,
      report_of ? el("p.soft", t("send.report_of", {n: report_of})) : null,
      isAsked ? el("p", link(t("send.answer_first"))) : null,
      check?.rejected ? el("p", t("send.not_sent_n", {n: check.rejected}), " ", link(t("send.fix_first"))) : null);
  }

  /** Returns what is said about a look at the changes. */
  function looked(look, isOutdated) {
    const again = el("button", {"data-changes": "", onclick: () => app.go("changes")}, t(isOutdated ? "changes.again" : "changes.look"));
    const without = el("button.link", {"data-forget": "", onclick: () => forget(app)}, t(isOutdated ? "changes.no_look" : "changes.forget"));
    return el("section.card", el("h2", t("changes.title")), isOutdated
      ? el("div.notice.warn", el("span.grow", el("strong", t("changes.outdated")), " ", t("changes.outdated_text")))
      : el("p", t("changes.sends", {n: look.approved, all: look.sendable})), el("div.buttons", again, without));
  }

  /** Asks what would change in the service, once for each state of the file. */
  async function compare() {
    const {check, revision} = app.review;
    if (app.start.service.problem || app.isChecking || !check?.to_send || app.review.look || asked === revision) return;
    asked = revision;
    try {
      const answer = await post(app.path("/compare"), {rate, keep_lines: keepsLines});
      pace = answer;
      app.review.comparison = answer.comparison;
      drawComparison();
    } catch (error) {
      app.fail(error);
    }
  }

  /** Returns the comparison of the file as it is now, if there is one. */
  function comparison() {
    const {comparison: found, revision} = app.review;
    return found?.revision === revision ? found : null;
  }

  function toSend() {
    if (app.review.look) return currentLook(app.review)?.approved ?? 0;
    const found = comparison();
    const same = found?.phase === "done" && leavesOut && canLeaveOut() ? found.unchanged : 0;
    return Math.max(0, (app.review.check?.to_send ?? 0) - same);
  }

  const canLeaveOut = () => app.review.has_key && !app.review.last_run && (comparison()?.unchanged ?? 0) > 0;

  function rates() {
    return el("select", {id: "rate", onchange: async (event) => {
      rate = event.target.value;
      app.rate = rate;
      try {
        pace = await post(app.path("/compare"), {rate, keep_lines: keepsLines});
        drawComparison();
      } catch (error) {
        app.fail(error);
      }
    }}, RATES.map((value) => el("option", {value, selected: value === rate}, value ? t("send.rate", {n: Number.parseFloat(value)}) : rate ? t("send.rate_usual") : usualRate())));
  }

  function usualRate() {
    if (!pace?.rate) return t("send.rate_free");
    return pace.rate === "auto" ? t("send.rate_auto") : pace.rate;
  }

  function drawComparison() {
    const found = comparison();
    const n = toSend();
    replace(forecast, app.start.service.problem ? "" : pace?.per_second ? t("send.takes_about", {time: duration(n / pace.per_second), n}) : t("send.takes_unknown"));
    const said = body.querySelector("[data-sentence]");
    if (said) said.textContent = sentence();
    const usual = body.querySelector("#rate option");
    if (usual && !rate) usual.textContent = usualRate();
    const button = bar.querySelector("[data-send]");
    if (button) button.textContent = sendWords();
    if (app.review.look) return undefined;
    if (!found || found.phase === "running") {
      const bar_ = el("progress", {max: Math.max(1, found?.all ?? 1), "aria-label": t("compare.running")});
      if (found?.all) bar_.value = found.done; else bar_.removeAttribute("value");
      return replace(differs, el("h2", t("compare.title")), bar_, el("p.soft", t("compare.running")), offers());
    }
    if (found.phase === "failed") {
      return replace(differs, el("h2", t("compare.title")), el("div.notice.warn", el("span", t("compare.failed"), " ", found.message, found.hint ? ` – ${found.hint}` : "")), offers());
    }
    const kinds = [["good", "new"], ["", "changed"], ["", "unchanged"], ["", "unclear"], ["bad", "missing"]].filter(([, name]) => found[name]);
    const looked = found.new + found.changed + found.unchanged + found.unclear + found.missing;
    const rest = found.not_compared ? el("p.soft", found.is_sample ? t("compare.sample", {n: looked, all: looked + found.not_compared}) : t("compare.not_compared", {n: found.not_compared, why: found.why_not ?? ""})) : null;
    // Nothing invites to send what would all be refused.
    button?.classList.toggle("primary", found.missing < looked || !looked);
    replace(differs, el("h2", t("compare.title")),
      found.missing ? el("div.notice.bad", el("span", el("strong", t("compare.missing_title", {n: found.missing, all: looked})), " ", t("compare.missing_hint"))) : null,
      el("ul.sum", kinds.map(([kind, name]) => line(kind, found[name], t(`compare.${name}`, {n: found[name]})))),
      rest,
      found.fields.length ? changesByField(found.fields) : null,
      found.unknown.length ? el("div.notice.bad", el("div.grow", el("strong", t("compare.unknown")), el("ul", found.unknown.map((cause) =>
        el("li", `${number(cause.count)} × ${[cause.header, cause.value ? t("compare.such_as", {value: cause.value}) : "", cause.message].filter(Boolean).join(" ")}`))))) : null,
      lines(found),
      canLeaveOut() ? el("label.check", el("input", {type: "checkbox", checked: leavesOut, onchange: (event) => { leavesOut = event.target.checked; drawComparison(); }}), ` ${t("compare.leave_out", {n: found.unchanged})}`) : null,
      found.notes.map((note) => el("p.soft", note)), offers());
  }

  /** Returns the ways to look at each change before sending, and to be able to take it back. */
  function offers() {
    if (app.review.report_of) return null;
    return [
      el("label.check", el("input", {type: "checkbox", "data-undoable": "", checked: keepsWayBack, onchange: (event) => { keepsWayBack = event.target.checked; }}), ` ${t("send.undoable")}`),
      el("div.buttons", el("button", {"data-changes": "", onclick: () => app.go("changes")}, t("changes.show"))),
    ];
  }

  /** Returns what is said about lines that only the service has, with the choice to keep them. */
  function lines(found) {
    const canKeep = found.keep_lines || found.lines.some((cause) => cause.code === "fewer-lines");
    const told = found.lines.map((cause) => el("li", [`${number(cause.count)} ×`, cause.value, cause.message].filter(Boolean).join(" ")));
    return [
      told.length ? el("div.notice.warn", el("div.grow", el("strong", t("compare.lines")), el("ul", told))) : null,
      canKeep ? el("label.check", el("input", {type: "checkbox", "data-keep": "", checked: keepsLines, onchange: (event) => { keepsLines = event.target.checked; asked = null; compare(); }}), ` ${t("compare.keep_lines")}`) : null,
    ];
  }

  async function start(request) {
    const choice = {rate: rate || null, changed_only: !request.rehearse && canLeaveOut() && leavesOut, keep_lines: !request.rehearse && keepsLines, undoable: keepsWayBack};
    const look = currentLook(app.review);
    if (look && !request.rehearse && !request.again) choice.plan = {run: look.run, version: look.version};
    startedAt = Date.now();
    tried = null;
    kept = null;
    refusals.close();
    // Sending ends a comparison under way.
    if (comparison()?.phase !== "done") asked = null;
    const before = app.review.status;
    // The end may be told before the answer arrives.
    app.review.status = {phase: "reading", rehearsal: Boolean(request.rehearse), rows: 0};
    draw();
    try {
      await begin(app.path("/send"), {...choice, ...request});
    } catch (error) {
      app.review.status = before;
      draw();
      app.fail(error);
    }
  }

  const parts = {body, bar};
  // One for all drawings, so that what is typed there stays.
  const everyNight = nightly(app);
  /** The newest revision to which the result belongs: what is corrected in it does not end it. */
  let kept = null;
  const refusals = refusedRows(app, {saved: (revision) => { kept = Math.max(kept ?? 0, revision); }, changed: () => drawCorrected()});
  /** Whether the result of the last sending belongs to the rows as they are. */
  const isCurrent = (status) => app.review.revision <= Math.max(status.revision ?? 0, kept ?? 0);

  /** Draws the button that sends the corrected rows again. */
  function drawCorrected() {
    const n = refusals.corrected();
    const fix = body.querySelector("[data-fix]");
    if (fix) fix.hidden = app.isChecking || !refusals.node.hidden && !app.review.status.counts?.rejected;
    const button = bar.querySelector("[data-send-corrected]");
    if (!button) return;
    button.hidden = refusals.node.hidden;
    button.disabled = !n || app.saving.isWaiting;
    button.textContent = n ? t("refused.send", {n}) : t("refused.send_none");
  }

  function sending(status) {
    const stop = () => post(app.path("/stop")).catch((error) => app.fail(error));
    if (status.phase === "looking") return drawLooking(parts, status, {title: t("changes.looking"), cancel: stop});
    startedAt ||= Date.now();
    drawSending(parts, status, startedAt, stop);
  }

  function ended(status) {
    const {counts} = status;
    if (status.rehearsal) {
      tried = el("section.card", el("div", {class: counts.failed ? "notice bad" : "notice good"}, el("span.grow", el("strong", t(counts.failed ? "send.rehearsed_bad" : "send.rehearsed_good", {n: counts.sent, failed: counts.failed})), " ",
        status.forecast ? t("send.forecast", {time: duration(status.forecast.seconds), n: status.forecast.requests}) : "")),
      refused(status));
      summary();
      return say(t("send.rehearsed_good", {n: counts.sent}));
    }
    drawEnded(app, parts, status, {
      run: status.run,
      report: (format) => app.path(`/report?format=${format}`),
      fix: () => app.go("problems"),
      again: (kind) => start({again: kind}),
      undo: () => app.openRun(status.run, {undoes: true}),
      decided: ({result}) => { Object.assign(status, {counts: result.counts, refused: result.refused, next: result.next}); draw(); },
      cards: el("section.card", el("h2", t("send.same")), el("p.soft", t("send.same_hint", {n: status.run})), command(status.command), everyNight),
      kind: kindOf(),
      where: placeOf(app.start.service),
      refusals: refusals.node,
      primary: counts.failed ? el("button.primary", {"data-send-corrected": "", hidden: true, onclick: () => start({rehearse: false})}, "") : null,
      another: {label: t("send.another"), run: () => app.go("file")},
    });
    showRefusals(status);
  }

  /** Shows the refused rows once a check has found them. */
  function showRefusals(status) {
    const isKnown = app.review.last_run === status.run && app.review.check?.revision === app.review.revision && !app.isChecking;
    if (status.counts.failed && isKnown) refusals.update();
    else if (!kept) refusals.node.hidden = true;
    drawCorrected();
  }

  function failed(status) {
    drawFailed(parts, status, {back: () => app.go("columns"), again: () => { app.review.status = {phase: "idle"}; app.check(); draw(); }});
  }

  /** The result that is shown. */
  let drawn = "";

  function draw() {
    const {status} = app.review;
    drawn = status.phase === "ended" ? JSON.stringify(status) : "";
    // After an edit, the old result gives way to what can be sent now.
    if (["ended", "failed"].includes(status.phase) && (!isCurrent(status) || status.look)) return summary();
    ({reading: sending, sending, looking: sending, ended, failed}[status.phase] ?? summary)(status);
  }

  /** Whether the result of sending is shown as it is. */
  function isShown() {
    const {status} = app.review;
    return status.phase === "ended" && !status.rehearsal && isCurrent(status) && drawn === JSON.stringify(status);
  }

  /** Messages also tell of other things, so that the same end comes several times. */
  let shown = "";

  function progress(status) {
    if (isUnderWay(status)) return sending(status);
    if (status.phase === "looked") return draw();
    const end = JSON.stringify(status);
    if (!["ended", "failed"].includes(status.phase) || end === shown) return;
    shown = end;
    draw();
    if (!status.rehearsal) app.check();
  }

  replace(main, body);
  shown = JSON.stringify(app.review.status);
  draw();
  return {
    compared: () => { if (body.contains(differs)) drawComparison(); },
    update: () => {
      if (isUnderWay(app.review.status)) return;
      if (isShown()) showRefusals(app.review.status);
      else draw();
    },
    progress,
    refresh: refusals.refresh,
    redraw: () => { refusals.redraw(); drawCorrected(); },
    close: refusals.close,
  };
}
