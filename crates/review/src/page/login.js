// The address and the tokens of the service, where none are known yet.

import {post} from "./api.js";
import {el, replace} from "./dom.js";
import {t} from "./words.js";

/** Returns a form for the address and the tokens. `done()` is called when the service is known. */
export function login(app, done) {
  const {service} = app.start;
  const field = (name, type, value, isRequired) => [el("label", {for: `login-${name}`}, t(`login.${name}`)),
    el("input", {type, id: `login-${name}`, name, value, required: isRequired, autocomplete: "off", spellcheck: "false"})];
  const said = el("p.problem", {role: "alert"});
  const button = el("button.primary", t("login.do"));
  const form = el("form.login", {onsubmit: async (event) => {
    event.preventDefault();
    button.disabled = true;
    const given = Object.fromEntries(new FormData(form));
    try {
      app.start.service = (await post("api/login", given)).service;
    } catch (error) {
      replace(said, [error.message || t("gone"), error.hint].filter(Boolean).join(" – "));
      return;
    } finally {
      button.disabled = false;
    }
    app.drawService();
    done();
  }}, field("address", "url", service.address ?? "", true), field("access", "password", "", true), field("refresh", "password", "", false), el("div.buttons", button), said);
  return el("section.card", {"data-login": ""}, el("h2", t(`service.${service.problem}`)), el("p.soft", t("login.text")), form);
}
