//! `login`, `whoami` and `logout`: the stored credentials of a profile.

use std::io::{BufRead, IsTerminal};

use secrecy::SecretString;
use serde_json::json;
use sheetport_client::auth::{AddressOrigin, Credentials, StoreError, TokenOrigin};
use sheetport_language::{message, say};
use sheetport_operations::{self as operations, Context, StoredTokens};
use sheetport_values::date::local_minute;

use crate::cli::{Login, Whoami};
use crate::error::{Exit, Failure};
use crate::settings::Settings;
use crate::ui;

/// Stores a token pair. The previous pair is kept until the service has accepted the new pair.
pub(in crate::commands) async fn login(args: &Login, settings: &Settings) -> Result<Exit, Failure> {
    let base_url = match &settings.context.base_url {
        None if std::io::stdin().is_terminal() => ui::ask_as_written(&say!("Address of the service:")),
        base_url => base_url.clone(),
    };
    let file = settings.token_file.in_keyring(args.keyring.unwrap_or(settings.keyring))?;
    let (access, refresh) = read_tokens().map_err(|error| StoreError::new("standard input".to_owned(), &error))?;
    let credentials = Credentials { access, refresh, file: None };
    let context = Context { base_url, credentials, ..settings.context.clone() };
    context.base_url()?;
    let stored = operations::login(&context, &file, &settings.context.profile, args.unchecked).await?;
    print(settings, "login", &stored, TokenOrigin::of_login(&file), None);
    Ok(Exit::Done)
}

/// Shows the service, the workspace and the tokens in use, after checking the tokens with one request.
pub(in crate::commands) async fn whoami(args: &Whoami, settings: &Settings) -> Result<Exit, Failure> {
    let context = &settings.context;
    let base_url = context.client(context.base_url()?, 1)?.address().to_owned();
    let token = match context.tokens_from {
        Some(TokenOrigin::Environment) => "the token of the environment",
        Some(TokenOrigin::Login | TokenOrigin::Keyring) | None => "the stored token",
    };
    let tokens = if args.offline {
        StoredTokens { base_url, credentials: context.credentials.clone() }
    } else {
        if settings.output.talks() {
            let proxy = context.connection.proxy.as_ref().map_or(String::new(), |proxy| say!(", through {proxy}"));
            ui::remark(say!("{token} goes to {base_url} ({}){proxy}", origin(context).1));
        }
        operations::verify(context).await?
    };
    let tokens_from = context.tokens_from.unwrap_or(TokenOrigin::Login);
    let whoami = Identity { address_from: origin(context), is_checked: !args.offline };
    print(settings, "whoami", &tokens, tokens_from, Some(&whoami));
    Ok(Exit::Done)
}

/// Details shown only by `whoami`.
struct Identity {
    /// Where the address comes from, for programs and for people.
    address_from: (&'static str, &'static str),
    is_checked: bool,
}

/// Returns where the address comes from, for programs and for people.
fn origin(context: &Context) -> (&'static str, &'static str) {
    let origin = context.address_from.unwrap_or(AddressOrigin::Login);
    (origin.code(), origin.described())
}

/// Removes the stored tokens.
pub(in crate::commands) fn logout(settings: &Settings) -> Result<Exit, Failure> {
    let file = &settings.token_file;
    let was_stored = file.remove().map_err(|error| StoreError::new(file.path().display().to_string(), &error))?;
    let profile = &settings.context.profile;
    if settings.output.json {
        ui::json(&json!({"command": "logout", "profile": profile, "removed": was_stored}));
    } else if was_stored {
        ui::line(say!("Removed the tokens of the profile {profile} from this machine"));
        ui::hint(&say!(
            "they stay valid until they expire, unless you revoke them in the service's developer settings"
        ));
    } else {
        ui::line(say!("The profile {profile} has no stored tokens"));
    }
    Ok(Exit::Done)
}

/// Reads the access and the refresh token from the terminal without echo, or from two lines of standard input.
pub(super) fn read_tokens() -> std::io::Result<(Option<SecretString>, Option<SecretString>)> {
    let token = |text: String| {
        let text = text.trim();
        (!text.is_empty()).then(|| SecretString::from(text.to_owned()))
    };
    if std::io::stdin().is_terminal() {
        let access = rpassword::prompt_password(say!("Access token (hidden): "))?;
        let refresh = rpassword::prompt_password(say!("Refresh token (hidden): "))?;
        return Ok((token(access), token(refresh)));
    }
    let mut lines = std::io::stdin().lock().lines();
    let mut next = || lines.next().transpose().map(|line| line.and_then(token));
    Ok((next()?, next()?))
}

fn print(settings: &Settings, command: &str, tokens: &StoredTokens, from: TokenOrigin, whoami: Option<&Identity>) {
    let StoredTokens { base_url, credentials } = tokens;
    let (workspace, access) = (credentials.workspace(), credentials.access_level());
    let expires = credentials.expires_at().and_then(|seconds| jiff::Timestamp::from_second(seconds).ok());
    let proxy = settings.context.connection.proxy.as_ref().map(ToString::to_string);
    if settings.output.json {
        let mut object = json!({
            "command": command,
            "profile": settings.context.profile,
            "base_url": base_url,
            "workspace": workspace,
            "access": access,
            "expires": expires.map(|time| time.to_string()),
            "tokens": from.code(),
        });
        if let Some(whoami) = whoami {
            object["address_from"] = whoami.address_from.0.into();
            object["proxy"] = proxy.into();
            object["checked"] = whoami.is_checked.into();
        }
        ui::json(&object);
        return;
    }
    let unnamed = || "not named by the token".to_owned();
    for (name, text) in [
        ("profile", settings.context.profile.clone()),
        ("service", whoami.map_or(base_url.clone(), |whoami| format!("{base_url} ({})", whoami.address_from.1))),
        ("workspace", workspace.unwrap_or_else(unnamed)),
        ("access", access.unwrap_or_else(unnamed)),
        ("expires", expires.map_or_else(unnamed, |time| local_minute(time.as_millisecond()))),
        ("tokens", from.described().to_owned()),
    ] {
        ui::line(format_args!("  {} {}", ui::label(name, 10), message(&text)));
    }
    if let Some(proxy) = proxy {
        ui::line(format_args!("  {} {proxy}", ui::label("proxy", 10)));
    }
    if whoami.is_some_and(|whoami| !whoami.is_checked) {
        ui::line(format_args!("  {} {}", ui::label("checked", 10), message("no: nothing was sent")));
    }
}
