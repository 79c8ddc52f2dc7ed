//! Mail by SMTP.

use std::time::Duration;

use lettre::message::header::ContentType;
use lettre::message::{Attachment as Part, Mailbox, MultiPart, SinglePart};
use lettre::transport::smtp::authentication::Credentials;
use lettre::transport::smtp::client::{Certificate, Tls, TlsParameters};
use lettre::{Message, SmtpTransport, Transport};
use secrecy::ExposeSecret;
use sheetport_client::root_cause;

use super::super::definition::{Mail, Security};
use super::news::{Attachment, News, read};

/// How long the mail server may take to answer.
const TIMEOUT: Duration = Duration::from_secs(30);
const WORKBOOK: &str = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";

/// Sends the news with the reports.
pub(super) async fn send(mail: &Mail, news: &News, attachments: Vec<Attachment>) -> Result<(), String> {
    let message = message(mail, news, attachments)?;
    let transport = transport(mail)?;
    let server = mail.server.clone();
    let sent = tokio::task::spawn_blocking(move || transport.send(&message).map(drop)).await;
    let sent = sent.map_err(|error| error.to_string())?;
    sent.map_err(|error| format!("{server} did not take the mail: {}", root_cause(&error)))
}

fn message(mail: &Mail, news: &News, attachments: Vec<Attachment>) -> Result<Message, String> {
    let address = |text: &str| text.parse::<Mailbox>().map_err(|error| format!("{text}: {error}"));
    let mut builder = Message::builder().from(address(&mail.from)?).subject(news.subject.clone());
    for to in &mail.to {
        builder = builder.to(address(to)?);
    }
    // Tells programs with automatic replies not to answer this mail.
    builder = builder.raw_header(AutoSubmitted::header());
    let text = SinglePart::plain(news.text.clone());
    let parts = attachments.into_iter().map(|Attachment { name, content }| {
        let kind = match name.rsplit('.').next() {
            Some("xlsx") => WORKBOOK,
            Some("csv") => "text/csv; charset=utf-8",
            Some("html") => "text/html; charset=utf-8",
            _ => "text/plain; charset=utf-8",
        };
        let kind = ContentType::parse(kind).unwrap_or(ContentType::TEXT_PLAIN);
        Part::new(name).body(content, kind)
    });
    let body = parts.fold(MultiPart::mixed().singlepart(text), MultiPart::singlepart);
    builder.multipart(body).map_err(|error| error.to_string())
}

struct AutoSubmitted;

impl AutoSubmitted {
    fn header() -> lettre::message::header::HeaderValue {
        let name = lettre::message::header::HeaderName::new_from_ascii_str("Auto-Submitted");
        lettre::message::header::HeaderValue::new(name, "auto-generated".to_owned())
    }
}

fn transport(mail: &Mail) -> Result<SmtpTransport, String> {
    let mut builder = SmtpTransport::builder_dangerous(&mail.server).port(mail.port).timeout(Some(TIMEOUT));
    if mail.security != Security::None {
        let mut parameters = TlsParameters::builder(mail.server.clone());
        if let Some(path) = &mail.ca_file {
            let pem = std::fs::read(path).map_err(|error| format!("{} can't be read: {error}", path.display()))?;
            let certificate = Certificate::from_pem(&pem).map_err(|error| format!("{}: {error}", path.display()))?;
            parameters = parameters.add_root_certificate(certificate);
        }
        let parameters = parameters.build().map_err(|error| error.to_string())?;
        builder = builder.tls(match mail.security {
            Security::Tls => Tls::Wrapper(parameters),
            Security::StartTls | Security::None => Tls::Required(parameters),
        });
    }
    if let Some((user, password)) = mail.user.as_ref().zip(mail.password.as_ref()) {
        let password = read(password)?;
        builder = builder.credentials(Credentials::new(user.clone(), password.expose_secret().to_owned()));
    }
    Ok(builder.build())
}
