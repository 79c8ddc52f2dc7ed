//! `login`, `whoami`, `logout`: the stored credentials of a profile.

use std::io::{BufRead, IsTerminal};

use secrecy::SecretString;
use serde_json::json;

use crate::cli::Login;
use crate::client::auth::{Credentials, TokenFile};
use crate::client::{Client, fetch};
use crate::error::{Exit, Failure};
use crate::settings::Settings;
use crate::ui;

/// A call that any token may make.
const CHECK: &str = "/v1/public/items?page=1&limit=1";

/// Takes in a pair of tokens. What was stored before stays until the new pair is known to be good.
pub async fn login(args: &Login, settings: &Settings) -> Result<Exit, Failure> {
    let base_url = match &settings.base_url {
        Some(base_url) => base_url.clone(),
        None if std::io::stdin().is_terminal() => ui::ask_as_written("The service's root address:").unwrap_or_default(),
        None => settings.base_url()?.to_owned(),
    };
    let (access, refresh) = tokens().map_err(|error| unusable("standard input", &error))?;
    // A refresh while the pair is checked keeps what it gets, so that nothing is lost if this ends in between.
    let draft = TokenFile::of(&settings.home, &format!("{}.new", settings.profile));
    let credentials = Credentials { access, refresh, file: Some(draft.clone()) };
    let client = Client::new(&base_url, credentials.clone(), 1)?;
    let unwritable = |file: &TokenFile, error: &std::io::Error| unusable(&file.path().display().to_string(), error);
    draft.write(client.address(), &credentials).map_err(|error| unwritable(&draft, &error))?;
    let checked = if args.unchecked { Ok(()) } else { fetch::check(&client, CHECK).await };
    let credentials = client.credentials().await;
    if checked.is_ok() {
        let file = &settings.token_file;
        file.write(client.address(), &credentials).map_err(|error| unwritable(file, &error))?;
    }
    draft.remove().map_err(|error| unwritable(&draft, &error))?;
    checked?;
    if settings.output.json {
        ui::json(&as_json("login", settings, client.address(), &credentials, "stored"));
    } else {
        show(settings, client.address(), &credentials, "stored for you alone");
    }
    Ok(Exit::Done)
}

/// Says what would be used, and whether the service takes it.
pub async fn whoami(settings: &Settings) -> Result<Exit, Failure> {
    let client = Client::new(settings.base_url()?, settings.credentials.clone(), 1)?;
    fetch::check(&client, CHECK).await?;
    let source = if settings.credentials.file.is_some() { "stored" } else { "environment" };
    let credentials = client.credentials().await;
    if settings.output.json {
        ui::json(&as_json("whoami", settings, client.address(), &credentials, source));
    } else {
        let source = if source == "stored" { "stored by login" } else { "from the environment" };
        show(settings, client.address(), &credentials, source);
    }
    Ok(Exit::Done)
}

/// Takes the stored tokens away.
pub fn logout(settings: &Settings) -> Result<Exit, Failure> {
    let file = &settings.token_file;
    let was_there = file.remove().map_err(|error| unusable(&file.path().display().to_string(), &error))?;
    if settings.output.json {
        ui::json(&json!({"command": "logout", "profile": settings.profile, "removed": was_there}));
    } else if was_there {
        ui::line(format_args!("the tokens of the profile {} are removed from this machine", settings.profile));
        ui::hint("they are good until they expire; the service's developer settings can take them back");
    } else {
        ui::line(format_args!("the profile {} has no stored tokens", settings.profile));
    }
    Ok(Exit::Done)
}

/// Refuses tokens that say of themselves that they can't write, before anything is read or sent.
pub fn check_may_write(settings: &Settings) -> Result<(), Failure> {
    if !settings.credentials.is_read_only() {
        return Ok(());
    }
    Err(Failure::new(
        Exit::Credentials,
        "the token does not allow this: its access level is Regular, which reads only",
        "make a pair of tokens that has Full Access in the service's developer settings, and run `sheetport login` or set SHEETPORT_ACCESS_TOKEN and SHEETPORT_REFRESH_TOKEN",
    ))
}

/// The access and the refresh token, from the terminal without showing them, or from two lines of standard input.
fn tokens() -> std::io::Result<(Option<SecretString>, Option<SecretString>)> {
    let token = |text: String| {
        let text = text.trim();
        (!text.is_empty()).then(|| SecretString::from(text.to_owned()))
    };
    if std::io::stdin().is_terminal() {
        let access = rpassword::prompt_password("Access token (not shown): ")?;
        let refresh = rpassword::prompt_password("Refresh token (not shown): ")?;
        return Ok((token(access), token(refresh)));
    }
    let mut lines = std::io::stdin().lock().lines();
    let mut next = || lines.next().transpose().map(|line| token(line.unwrap_or_default()));
    Ok((next()?, next()?))
}

fn show(settings: &Settings, address: &str, credentials: &Credentials, source: &str) {
    let unnamed = || "not named by the token".to_owned();
    for (name, text) in [
        ("profile", settings.profile.clone()),
        ("service", address.to_owned()),
        ("workspace", credentials.workspace().unwrap_or_else(unnamed)),
        ("access", credentials.access_level().unwrap_or_else(unnamed)),
        ("expires", expires(credentials).unwrap_or_else(unnamed)),
        ("tokens", source.to_owned()),
    ] {
        ui::line(format_args!("  {name:<10} {text}"));
    }
}

fn as_json(
    command: &str,
    settings: &Settings,
    address: &str,
    credentials: &Credentials,
    source: &str,
) -> serde_json::Value {
    json!({
        "command": command,
        "profile": settings.profile,
        "base_url": address,
        "workspace": credentials.workspace(),
        "access": credentials.access_level(),
        "expires": expires(credentials),
        "tokens": source,
    })
}

fn expires(credentials: &Credentials) -> Option<String> {
    jiff::Timestamp::from_second(credentials.expires_at()?).ok().map(|time| time.to_string())
}

fn unusable(what: &str, error: &std::io::Error) -> Failure {
    Failure::new(
        Exit::Fault,
        format!("{what} can't be used: {error}"),
        "check that the folder in SHEETPORT_HOME is yours and can be written",
    )
}
