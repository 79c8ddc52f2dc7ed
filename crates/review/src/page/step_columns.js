// The second step: how the file is read, and which column goes to which field.

import {get} from "./api.js";
import {closeMenu, el, menu, replace} from "./dom.js";
import {Grid, isNumber} from "./grid.js";
import {numbersLine} from "./numbers.js";
import {docOf, fieldMenu, hasQuestions, questionCards} from "./questions.js";
import {fieldName, has, t} from "./words.js";

const KINDS = ["item", "order", "inventory-transaction", "subscription", "invoice"];
const ENCODINGS = ["UTF-8", "windows-1252", "ISO-8859-2", "windows-1251", "Shift_JIS", "GBK", "cp437", "cp850", "UTF-16LE"];
const DELIMITERS = [[",", ","], [";", ";"], ["tab", "\t"], ["|", "|"]];
/** Unused columns that are named. */
const NAMED = 6;
const LOCALES = [["auto", ""], ["en", "1,234.50"], ["de", "1.234,50"], ["fr", "1 234,50"], ["de-CH", "1’234.50"]];

export function columnsStep(app, main, bar) {
  const top = el("div.title");
  const pills = el("div.pills", {role: "group", "aria-label": t("columns.reading")});
  const questions = el("div.questions", {role: "group", "aria-label": t("ask.title")});
  const notices = el("div.notices");
  const folded = el("p.soft.folded");
  const remarks = el("details");
  const mistakes = el("ul.mistakes");
  const text = el("textarea.code", {spellcheck: "false", "aria-label": t("columns.template")});
  const template = el("details", el("summary", t("columns.template")), el("p.soft", t("columns.template_hint")), mistakes, text,
    el("div.buttons", el("button", {onclick: () => changed("/template", {text: text.value})}, t("columns.apply"))));
  let values = false;
  /** The columns in the order of the grid: those with a field, then the others if they are shown. */
  let order = [];
  let showsUnused = null;

  const grid = new Grid({
    label: t("columns.grid"),
    columns: [],
    total: 0,
    load: async (from, count) => (await get(app.path(`/rows?from=${from}&count=${count}&values=${values}`))).rows,
    failed: (error) => app.unloaded(error),
    head: (index) => header(index),
    classOf: (row) => {
      const at = app.review.template.header_row ?? 0;
      if (row.n < at) return "above";
      return row.n === at ? "header" : row.x ? "out" : "";
    },
    cell: (row, place, node) => {
      const text = row.c[order[place]] ?? "";
      node.textContent = text;
      if (isFigure(order[place], text)) node.classList.add("figure");
      if (text.length > 18) node.title = text;
      const made = row.v?.find(([column]) => column === order[place]);
      if (!made) return;
      const [, value, isWrong] = made;
      const plain = value.startsWith('"') ? unquoted(value) : value;
      if (isWrong) {
        node.classList.add("wrong");
        node.title = value;
        node.setAttribute("aria-invalid", "true");
        node.setAttribute("aria-description", value);
      } else if (!text.includes(plain) && Number(text) !== Number(plain)) {
        node.replaceChildren(el("span.becomes", {title: t("columns.becomes")}, plain), el("span.as-is", {title: t("columns.in_file")}, text));
      }
    },
    number: (row) => headerButton(row),
  });

  /** Whether a cell is set to the right: a number of a field for numbers, or of a column without a field. */
  function isFigure(index, text) {
    const {columns, fields} = app.review.template;
    const used = columns[index]?.fields ?? [];
    return isNumber(text) && (!used.length || used.some((at) => fields[at].number));
  }

  /** A click on the number of one of the first rows makes it the row of names. */
  function headerButton(row) {
    if (row.n > 25 || row.n === (app.review.template.header_row ?? 0)) return String(row.n);
    return el("button.link", {
      title: t("columns.make_header"),
      "aria-label": `${row.n}: ${t("columns.make_header")}`,
      tabindex: "-1",
      onclick: () => reading({header_row: row.n}),
    }, String(row.n));
  }

  function header(place) {
    const index = order[place];
    const {columns, fields} = app.review.template;
    const column = columns[index];
    const name = column?.name || t("columns.column", {letter: column?.letter ?? ""});
    const used = (column?.fields ?? []).map((at) => fields[at]);
    const chip = used.length ? chipOf(used[0], used.length) : el("button.chip.none.button", el("span.label", t("columns.unused")));
    chip.addEventListener("click", () => choose(chip, index));
    chip.setAttribute("aria-haspopup", "menu");
    const said = used.length ? `${used.map(fieldName).join(", ")} (${t(`confidence.${used[0].confidence}`)})` : t("columns.unused");
    chip.setAttribute("aria-label", t("columns.chip", {column: name, field: said}));
    return el("div", el("span.letters", {title: name}, name), chip);
  }

  function chipOf(field, count) {
    const kind = field.confidence === "guess" ? "guess" : field.confidence === "likely" ? "likely" : "sure";
    const sign = kind === "guess" ? "?" : kind === "likely" ? "~" : "✓";
    const label = fieldName(field) + (count > 1 ? ` +${count - 1}` : "");
    return el(`button.chip.button.${kind}`, {title: [t(`confidence.${field.confidence}`), field.reason].filter(Boolean).join(": ")},
      el("span", {"aria-hidden": "true"}, sign), el("span.label", label));
  }

  /** Offers the fields for a column. */
  const choose = (button, index) => fieldMenu(button, app.review.template, index, {change: template_, remove: removeAll});

  async function removeAll(used) {
    for (const field of used) await template_({kind: "remove", field: field.path});
  }

  const template_ = (change) => changed("/template/change", change);

  async function changed(path, body) {
    if (await app.change(path, body)) {
      grid.refresh();
      app.checkSoon();
    }
  }

  function reading(change) {
    const {review} = app;
    const chosen = review.chosen;
    return changed("/reading", {
      sheet: review.sheets.length > 1 ? review.sheet : null,
      encoding: chosen.encoding,
      delimiter: chosen.delimiter === "\t" ? "tab" : chosen.delimiter,
      header_row: null,
      ...change,
    });
  }

  function pill(what, value, items) {
    const node = el("button.pill", {"aria-haspopup": items ? "menu" : null, disabled: !items, onclick: () => menu(node, items)},
      el("span.what", what), el("span", value));
    return node;
  }

  function drawPills() {
    const {review} = app;
    const {template: it} = review;
    const kind = pill(t("columns.kind"), t(`kind.${it.record}`), KINDS.map((name) => ({
      label: t(`kind.${name}`), checked: name === it.record, run: () => changed("/template/kind", {record: name}),
    })));
    const all = [kind];
    if (review.sheets.length > 1) {
      all.push(pill(t("columns.sheet"), review.sheet, review.sheets.map((name) => ({
        label: name, checked: name === review.sheet, run: () => reading({sheet: name}),
      }))));
    }
    const headerItems = Array.from({length: 10}, (_, at) => ({
      label: t("columns.row", {n: at + 1}), checked: it.header_row === at + 1, run: () => reading({header_row: at + 1}),
    }));
    all.push(pill(t("columns.header"), it.header_row ? t("columns.row", {n: it.header_row}) : t("columns.none"), headerItems));
    if (review.encoding) {
      const names = ENCODINGS.includes(review.encoding) ? ENCODINGS : [review.encoding, ...ENCODINGS];
      all.push(pill(t("columns.encoding"), review.encoding, names.map((name) => ({
        label: name, checked: name === review.encoding, run: () => reading({encoding: name}),
      }))));
      const shown = review.delimiter === "\t" ? t("columns.tab") : review.delimiter;
      all.push(pill(t("columns.delimiter"), shown, DELIMITERS.map(([name, sign]) => ({
        label: name === "tab" ? t("columns.tab") : name, checked: sign === review.delimiter, run: () => reading({delimiter: name}),
      }))));
    }
    const locale = LOCALES.find(([name]) => name === (it.locale ?? "auto"));
    all.push(pill(t("columns.numbers"), locale && locale[1] ? locale[1] : (it.locale && it.locale !== "auto" ? it.locale : t("columns.each_column")), LOCALES.map(([name, sample]) => ({
      label: sample || t("columns.each_column"), checked: name === (it.locale ?? "auto"), run: () => template_({kind: "locale", locale: name}),
    }))));
    const currency = it.fields.find((field) => field.name === "currency");
    if (currency) {
      const from = currency.columns.length ? t("columns.from_column") : currency.constant ?? t("columns.none");
      const form = (button) => {
        const input = el("input", {type: "text", maxlength: 3, size: 5, value: currency.constant ?? "", "aria-label": t("columns.currency")});
        return [{heading: t("columns.currency_hint")}, ...["EUR", "USD", "GBP", "CHF"].map((code) => ({
          label: code, checked: currency.constant === code, run: () => template_({kind: "constant", field: "currency", value: code}),
        })), {node: el("form", {onsubmit: (event) => { event.preventDefault(); closeMenu(); template_({kind: "constant", field: "currency", value: input.value.toUpperCase()}); }}, input, el("button", t("ok")))}];
      };
      const node = el("button.pill", {"aria-haspopup": "menu", onclick: () => menu(node, form(node))}, el("span.what", t("columns.currency")), el("span", from));
      all.push(node);
    }
    replace(pills, all);
  }

  function drawNotices() {
    const {review} = app;
    const {template: it} = review;
    const all = [];
    const missing = it.fields.filter((field) => field.required && !field.mapped && (!field.line || it.fields.some((other) => other.line && other.mapped)));
    for (const field of missing) {
      const button = el("button", {"aria-haspopup": "menu", onclick: () => fill(button, field)}, t("columns.choose_column"));
      // Without codes, unique names can identify the records.
      const names = it.names_as_key?.field === field.path ? it.names_as_key.column : null;
      const header = names === null ? "" : it.columns[names]?.name;
      all.push(el("div.notice.bad", el("span.grow", el("strong", t("columns.missing", {field: fieldName(field)})), " ", docOf(field), header ? ` ${t("columns.names_hint", {column: header})}` : ""),
        header ? el("button", {onclick: () => template_({kind: "column", field: field.path, column: names, is_shared: true})}, t("columns.use_names")) : null, button));
    }
    const unread = it.mistakes.length ? [] : review.check?.mistakes ?? [];
    const others = missing.length ? [] : [...it.mistakes, ...unread];
    for (const mistake of others) {
      all.push(el("div.notice.bad", el("span.grow", el("strong", mistake.message), " ", mistake.hint ?? "")));
    }
    for (const cause of doubtfulReadings()) all.push(question(cause));
    if (review.failed) all.push(el("div.notice.bad", review.failed));
    replace(notices, all);
    replace(mistakes, it.mistakes.map((mistake) => el("li", mistake.line ? el("strong", t("columns.line", {n: mistake.line}), " ") : null,
      mistake.message, mistake.hint ? ` – ${mistake.hint}` : "",
      mistake.line ? el("button.link", {onclick: () => goToLine(mistake.line)}, ` ${t("columns.show")}`) : null)));
    if (document.activeElement !== text) text.value = it.text;
    remarks.hidden = !it.warnings.length;
    replace(remarks, el("summary", t("columns.remarks", {n: it.warnings.length})), el("ul", it.warnings.map((warning) => el("li", warning))));
  }

  /** Draws the open questions; several can be answered at once. */
  function drawQuestions() {
    const {template: it} = app.review;
    const cards = questionCards(app, {change: template_, fields: choose, choose: fill, show: (index) => grid.showColumn(order.indexOf(index)), redraw: update});
    const guesses = it.fields.filter((field) => field.guess).length + (it.group_guess ? 1 : 0) + (it.kind_guess ? 1 : 0);
    const all = guesses > 1 ? el("section.card.question.all", el("h2", t("ask.all", {n: guesses})), el("div.buttons", el("button", {"data-all": "", onclick: () => template_({kind: "confirm-all"})}, t("columns.confirm_all")))) : null;
    replace(questions, cards, all);
    questions.hidden = !cards.length;
  }

  /** Says which columns are not used. */
  function drawFolded(unused) {
    const {columns} = app.review.template;
    folded.hidden = !unused.length || unused.length === columns.length;
    if (folded.hidden) return;
    const names = unused.slice(0, NAMED).map((index) => columns[index].name || columns[index].letter).join(", ");
    replace(folded, `${t("columns.not_used", {n: unused.length})} ${names}${unused.length > NAMED ? ", …" : ""} `,
      el("button.link", {"data-unused": "", "aria-expanded": String(Boolean(showsUnused)), onclick: () => { showsUnused = !showsUnused; update(); }}, t(showsUnused ? "columns.fold" : "columns.unfold")));
  }

  /** Problems that are a question about a whole column. */
  function doubtfulReadings() {
    const causes = app.review.check?.causes ?? [];
    const isDate = (cause) => cause.code === "ambiguous-date" && (/^\s*\d{1,2}\D\d{1,2}\D\d{2,4}/.test(cause.value) || lacksZone(cause));
    return causes.filter((cause) => cause.code === "ambiguous-number" || isDate(cause)).slice(0, 3);
  }

  const lacksZone = (cause) => /^\s*\d{4}\D.*\d:\d/.test(cause.value);

  function question(cause) {
    if (lacksZone(cause)) {
      const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
      return el("div.notice.warn", el("span.grow", el("strong", t("columns.which_zone", {value: cause.value, column: cause.header})), " ", t("columns.rows_concerned", {n: cause.count})),
        [...new Set([zone, "UTC"])].map((name) => el("button", {onclick: () => template_({kind: "time-zone", zone: name})}, name)));
    }
    const isNumber = cause.code === "ambiguous-number";
    const button = isNumber
      ? [["en", "1,234.50"], ["de", "1.234,50"]].map(([locale, sample]) =>
        el("button", {onclick: () => template_({kind: "locale", locale})}, readings(cause.value, locale) ?? sample))
      : [["%d/%m/%Y", "31/12"], ["%m/%d/%Y", "12/31"]].map(([format, sample]) =>
        el("button", {onclick: () => template_({kind: "date-format", field: cause.field, format: separators(cause.value, format)})}, `${t(format === "%d/%m/%Y" ? "columns.day_first" : "columns.month_first")} (${sample})`));
    return el("div.notice.warn", el("span.grow", el("strong", t(isNumber ? "columns.which_number" : "columns.which_date", {value: cause.value, column: cause.header})), " ", t("columns.rows_concerned", {n: cause.count})), button);
  }

  function readings(value, locale) {
    const digits = value.replace(/[^0-9.,]/g, "");
    if (!/^\d{1,3}[.,]\d{3}$/.test(digits)) return null;
    const isGroup = (locale === "de") === digits.includes(".");
    const plain = Number(isGroup ? digits.replace(/[.,]/, "") : digits.replace(",", "."));
    return t("columns.reads_as", {value: new Intl.NumberFormat(document.documentElement.lang, {maximumFractionDigits: 3, useGrouping: false}).format(plain)});
  }

  function separators(value, format) {
    const sign = value.match(/[^0-9\s]/)?.[0] ?? "/";
    const year = /\d{4}/.test(value) ? "%Y" : "%y";
    return format.replaceAll("/", sign).replace("%Y", year);
  }

  function fill(button, field) {
    const {columns} = app.review.template;
    const input = el("input", {type: "text", "aria-label": t("columns.same_everywhere")});
    menu(button, [{heading: t("columns.from_which", {field: fieldName(field)})}, ...columns.map((column, index) => ({
      label: column.name || column.letter, hint: column.fields.length ? t("columns.used_already") : null,
      run: () => template_({kind: "column", field: field.path, column: index}),
    })), {heading: t("columns.same_everywhere")}, {node: el("form", {onsubmit: (event) => { event.preventDefault(); closeMenu(); template_({kind: "constant", field: field.path, value: input.value}); }}, input, el("button", t("ok")))}]);
  }

  function goToLine(line) {
    const lines = text.value.split("\n");
    const start = lines.slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
    text.focus();
    text.setSelectionRange(start, start + (lines[line - 1]?.length ?? 0));
    text.scrollTop = (line - 4) * 20;
  }

  function drawTop() {
    const {review} = app;
    const {template: it} = review;
    const rows = Math.max(0, review.rows - (it.header_row ? 1 : 0));
    const count = review.check?.rows ?? rows;
    const source = it.origin === "proposed" ? t("columns.proposed") : it.origin === "built-in"
      ? t("columns.known", {name: has(`known.${it.name}`) ? t(`known.${it.name}`) : it.name})
      : t("columns.as_before", {name: it.name.split(/[\\/]/).pop()});
    replace(top, el("h1", review.name), el("p.soft.grow", [t("columns.rows", {n: count}), review.is_complete ? "" : "…", " · ", source].join("")),
      el("p.legend", legend("sure", "✓"), legend("likely", "~"), legend("guess", "?")));
  }

  function legend(kind, sign) {
    return el("span", el(`span.chip.${kind}`, sign), " ", t(`confidence.${kind}`));
  }

  function drawBar() {
    const {review} = app;
    const {template: it, check} = review;
    const missing = it.mistakes.length > 0;
    const isOpen = hasQuestions(app);
    const problems = check?.rejected ?? 0;
    const state = missing ? t("columns.not_ready") : isOpen && !app.isChecking ? t("columns.confirm_first") : numbersLine(app);
    bar.hidden = false;
    replace(bar, el("p.grow", state), el("button.primary", {
      disabled: missing || isOpen || check?.rows === undefined,
      onclick: () => app.go(problems ? "problems" : "send"),
    }, problems ? t("columns.next_problems", {n: problems}) : t("columns.next_send")));
  }

  function update() {
    drawTop();
    drawPills();
    drawQuestions();
    drawNotices();
    drawBar();
    const all = app.review.template.columns;
    const [used, unused] = [[], []];
    all.forEach((column, index) => (column.fields.length ? used : unused).push(index));
    // Where nothing is used yet, a person looks for what could be.
    order = showsUnused || !used.length ? [...used, ...unused] : used;
    drawFolded(unused);
    const columns = order.map((index) => ({label: all[index].name || all[index].letter, width: width(all[index].name)}));
    const before = JSON.stringify([all, order, app.review.template.fields, app.review.template.header_row]);
    const hasValues = app.review.check?.rows !== undefined;
    if (before !== drawn || hasValues !== values) {
      drawn = before;
      values = hasValues;
      grid.set({columns, total: app.review.rows});
    } else if (grid.options.total !== app.review.rows) {
      grid.setTotal(app.review.rows);
    }
    if (!app.review.is_complete) more();
  }
  let drawn = "";

  function width(name) {
    return Math.max(150, Math.min(260, name.length * 9 + 50));
  }

  /** Follows the number of rows while the file is read. */
  function more() {
    clearTimeout(timer);
    timer = setTimeout(async () => {
      const answer = await get(app.path("/rows?from=0&count=0"));
      app.review.rows = answer.total;
      app.review.is_complete = answer.is_complete;
      update();
    }, 700);
  }
  let timer = null;

  replace(main, el("div.page.fill", top, pills, questions, notices, folded, grid.node, el("div.foot", template, remarks)));
  update();
  return {
    update,
    refresh: () => grid.refresh(),
    close: () => { clearTimeout(timer); grid.close(); },
  };
}

function unquoted(json) {
  try { return JSON.parse(json); } catch { return json; }
}
