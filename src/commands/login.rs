//! `login`, `whoami` and `logout`: the stored credentials of a profile.

use std::io::{BufRead, IsTerminal};

use secrecy::SecretString;
use serde_json::json;

use crate::cli::Login;
use crate::client::auth::Credentials;
use crate::error::{Exit, Failure};
use crate::operations::{self, Context, StoredTokens};
use crate::settings::Settings;
use crate::ui;

/// Stores a token pair. The previous pair is kept until the service has accepted the new pair.
pub(super) async fn login(args: &Login, settings: &Settings) -> Result<Exit, Failure> {
    let base_url = match &settings.context.base_url {
        None if std::io::stdin().is_terminal() => ui::ask_as_written("Address of the service:"),
        base_url => base_url.clone(),
    };
    let (access, refresh) = read_tokens().map_err(|error| unusable("standard input", &error))?;
    let credentials = Credentials { access, refresh, file: None };
    let context = Context { base_url, credentials, ..settings.context.clone() };
    context.base_url()?;
    let stored = operations::login(&context, &settings.token_file, &settings.context.profile, args.unchecked).await?;
    print(settings, "login", &stored, "stored", "stored, readable only by you");
    Ok(Exit::Done)
}

/// Shows the service, the workspace and the tokens in use, after checking the tokens with one request.
pub(super) async fn whoami(settings: &Settings) -> Result<Exit, Failure> {
    let verified = operations::verify(&settings.context).await?;
    match settings.context.environment.is_empty() {
        true => print(settings, "whoami", &verified, "stored", "stored by login"),
        false => print(settings, "whoami", &verified, "environment", "from the environment"),
    }
    Ok(Exit::Done)
}

/// Removes the stored tokens.
pub(super) fn logout(settings: &Settings) -> Result<Exit, Failure> {
    let file = &settings.token_file;
    let was_stored = file.remove().map_err(|error| unusable(&file.path().display().to_string(), &error))?;
    let profile = &settings.context.profile;
    if settings.output.json {
        ui::json(&json!({"command": "logout", "profile": profile, "removed": was_stored}));
    } else if was_stored {
        ui::line(format_args!("Removed the tokens of the profile {profile} from this machine"));
        ui::hint("they stay valid until they expire, unless you revoke them in the service's developer settings");
    } else {
        ui::line(format_args!("The profile {profile} has no stored tokens"));
    }
    Ok(Exit::Done)
}

/// Reads the access and the refresh token from the terminal without echo, or from two lines of standard input.
fn read_tokens() -> std::io::Result<(Option<SecretString>, Option<SecretString>)> {
    let token = |text: String| {
        let text = text.trim();
        (!text.is_empty()).then(|| SecretString::from(text.to_owned()))
    };
    if std::io::stdin().is_terminal() {
        let access = rpassword::prompt_password("Access token (hidden): ")?;
        let refresh = rpassword::prompt_password("Refresh token (hidden): ")?;
        return Ok((token(access), token(refresh)));
    }
    let mut lines = std::io::stdin().lock().lines();
    let mut next = || lines.next().transpose().map(|line| line.and_then(token));
    Ok((next()?, next()?))
}

fn print(settings: &Settings, command: &str, tokens: &StoredTokens, source: &str, source_text: &str) {
    let StoredTokens { base_url, credentials } = tokens;
    let (workspace, access) = (credentials.workspace(), credentials.access_level());
    let expires = credentials.expires_at().and_then(|seconds| jiff::Timestamp::from_second(seconds).ok());
    let expires = expires.map(|time| time.to_string());
    if settings.output.json {
        ui::json(&json!({
            "command": command,
            "profile": settings.context.profile,
            "base_url": base_url,
            "workspace": workspace,
            "access": access,
            "expires": expires,
            "tokens": source,
        }));
        return;
    }
    let unnamed = || "not named by the token".to_owned();
    for (name, text) in [
        ("profile", settings.context.profile.clone()),
        ("service", base_url.clone()),
        ("workspace", workspace.unwrap_or_else(unnamed)),
        ("access", access.unwrap_or_else(unnamed)),
        ("expires", expires.unwrap_or_else(unnamed)),
        ("tokens", source_text.to_owned()),
    ] {
        ui::line(format_args!("  {name:<10} {text}"));
    }
}

fn unusable(what: &str, error: &std::io::Error) -> Failure {
    Failure::new(
        Exit::Fault,
        format!("{what} can't be used: {error}"),
        "check that you own the folder in SHEETPORT_HOME and can write to it",
    )
}
