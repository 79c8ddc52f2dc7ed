// The words of the page, in the language of the browser.

let words = {};
let language = "en";

export async function load() {
  const answer = await fetch("words.json");
  language = answer.headers.get("content-language") ?? "en";
  words = await answer.json();
  document.documentElement.lang = language;
  for (const node of document.querySelectorAll("[data-word]")) node.textContent = t(node.dataset.word);
}

/** Returns words, with `{name}` replaced by values, and `{n|row|rows}` by the form for a number. */
export function t(key, values = {}) {
  const text = words[key];
  if (text === undefined) return key;
  return text.replace(/\{(\w+)(?:\|([^|}]*)\|([^}]*))?\}/g, (_, name, one, many) => {
    const value = values[name];
    if (one !== undefined) return value === 1 ? one : many;
    return typeof value === "number" ? number(value) : String(value ?? "");
  });
}

export function has(key) {
  return words[key] !== undefined;
}

export function number(value) {
  return new Intl.NumberFormat(language).format(value);
}

/** Returns the name of a field for people. */
export function fieldName(field) {
  return has(`field.${field.name}`) ? t(`field.${field.name}`) : field.name;
}

/** Returns a name as it stands within a sentence. */
export function inSentence(name) {
  return language === "en" && !/^[A-Z]{2}/.test(name) ? name.charAt(0).toLowerCase() + name.slice(1) : name;
}

/** Returns a short title of a cause. */
export function causeTitle(cause) {
  return cause.refusal ? t("cause.refusal") : cause.title;
}

export function duration(seconds) {
  if (seconds < 60) return t("seconds", {n: Math.max(1, Math.round(seconds))});
  if (seconds < 3600) return t("minutes", {n: Math.round(seconds / 60)});
  return t("hours", {n: Math.round(seconds / 3600)});
}

/** Returns how long ago a moment is, from milliseconds since 1970; after a week, its date. */
export function ago(millis) {
  const minutes = (Date.now() - millis) / 60_000;
  if (minutes > 7 * 24 * 60) return new Intl.DateTimeFormat(language, {dateStyle: "medium"}).format(new Date(millis));
  const format = new Intl.RelativeTimeFormat(language, {numeric: "auto"});
  if (minutes < 60) return format.format(-Math.round(minutes), "minute");
  if (minutes < 24 * 60) return format.format(-Math.round(minutes / 60), "hour");
  return format.format(-Math.round(minutes / 60 / 24), "day");
}

/** Returns the time of day, from milliseconds since 1970; of another day, with its date. */
export function clock(millis) {
  const isToday = new Date(millis).toDateString() === new Date().toDateString();
  return isToday ? new Intl.DateTimeFormat(language, {timeStyle: "short"}).format(new Date(millis)) : time(millis);
}

/** Returns a date with its time, from milliseconds since 1970. */
export function time(millis) {
  return new Intl.DateTimeFormat(language, {dateStyle: "medium", timeStyle: "short"}).format(new Date(millis));
}
