// The third step: problems by cause, and the rows of each, edited in place.

import {get, post} from "./api.js";
import {blockOf, openEditor} from "./cells.js";
import {el, replace, say, toast} from "./dom.js";
import {Grid} from "./grid.js";
import {causeTitle, fieldName, number, t} from "./words.js";

/** Rows of a block that is pasted. */
const MAX_PASTED = 500;

export function problemsStep(app, main, bar) {
  const counts = el("ul.counts", {"aria-label": t("problems.counts")});
  const tools = el("div.buttons");
  const list = el("nav.causes", {"aria-label": t("problems.causes")});
  const detail = el("section.detail", {"aria-label": t("problems.rows")});
  const split = el("div.split", list, detail);
  const memory = el("div.notice.memory", {role: "status"});
  /** The step for which it was asked whether the template can do it. */
  let asked = null;
  const body = el("div.page.fill", el("div.title", el("h1", t("problems.title")), el("span.grow"), tools), counts, memory, split);
  let cause = null;
  let grid = null;
  /** The row numbers that were edited and are right now. */
  const fixed = new Map();

  const causes = () => (app.review.check?.causes ?? []);
  const same = (one, other) => one && other && one.code === other.code && one.column === other.column && one.field === other.field
    && one.message === other.message && one.warning === other.warning && one.refusal === other.refusal;

  function drawCounts() {
    const all = causes();
    const {check, edits} = app.review;
    replace(counts, count("good", check?.to_send, "problems.ready"), count("bad", check?.rejected, "problems.to_fix"),
      refusals(all) ? count("bad", refusals(all), "problems.refused") : null,
      check?.warned ? count("warn", check.warned, "problems.warned") : null,
      check?.skipped ? count("", check.skipped, "problems.left_out") : null,
      edits.cells ? count("", edits.cells, "problems.edited") : null);
  }

  function update() {
    const all = causes();
    const {check, edits} = app.review;
    drawCounts();
    replace(tools, el("button", {disabled: !edits.can_undo, onclick: undo}, `↶ ${t("undo")}`),
      el("button", {disabled: !edits.can_redo, onclick: () => app.change("/redo")}, `↷ ${t("redo")}`));
    drawBar();
    drawMemory();
    // What the list shows first.
    const next = all.find((it) => same(it, cause)) ?? all.find((it) => it.refusal) ?? all[0];
    drawList(all, next);
    if (!all.length) {
      cause = null;
      closeGrid();
      replace(detail);
      replace(split, el("div.empty", el("div", el("div.big", {"aria-hidden": "true"}, "✓"),
        el("h2", app.isChecking ? t("checking") : check?.rows === undefined ? t("problems.not_checked") : t("problems.none")),
        check?.rows === undefined ? mistakes() : el("p.soft", t("problems.none_text", {n: check.to_send})))));
      return;
    }
    if (!split.contains(list)) replace(split, list, detail);
    if (!same(next, cause) || !grid) show(next);
    else {
      cause = next;
      grid.setTotal(next.of_file ? 0 : rowsOf(next));
      grid.refresh();
      drawAbout();
    }
  }

  /** Takes the last step back, and says if that concerns the template. */
  async function undo() {
    const {undo_template} = app.review.edits;
    if (!await app.change("/undo") || !undo_template) return;
    toast(t(`remember.${undo_template}`));
    say(t(`remember.${undo_template}`));
  }

  function mistakes() {
    return el("ul.mistakes", (app.review.check?.mistakes ?? []).map((it) => el("li", it.message, it.hint ? ` – ${it.hint}` : "")));
  }

  const refusals = (all) => all.filter((it) => it.refusal).reduce((sum, it) => sum + it.count, 0);
  const rowsOf = (it) => it.count;

  function count(kind, n, key) {
    return el("li", {class: kind || null}, el("strong", number(n ?? 0)), t(key, {n: n ?? 0}));
  }

  function drawList(all, current) {
    const group = (title, some) => some.length ? [el("section", el("h2", title), el("ul", some.map((it) => entry(it, current))))] : [];
    replace(list, group(t("problems.group_refused"), all.filter((it) => it.refusal)),
      group(t("problems.group_errors"), all.filter((it) => !it.warning && !it.refusal)),
      group(t("problems.group_warnings"), all.filter((it) => it.warning)));
  }

  function entry(it, current) {
    const place = it.header || (it.field ? fieldName({name: it.field}) : "");
    const value = it.value && ["unknown-value", "duplicate"].includes(it.code) ? ` ${t("quoted", {value: it.value})}` : "";
    return el("li", {class: it.warning ? "warning" : null}, el("button", {
      "aria-current": it === current ? "true" : null,
      onclick: () => show(it),
    }, el("span.count", it.of_file ? "!" : number(it.count)), el("span", causeTitle(it) + value),
    el("span.where", [place, it.of_file ? t("problems.whole_file") : null].filter(Boolean).join(" · "))));
  }

  function closeGrid() {
    grid?.close();
    grid = null;
  }

  function show(it) {
    cause = it;
    closeGrid();
    for (const node of list.querySelectorAll("[aria-current]")) node.removeAttribute("aria-current");
    drawList(causes(), it);
    replace(detail, about, fixes, rows);
    drawAbout();
    if (it.of_file) {
      replace(rows);
      return;
    }
    const {columns} = app.review.template;
    // The column of the problem comes first, then those that tell what the row is about.
    const order = columns.map((_, index) => index);
    if (it.column !== null && it.column !== undefined) order.splice(0, 0, ...order.splice(order.indexOf(it.column), 1));
    grid = new Grid({
      label: t("problems.rows_of", {cause: causeTitle(it)}),
      columns: order.map((index) => ({label: columns[index]?.name || columns[index]?.letter || "", width: index === it.column ? 230 : 150})),
      total: rowsOf(it),
      order,
      onPaste: paste,
      textOf: (row, place) => row.c[order[place]] ?? "",
      load: async (from, count) => (await get(app.path(`/causes/${cause.number}/rows?from=${from}&count=${count}`))).rows,
      classOf: (row) => `${row.x ? "out" : ""} ${fixed.get(row.n) === true ? "fixed" : ""}`,
      number: (row) => rowButton(row),
      cell: (row, place, node) => draw(row, order[place], node),
      head: (place) => el("span.letters", {title: columns[order[place]]?.name ?? ""}, columns[order[place]]?.name || columns[order[place]]?.letter || ""),
      onEdit: (row, place, node, key) => edit(row, order[place], node, key),
      editsAtOnce: true,
    });
    replace(rows, grid.node);
  }
  const about = el("div.about");
  const fixes = el("div.fixes");
  const rows = el("div.rows_of_cause");

  function rowButton(row) {
    const isDone = fixed.get(row.n) === true;
    return el("button.link", {
      tabindex: "-1",
      title: row.x ? t("problems.take_back") : t("problems.leave_row_out"),
      "aria-label": `${row.n}: ${row.x ? t("problems.take_back") : t("problems.leave_row_out")}`,
      onclick: () => send([{row: row.n, column: null, text: row.x ? null : "left-out"}]),
    }, isDone ? `✓ ${row.n}` : String(row.n));
  }

  function draw(row, column, node) {
    const text = row.c[column] ?? "";
    node.textContent = text;
    if (text.length > 18) node.title = text;
    const before = row.e?.[column];
    if (before !== undefined) {
      node.classList.add("edited");
      node.append(el("span.was", {title: t("problems.was", {value: before})}, before || t("problems.blank")));
    }
    const state = fixed.get(row.n);
    const own = Array.isArray(state) ? state.find((problem) => problem.column === column) : null;
    if (own) {
      node.classList.add("wrong");
      node.title = own.message;
      return;
    }
    if (state === true || row.x) return;
    const of = (row.p ?? []).filter(([at]) => at === column).map(([, number]) => causes().find((it) => it.number === number)).filter(Boolean);
    const isOfCause = column === cause.column && !Array.isArray(state);
    if (of.length || isOfCause) {
      const worst = of.find((it) => !it.warning) ?? of[0] ?? cause;
      node.classList.add(worst.warning ? "doubt" : "wrong");
      node.title = worst.message;
      if (text.trim() === "") {
        node.classList.add("blank");
        node.dataset.blank = t("problems.blank");
      }
    }
  }

  /** Edits a cell in place. `key` replaces its text. */
  async function edit(row, column, node, key) {
    let text = row.c[column] ?? "";
    // Of very long texts, the grid has only the beginning.
    if (row.l?.includes(column) && key === undefined) {
      try {
        ({text} = await get(app.path(`/cell?row=${row.n}&column=${column}`)));
      } catch (error) {
        return app.fail(error);
      }
      // The rows may have been drawn again meanwhile.
      const {focus} = grid ?? {};
      node = grid?.body.querySelector(".cell.current");
      if (!node || grid.get(focus.row)?.n !== row.n || grid.options.order[focus.column] !== column) return;
    }
    const field = app.review.template.columns[column]?.fields.map((at) => app.review.template.fields[at])[0];
    openEditor(node, {
      text: key ?? text,
      label: app.review.template.columns[column]?.name ?? "",
      allowed: field?.allowed ?? [],
      selects: key === undefined,
      done: (value, move) => {
        grid?.node.focus({preventScroll: true});
        if (value !== null && value !== text) send([{row: row.n, column, text: value}]);
        if (move && grid) grid.move(grid.focus.row + move[0], grid.focus.column + move[1]);
        grid?.schedule();
      },
      pasted: (block) => { grid?.node.focus({preventScroll: true}); paste(block); },
    });
  }

  /** Writes a block of cells, beginning with the current one. */
  async function paste(text) {
    const cells = blockOf(text);
    const {row: first, column: from} = grid.focus;
    const {order} = grid.options;
    const edits = [];
    try {
      const rows = await grid.options.load(first, Math.min(cells.length, grid.options.total - first, MAX_PASTED));
      rows.forEach((row, at) => cells[at]?.forEach((text, nth) => {
        const column = order[from + nth];
        if (column !== undefined && text !== (row.c[column] ?? "")) edits.push({row: row.n, column, text});
      }));
    } catch (error) {
      return app.fail(error);
    }
    if (!edits.length || !await send(edits)) return;
    const done = t("problems.pasted", {n: edits.length});
    toast(done, {label: t("undo"), run: undo});
    say(done);
  }

  async function send(edits) {
    try {
      const answer = await post(app.path("/edits"), {edits});
      app.review.edits = answer.edits;
      app.review.revision = answer.revision;
      for (const {row, problems} of answer.rows) {
        const whole = row.x || problems.length === 0;
        fixed.set(row.n, whole ? true : problems);
        grid?.update({e: undefined, x: false, ...row});
        say(problems.length ? problems[0].message : t("problems.row_good", {n: row.n}));
      }
      drawTools();
      if (answer.check && answer.check.revision >= (app.review.check?.revision ?? 0)) {
        // The rows stay where they are until the next check, so that the hand does not lose its place.
        app.review.check = answer.check;
        drawCounts();
        drawList(causes(), causes().find((it) => same(it, cause)));
        drawBar();
      }
      app.checkSoon(900);
      return true;
    } catch (error) {
      app.fail(error);
      return false;
    }
  }

  function drawTools() {
    const {edits} = app.review;
    tools.children[0].disabled = !edits.can_undo;
    tools.children[1].disabled = !edits.can_redo;
  }

  function drawAbout() {
    const it = cause;
    const where = it.header ? t("problems.in_column", {column: it.header}) : "";
    const sample = it.value ? t("problems.for_example", {value: it.value}) : "";
    const message = `${it.message}${/[.!?]$/.test(it.message) ? "" : "."}`;
    replace(about, el("h2", causeTitle(it)), el("p.sentence", [where, message, sample].filter(Boolean).join(" ")),
      it.remedy ? el("p.soft.sentence", `${it.remedy}.`) : null,
      it.asks ? el("p", el("button", {onclick: () => accept(it.code)}, t(`problems.accept_${it.asks}`))) : null,
      it.of_file || it.code === "guess" ? el("p", el("button", {onclick: () => app.go("columns")}, t("problems.to_columns"))) : null);
    // What somebody is typing stays.
    if (fixes.contains(document.activeElement) && document.activeElement.value) return;
    replace(fixes);
    if (!it.of_file) loadFixes(it);
  }

  /** Answers a question for all files of the template. */
  async function accept(code) {
    if (await app.change("/template/change", {kind: "accept", code})) app.checkSoon();
  }

  async function loadFixes(it) {
    let answer;
    try {
      answer = await get(app.path(`/causes/${it.number}/fixes`));
    } catch (error) {
      return app.fail(error);
    }
    if (it !== cause) return;
    const buttons = answer.choices.map((choice) => el("button", {onclick: () => apply(choice)},
      el("span", t(`fix.${choice.kind}`, {to: choice.to ?? "", n: choice.about ? t("about", {n: choice.count}) : choice.count})), sampleOf(choice)));
    const forms = it.column === null || it.column === undefined ? [] : [setForm(it, answer.allowed), partForm()];
    replace(fixes, buttons, forms);
  }

  function sampleOf(choice) {
    if (!choice.samples.length || ["leave-out", "keep-first", "keep-last"].includes(choice.kind)) {
      const rows = choice.samples.map(([row]) => row).join(", ");
      return rows ? el("small", t("problems.row_numbers", {rows, n: choice.count}) + (choice.count > choice.samples.length ? " …" : "")) : null;
    }
    const [, before, after] = choice.samples[0];
    return el("small", `${t("quoted", {value: before})} → ${t("quoted", {value: after})}`);
  }

  function setForm(it, allowed) {
    const input = el("input", {type: "text", "aria-label": t("fix.set_all"), placeholder: t("fix.new_value"), list: allowed.length ? "fix-values" : null});
    const values = allowed.length ? el("datalist", {id: "fix-values"}, allowed.map((value) => el("option", {value}))) : null;
    return el("form", {onsubmit: (event) => {
      event.preventDefault();
      apply({kind: "set", to: input.value});
    }}, el("label", t("fix.set_all")), input, values, el("button", t("fix.apply", {n: it.count})));
  }

  /** Offers to put the last fix of many rows into the template, so that the next file needs none, or says that this is not possible. */
  async function drawMemory() {
    const last = app.review.edits.last_fix;
    if (!last) { asked = null; return replace(memory); }
    if (asked === last.step) return;
    asked = last.step;
    replace(memory, el("p.soft", t("remember.looking")));
    let answer;
    try {
      answer = await get(app.path("/remember"));
    } catch (error) {
      if (asked === last.step) replace(memory);
      if (error.status === 409) { asked = null; return; }
      return app.fail(error);
    }
    if (asked !== last.step) return;
    const {why_not} = answer;
    replace(memory, el("p.grow", t(last.rows ? "remember.fixed_rows" : "remember.fixed", {n: last.count}), " ", t(why_not ? `remember.${why_not}` : "remember.possible")),
      why_not ? null : el("button", {onclick: keep}, t("remember.do")));
  }

  async function keep() {
    if (!await app.change("/remember", {})) return;
    asked = null;
    replace(memory);
    const done = t("remember.done", {name: app.review.template.name.split(/[\\/]/).pop()});
    toast(done, {label: t("undo"), run: undo});
    say(done);
  }

  function partForm() {
    const find = el("input", {type: "text", placeholder: t("fix.find"), "aria-label": t("fix.find")});
    const to = el("input", {type: "text", placeholder: t("fix.with"), "aria-label": t("fix.with")});
    const button = el("button", {disabled: true}, t("fix.replace"));
    let timer = null;
    const preview = () => {
      clearTimeout(timer);
      timer = setTimeout(async () => {
        if (!find.value) { button.disabled = true; button.textContent = t("fix.replace"); return; }
        const {count, samples} = await post(app.path(`/causes/${cause.number}/preview`), {fix: {kind: "replace-part", find: find.value, with: to.value}});
        button.disabled = count === 0;
        button.textContent = t("fix.replace_n", {n: count});
        button.title = samples.map(([, before, after]) => `${before} → ${after}`).join("\n");
      }, 200);
    };
    find.addEventListener("input", preview);
    to.addEventListener("input", preview);
    return el("form", {onsubmit: (event) => { event.preventDefault(); if (!button.disabled) apply({kind: "replace-part", find: find.value, with: to.value}); }},
      find, el("span", {"aria-hidden": "true"}, "→"), to, button);
  }

  async function apply(choice, isAgain = false) {
    const {kind, to, find} = choice;
    const wanted = cause;
    const fix = {kind, ...(to !== undefined && to !== null ? {to} : {}), ...(find !== undefined ? {find, with: choice.with} : {})};
    const revision = app.review.check.revision;
    fixed.clear();
    // The rows may have been checked again meanwhile, and the causes have other numbers then.
    const isOverdue = (error) => error.status === 409 && !isAgain;
    // Nobody goes on with the rows as they were.
    bar.querySelector(".primary").disabled = true;
    const done = await app.change(`/causes/${wanted.number}/fix`, {fix, revision}, isOverdue);
    if (app.step === "problems") drawBar();
    if (done === null) {
      await app.check();
      const now = causes().find((it) => same(it, wanted) && it.count === wanted.count);
      if (!now) return;
      cause = now;
      return apply(choice, true);
    }
    if (done) {
      toast(t("fix.done"), {label: t("undo"), run: undo});
      say(t("fix.done"));
    }
  }

  function drawBar() {
    const {check} = app.review;
    const open = check?.rejected ?? 0;
    bar.hidden = false;
    replace(bar, el("p.grow", app.isChecking ? t("checking") : open ? t("problems.rest", {n: open}) : ""),
      el("button", {onclick: () => app.go("columns")}, t("back")),
      el("button.primary", {disabled: !check?.to_send, onclick: () => app.go("send")}, t("problems.next", {n: check?.to_send ?? 0})));
  }

  /** The keys for undo and redo, as in a spreadsheet program. */
  function onKey(event) {
    if (!(event.ctrlKey || event.metaKey) || event.altKey || event.target.closest("input, textarea")) return;
    const key = event.key.toLowerCase();
    const isRedo = key === "y" || key === "z" && event.shiftKey;
    const {edits} = app.review;
    if (isRedo ? !edits.can_redo : key !== "z" || !edits.can_undo) return;
    event.preventDefault();
    if (isRedo) app.change("/redo"); else undo();
  }
  body.addEventListener("keydown", onKey);

  replace(main, body);
  update();
  return {
    update: () => { if (!app.isChecking) for (const [row] of fixed) fixed.delete(row); update(); },
    refresh: () => grid?.refresh(),
    close: closeGrid,
  };
}
