//! Reads `[[notify]]`.

use std::num::NonZeroU16;
use std::path::Path;

use lettre::message::Mailbox;
use sheetport_client::is_local;
use sheetport_documents::{Notes, Texts};
use toml::Spanned;

use super::model::{Channel, Mail, Notice, Occasion, Secret, Security};
use super::raw::{RawMail, RawNotice};

/// Reads a notice. Paths are relative to `folder`.
pub(super) fn read(raw: Spanned<RawNotice>, folder: &Path, notes: &Notes<'_>) -> Option<Notice> {
    let span = raw.span();
    let raw = raw.into_inner();
    let on = occasions(raw.on, notes);
    let command = raw.command.map(|words| {
        let place = words.span();
        let words = words.into_inner().0;
        if words.first().is_none_or(|program| program.trim().is_empty()) {
            notes.note(
                place,
                "command names no program",
                Some("name it with its arguments: command = [\"notify-send\", \"sheetport\"]"),
            );
        }
        Channel::Command(words)
    });
    let webhook = address("webhook", raw.webhook, notes).or_else(|| secret(raw.webhook_env, raw.webhook_file, folder));
    let has_mail = raw.mail.is_some();
    let mail = raw.mail.and_then(|raw| mail(raw, folder, notes)).map(|mail| Channel::Mail(Box::new(mail)));
    let mut channels: Vec<Channel> = [command, webhook.map(Channel::Webhook), mail].into_iter().flatten().collect();
    if channels.len() > 1 {
        let hint = Some("make a [[notify]] for each");
        notes.note(span, "a notice has more than one of command, webhook and mail", hint);
    } else if channels.is_empty() && !has_mail {
        notes.note(span, "the notice has neither command, webhook nor mail", None);
    }
    Some(Notice { on, by: channels.pop()?, attach: raw.attach.unwrap_or(true) })
}

fn occasions(names: Option<Spanned<Texts>>, notes: &Notes<'_>) -> Vec<Occasion> {
    let Some(names) = names else { return vec![Occasion::Failure] };
    let mut occasions = Vec::new();
    for name in &names.get_ref().0 {
        match Occasion::ALL.into_iter().find(|occasion| occasion.name() == name) {
            Some(occasion) => occasions.push(occasion),
            None => {
                let message = format!("'{name}' is no occasion for a notice");
                notes.unknown(names.span(), message, name, &Occasion::ALL.map(Occasion::name));
            }
        }
    }
    occasions
}

/// Reads `heartbeat`, `heartbeat_env` and `heartbeat_file`.
pub(super) fn heartbeat(
    (plain, variable, file): (Option<Spanned<String>>, Option<String>, Option<String>),
    folder: &Path,
    notes: &Notes<'_>,
) -> Option<Secret> {
    address("heartbeat", plain, notes).or_else(|| secret(variable, file, folder))
}

fn address(key: &str, address: Option<Spanned<String>>, notes: &Notes<'_>) -> Option<Secret> {
    let address = address?;
    let place = address.span();
    let address = address.into_inner();
    if !(address.starts_with("https://") || address.starts_with("http://") && is_local(&address)) {
        let hint = Some("write the address as https://…");
        notes.note(place, format!("the {key} is not an address that begins with https://"), hint);
    }
    Some(Secret::Plain(address))
}

/// Returns where a secret is: in a variable or in a file.
fn secret(variable: Option<String>, file: Option<String>, folder: &Path) -> Option<Secret> {
    variable.map(Secret::Environment).or(file.map(|path| Secret::File(folder.join(path))))
}

fn mail(raw: Spanned<RawMail>, folder: &Path, notes: &Notes<'_>) -> Option<Mail> {
    let span = raw.span();
    let raw = raw.into_inner();
    let is_address = |key: &str, text: &str, place| {
        let is_good = text.parse::<Mailbox>().is_ok();
        if !is_good {
            notes.note(place, format!("{key}: '{text}' is not the address of a person"), None);
        }
        is_good
    };
    let from = raw.from.filter(|from| is_address("from", from.get_ref(), from.span())).map(Spanned::into_inner);
    let to = raw.to.map(|to| {
        for text in &to.get_ref().0 {
            is_address("to", text, to.span());
        }
        to.into_inner().0
    });
    let security = raw.security.and_then(|name| match name.get_ref().as_str() {
        "tls" => Some(Security::Tls),
        "starttls" => Some(Security::StartTls),
        "none" => Some(Security::None),
        other => {
            notes.note(name.span(), format!("security: '{other}' is none of: starttls, tls, none"), None);
            None
        }
    });
    let security = security.unwrap_or(Security::StartTls);
    if let Some(server) = &raw.server
        && security == Security::None
        && !is_local(&format!("http://{}", server.get_ref()))
    {
        let hint = Some("use starttls or tls; none is for a server on this machine");
        notes.note(server.span(), "mail to another machine would be sent unencrypted", hint);
    }
    let usual_port = match security {
        Security::Tls => 465,
        Security::StartTls => 587,
        Security::None => 25,
    };
    if let Some(written) = &raw.password {
        let hint = "put it into a variable or a file that only you can read, and name that: password_env = \"SMTP_PASSWORD\" or password_file = \"mail.password\"";
        notes.note(written.span(), "a password does not belong in the job's file", Some(hint));
    }
    let password = secret(raw.password_env, raw.password_file, folder);
    match (&raw.user, &password) {
        (Some(user), None) if raw.password.is_none() => {
            let hint = Some("add password_env or password_file");
            notes.note(user.span(), "the password of this user is not named", hint);
        }
        (None, Some(_)) => notes.note(span.clone(), "there is a password without a user", Some("add user")),
        _ => {}
    }
    let missing = [("from", from.is_none()), ("to", to.is_none()), ("server", raw.server.is_none())];
    for (key, _) in missing.into_iter().filter(|(_, is_missing)| *is_missing) {
        notes.note(span.clone(), format!("the mail has no usable {key}"), None);
    }
    Some(Mail {
        from: from?,
        to: to?,
        server: raw.server?.into_inner(),
        port: raw.port.map_or(usual_port, NonZeroU16::get),
        security,
        user: raw.user.map(Spanned::into_inner),
        password,
        ca_file: raw.ca_file.map(|path| folder.join(path)),
    })
}
