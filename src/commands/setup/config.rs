//! The settings in force, and where each comes from, for `doctor` and `config`. Secrets are not shown.

use serde_json::json;
use sheetport_client::Speed;
use sheetport_language::{say, word};
use sheetport_operations::DEFAULT_PROFILE;

use crate::error::Exit;
use crate::settings::Settings;
use crate::ui;

/// A setting in force.
pub(super) struct InForce {
    pub(super) name: &'static str,
    /// `None` if not set.
    pub(super) value: Option<String>,
    pub(super) from: &'static str,
}

/// Returns all settings, those that are not set as well.
pub(super) fn in_force(settings: &Settings) -> Vec<InForce> {
    let context = &settings.context;
    let given = &context.given;
    let origin = |is_flag: bool, variable: &str, is_set: bool| {
        let is_variable = std::env::var_os(variable).is_some_and(|value| !value.is_empty());
        match (is_flag, is_variable, is_set) {
            (_, _, false) => "default",
            (true, ..) => "flag",
            (false, true, _) => "environment",
            (false, false, true) => "sheetport.toml",
        }
    };
    let shown = |path: &std::path::Path| path.display().to_string();
    let connection = &context.connection;
    let client = connection.client_cert.as_ref();
    let key = client.and_then(|client| client.key.as_ref());
    let is_default_profile = context.profile == DEFAULT_PROFILE && !context.is_profile_chosen;
    let tokens_from = match context.tokens_from {
        Some(from) => from.described(),
        None => "default",
    };
    let home_from = match origin(given.home.is_some(), "SHEETPORT_HOME", true) {
        "sheetport.toml" => "default",
        from => from,
    };
    let rate = context.rate.map(|rate| match rate {
        Speed::Auto(_) => "auto".to_owned(),
        Speed::Fixed(rate) => rate.to_string(),
    });
    let keys = context.profiles.get(&context.profile).and_then(|profile| profile.keys);
    let defaults = context.defaults();
    let row = |name, value: Option<String>, from| InForce { name, from, value };
    let from_file = |is_set: bool| if is_set { "sheetport.toml" } else { "default" };
    let of = |name, variable, is_flag, value: Option<String>| {
        let from = origin(is_flag, variable, value.is_some());
        row(name, value, from)
    };
    vec![
        row("home", Some(shown(&context.home)), home_from),
        of(
            "profile",
            "SHEETPORT_PROFILE",
            given.profile.is_some(),
            (!is_default_profile).then(|| context.profile.clone()),
        ),
        row("base_url", context.base_url.clone(), context.address_from.map_or("default", |from| from.code())),
        row("tokens", context.tokens_from.map(|_| "set".to_owned()), tokens_from),
        of("ledger", "SHEETPORT_LEDGER", given.ledger.is_some(), context.server.as_ref().map(ToString::to_string)),
        row("rate", rate.clone(), from_file(rate.is_some())),
        of("ca_file", "SHEETPORT_CA_FILE", given.ca_file.is_some(), connection.ca_file.as_deref().map(shown)),
        of(
            "client_cert",
            "SHEETPORT_CLIENT_CERT",
            given.client_cert.is_some(),
            client.map(|client| shown(&client.cert)),
        ),
        of("client_key", "SHEETPORT_CLIENT_KEY", given.client_key.is_some(), key.map(|key| shown(key))),
        of("proxy", "SHEETPORT_PROXY", given.proxy.is_some(), connection.proxy.as_ref().map(ToString::to_string)),
        of(
            "insecure_http",
            "SHEETPORT_INSECURE_HTTP",
            given.insecure_http,
            connection.insecure_http.then(|| "true".to_owned()),
        ),
        row("idempotency_key", keys.map(|keys| keys.to_string()), from_file(keys.is_some())),
        row("locale", defaults.locale.map(str::to_owned), from_file(defaults.locale.is_some())),
        row("time_zone", defaults.time_zone.map(str::to_owned), from_file(defaults.time_zone.is_some())),
        row("currency", defaults.currency.map(str::to_owned), from_file(defaults.currency.is_some())),
        row("keep", settings.keep.map(|age| format!("{}h", age.as_secs() / 3600)), from_file(settings.keep.is_some())),
        row("keyring", settings.keyring.then(|| "true".to_owned()), from_file(settings.keyring)),
        row(
            "accept_recognized",
            settings.accepts_recognized.then(|| "true".to_owned()),
            from_file(settings.accepts_recognized),
        ),
    ]
}

pub(in crate::commands) fn config(settings: &Settings) -> Exit {
    let context = &settings.context;
    let path = context.home.join("sheetport.toml");
    let rows = in_force(settings);
    if settings.output.json {
        let rows = rows.iter().map(|row| json!({"name": row.name, "value": row.value, "from": row.from}));
        ui::json(&json!({
            "command": "config",
            "profile": context.profile,
            "file": path,
            "file_exists": path.is_file(),
            "settings": rows.collect::<Vec<_>>(),
        }));
        return Exit::Done;
    }
    let (strong, faint) = (ui::style::STRONG, ui::style::FAINT);
    let missing = if path.is_file() { "" } else { word(" (not there)") };
    ui::line(say!("profile {strong}{}{strong:#}, settings file {}{missing}", context.profile, path.display()));
    for InForce { name, value, from } in &rows {
        let value = value.as_deref().unwrap_or("-");
        ui::line(format_args!("  {name:<18} {value}  {faint}({}){faint:#}", word(from)));
    }
    Exit::Done
}
