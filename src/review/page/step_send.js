// The last step: what will be sent, the progress, and the result.

import {post} from "./api.js";
import {el, replace, say, toast} from "./dom.js";
import {duration, number, t} from "./words.js";

export function sendStep(app, main, bar) {
  const body = el("div.page");
  let startedAt = 0;
  let tried = null;

  function summary() {
    const {check, template} = app.review;
    const {service} = app.start;
    const warnings = (check?.causes ?? []).filter((cause) => cause.warning);
    const kind = t(`kind.${template.record}`);
    const cards = [
      el("section.card", el("h2", t("send.what", {kind})), el("ul.sum",
        line("good", check?.to_send, t("send.ready")),
        check?.rejected ? line("bad", check.rejected, t("send.not_sent")) : null,
        check?.skipped ? line("", check.skipped, t("send.left_out")) : null,
        check?.warned ? line("warn", check.warned, t("send.warned")) : null),
      app.review.last_run ? el("p.soft", t("send.only_changed")) : null,
      check?.rejected ? el("p", el("button.link", {onclick: () => app.go("problems")}, t("send.fix_first"))) : null),
      el("section.card", el("h2", t("send.where")), service.problem
        ? el("div.notice.warn", el("span", el("strong", t(`service.${service.problem}`)), " ", t(`service.${service.problem}.hint`)))
        : el("dl", el("dt", t("send.service")), el("dd", service.address), service.workspace ? [el("dt", t("send.workspace")), el("dd", service.workspace)] : null),
      el("p.soft", t("send.rehearse_hint")), el("div.buttons", el("button", {disabled: !check?.to_send, onclick: () => start({rehearse: true})}, t("send.rehearse")))),
    ];
    if (warnings.length) {
      cards.push(el("section.card.wide", el("h2", t("send.look_at")), el("ul.sum", warnings.slice(0, 6).map((cause) =>
        line("warn", cause.count, [cause.header, cause.message].filter(Boolean).join(": "))))));
    }
    if (tried) cards.unshift(tried);
    replace(body, el("div.title", el("h1", t("send.title"))), el("div.cards", cards));
    bar.hidden = false;
    replace(bar, el("p.grow", app.isChecking ? t("checking") : ""), el("button", {onclick: () => app.go("problems")}, t("back")),
      el("button.primary", {disabled: app.isChecking || !check?.to_send || Boolean(service.problem), onclick: () => start({rehearse: false})}, app.review.last_run ? t("send.changes") : t("send.now", {n: check?.to_send ?? 0, kind})));
  }

  function line(kind, n, words) {
    return el("li", el("strong", {class: kind || null}, number(n ?? 0)), el("span", words));
  }

  async function start(request) {
    try {
      startedAt = Date.now();
      tried = null;
      const status = await post(app.path("/send"), request);
      app.review.status = status;
      draw();
    } catch (error) {
      app.fail(error);
    }
  }

  function sending(status) {
    const done = (status.sent ?? 0) + (status.failed ?? 0) + (status.unknown ?? 0);
    const isReading = status.phase === "reading";
    startedAt ||= Date.now();
    const seconds = (Date.now() - startedAt) / 1000;
    const left = done > 5 && status.pending > done ? duration(seconds / done * (status.pending - done)) : null;
    const facts = [
      status.rate ? t("send.rate", {n: Math.round(status.rate * 10) / 10}) : null,
      left ? t("send.left", {time: left}) : null,
      status.pause ? t("send.waiting", {n: status.pause}) : null,
      status.retrying ? t("send.retrying", {n: status.retrying}) : null,
    ].filter(Boolean).join(" · ");
    const bar_ = el("progress", {max: isReading ? null : Math.max(1, status.pending), value: isReading ? undefined : done, "aria-label": t("send.progress")});
    if (isReading) bar_.removeAttribute("value");
    replace(body, el("div.title", el("h1", status.rehearsal ? t("send.rehearsing") : t("send.sending"))), el("section.card",
      bar_, el("p", {class: "progress-words"}, isReading ? t("send.reading", {n: status.rows ?? 0}) : t("send.done_of", {done, n: status.pending})),
      el("p.soft", facts || " "),
      el("ul.sum", line("good", status.sent ?? 0, t("state.sent")), status.failed ? line("bad", status.failed, t("state.failed")) : null,
        status.unknown ? line("warn", status.unknown, t("state.unknown")) : null),
      el("p.soft", t("send.close_tab"))));
    bar.hidden = false;
    replace(bar, el("p.grow", status.stopping ? t("send.stopping") : ""),
      el("button", {disabled: status.stopping, onclick: () => post(app.path("/stop")).catch((error) => app.fail(error))}, t("send.pause")));
  }

  function ended(status) {
    const {counts} = status;
    if (status.rehearsal) {
      tried = el("section.card.wide", el("div", {class: counts.failed ? "notice bad" : "notice good"}, el("span.grow", el("strong", t(counts.failed ? "send.rehearsed_bad" : "send.rehearsed_good", {n: counts.sent, failed: counts.failed})), " ",
        status.forecast ? t("send.forecast", {time: duration(status.forecast.seconds), n: status.forecast.requests}) : "")),
      refused(status));
      summary();
      return say(t("send.rehearsed_good", {n: counts.sent}));
    }
    const isPaused = Boolean(status.stopped) || counts.pending > 0;
    const open = counts.failed + counts.rejected;
    const title = isPaused ? t("send.paused") : counts.failed || counts.unknown ? t("send.finished_some") : t("send.finished");
    replace(body, el("div.cards",
      el("section.card", el("h1", {class: isPaused || counts.failed ? null : "good"}, `${isPaused ? "" : counts.failed ? "" : "✓ "}${title}`),
        status.stopped && counts.pending ? el("p.soft", status.stopped) : null,
        el("ul.sum", ["sent", "unchanged", "failed", "unknown", "rejected", "skipped", "pending"].filter((name) => counts[name] || name === "sent").map((name) =>
          line({sent: "good", failed: "bad", rejected: "bad", unknown: "warn"}[name] ?? "", counts[name], t(`state.${name}`)))),
        open && !isPaused ? el("div.buttons", el("button.primary", {onclick: () => app.go("problems")}, t("send.fix_rest", {n: open}))) : null,
        refused(status),
        counts.unknown ? el("div.notice.warn", el("span", t("send.unknown_hint"), " ", el("code", status.next ?? ""))) : null,
        status.notes?.map((note) => el("p.soft", note))),
      el("section.card", el("h2", t("send.report")), el("p.soft", t("send.report_hint")),
        el("div.buttons", ["xlsx", "csv", "html"].map((format) => el("a.button", {href: app.path(`/report?format=${format}`), download: ""}, t(`send.as_${format}`)))),
        status.report ? el("p.soft", t("send.report_at", {path: status.report})) : null),
      el("section.card.wide", el("h2", t("send.same")), el("p.soft", t("send.same_hint", {n: status.run})), command(status.command))));
    bar.hidden = false;
    replace(bar, el("p.grow"), el("button", {onclick: () => app.go("file")}, t("send.another")),
      isPaused ? el("button.primary", {onclick: () => start({resume: true})}, t("send.continue", {n: counts.pending})) : null);
    say(title);
  }

  function refused(status) {
    if (!status.refused?.length) return null;
    return el("div.notice.bad", el("div.grow", el("strong", t("send.refused_because")), el("ul", status.refused.slice(0, 5).map((cause) =>
      el("li", `${number(cause.count)} × ${[cause.header, cause.message].filter(Boolean).join(": ")}`)))));
  }

  function command(text) {
    return el("div.command", el("code", text), el("button", {onclick: async () => {
      await navigator.clipboard.writeText(text);
      toast(t("copied"));
    }}, t("copy")));
  }

  function failed(status) {
    replace(body, el("div.cards", el("section.card", el("h1", t("send.failed")), el("div.notice.bad", el("span", el("strong", status.message), " ", status.hint ?? "")))));
    bar.hidden = false;
    replace(bar, el("p.grow"), el("button", {onclick: () => app.go("columns")}, t("back")),
      el("button.primary", {onclick: () => { app.review.status = {phase: "idle"}; app.check(); draw(); }}, t("send.again")));
  }

  function draw() {
    const {status, revision} = app.review;
    // After an edit, the old result gives way to what can be sent now.
    if (["ended", "failed"].includes(status.phase) && revision > status.revision) return summary();
    ({reading: sending, sending, ended, failed}[status.phase] ?? summary)(status);
  }

  function progress(status, before) {
    if (["reading", "sending"].includes(status.phase)) return sending(status);
    if (["ended", "failed"].includes(status.phase) && ["reading", "sending"].includes(before)) {
      draw();
      if (!status.rehearsal) app.check();
    }
  }

  replace(main, body);
  draw();
  return {
    update: () => { if (!["reading", "sending"].includes(app.review.status.phase)) draw(); },
    progress,
  };
}
