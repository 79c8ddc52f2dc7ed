//! Reads `[[notify]]`.

use std::path::Path;

use lettre::message::Mailbox;
use sheetport_client::is_local;
use sheetport_documents::suggestion;

use super::keys::Keys;
use super::model::{Channel, Mail, Notice, Occasion, Secret, Security};

/// Reads a notice. Paths are relative to `folder`.
pub(super) fn read(keys: Keys<'_>, folder: &Path) -> Option<Notice> {
    let on = occasions(&keys);
    let attach = keys.choice("attach").unwrap_or(true);
    let command = keys.texts("command").map(|(span, words)| {
        let words: Vec<String> = words.into_iter().map(|(_, word)| word).collect();
        if words.first().is_none_or(|program| program.trim().is_empty()) {
            keys.mistake(
                span,
                "command names no program",
                Some("name it with its arguments: command = [\"notify-send\", \"sheetport\"]"),
            );
        }
        Channel::Command(words)
    });
    let webhook = webhook(&keys, folder).map(Channel::Webhook);
    let mail = keys.table("mail").map(|table| mail(table, folder));
    let has_mail = mail.is_some();
    let mail = mail.flatten().map(|mail| Channel::Mail(Box::new(mail)));
    let mut channels: Vec<Channel> = [command, webhook, mail].into_iter().flatten().collect();
    if channels.len() > 1 {
        keys.mistake(
            keys.span(),
            "a notice has more than one of command, webhook and mail",
            Some("make a [[notify]] for each"),
        );
    } else if channels.is_empty() && !has_mail {
        keys.mistake(keys.span(), "the notice has neither command, webhook nor mail", None);
    }
    keys.finish();
    Some(Notice { on, by: channels.pop()?, attach })
}

fn occasions(keys: &Keys<'_>) -> Vec<Occasion> {
    let Some((_, names)) = keys.texts("on") else { return vec![Occasion::Failure] };
    let mut occasions = Vec::new();
    for (span, name) in names {
        match Occasion::ALL.into_iter().find(|occasion| occasion.name() == name) {
            Some(occasion) => occasions.push(occasion),
            None => {
                let hint = suggestion(&name, &Occasion::ALL.map(Occasion::name));
                keys.mistake(span, format!("'{name}' is no occasion for a notice"), Some(&hint));
            }
        }
    }
    occasions
}

fn webhook(keys: &Keys<'_>, folder: &Path) -> Option<Secret> {
    let plain = keys.text("webhook");
    if let Some((span, address)) = &plain {
        let is_safe = address.starts_with("https://") || address.starts_with("http://") && is_local(address);
        if !is_safe {
            let hint = Some("write the address as https://…");
            keys.mistake(span.clone(), "the webhook is not an address that begins with https://", hint);
        }
    }
    let plain = plain.map(|(_, address)| Secret::Plain(address));
    plain.or_else(|| secret(keys, "webhook_env", "webhook_file", folder))
}

/// Reads the name of a variable or of a file with a secret.
fn secret(keys: &Keys<'_>, variable: &'static str, file: &'static str, folder: &Path) -> Option<Secret> {
    let variable = keys.text(variable).map(|(_, name)| Secret::Environment(name));
    let file = keys.text(file).map(|(_, path)| Secret::File(folder.join(path)));
    variable.or(file)
}

fn mail(keys: Keys<'_>, folder: &Path) -> Option<Mail> {
    let address = |text: &str| match text.parse::<Mailbox>() {
        Ok(_) => Ok(text.to_owned()),
        Err(_) => Err(format!("'{text}' is not the address of a person")),
    };
    let from = keys.parsed("from", address);
    let to = keys.texts("to").map(|(_, to)| {
        for (span, text) in &to {
            if let Err(why) = address(text) {
                keys.mistake(span.clone(), format!("to: {why}"), None);
            }
        }
        to.into_iter().map(|(_, text)| text).collect::<Vec<_>>()
    });
    let server = keys.text("server");
    let security = keys.parsed("security", |name| match name {
        "tls" => Ok(Security::Tls),
        "starttls" => Ok(Security::StartTls),
        "none" => Ok(Security::None),
        name => Err(format!("'{name}' is none of: starttls, tls, none")),
    });
    let security = security.unwrap_or(Security::StartTls);
    if let Some((span, server)) = &server
        && security == Security::None
        && !is_local(&format!("http://{server}"))
    {
        let hint = Some("use starttls or tls; none is for a server on this machine");
        keys.mistake(span.clone(), "mail to another machine would be sent unencrypted", hint);
    }
    let usual_port = match security {
        Security::Tls => 465,
        Security::StartTls => 587,
        Security::None => 25,
    };
    let port = keys.number("port", 1..=65_535).and_then(|port| u16::try_from(port).ok()).unwrap_or(usual_port);
    let written = keys.text("password");
    if let Some((span, _)) = &written {
        let hint = "put it into a variable or a file that only you can read, and name that: password_env = \"SMTP_PASSWORD\" or password_file = \"mail.password\"";
        keys.mistake(span.clone(), "a password does not belong in the job's file", Some(hint));
    }
    let user = keys.text("user");
    let password = secret(&keys, "password_env", "password_file", folder);
    match (&user, &password) {
        (Some((span, _)), None) if written.is_none() => keys.mistake(
            span.clone(),
            "the password of this user is not named",
            Some("add password_env or password_file"),
        ),
        (None, Some(_)) => keys.mistake(keys.span(), "there is a password without a user", Some("add user")),
        _ => {}
    }
    let ca_file = keys.text("ca_file").map(|(_, path)| folder.join(path));
    let missing = [("from", from.is_none()), ("to", to.is_none()), ("server", server.is_none())];
    for (key, _) in missing.into_iter().filter(|(_, is_missing)| *is_missing) {
        keys.mistake(keys.span(), format!("the mail has no usable {key}"), None);
    }
    keys.finish();
    Some(Mail {
        from: from?,
        to: to?,
        server: server?.1,
        port,
        security,
        user: user.map(|(_, user)| user),
        password,
        ca_file,
    })
}
