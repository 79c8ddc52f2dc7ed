//! Permanent reasons why no trusted connection is possible.

use rustls::{AlertDescription, CertificateError, InvalidMessage, PeerIncompatible};

/// Why TLS fails with this service. Nothing was sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TlsProblem {
    #[error("the certificate of {host} expired on {at}")]
    Expired { host: String, at: String },
    #[error("the certificate of {host} is not valid before {at}")]
    NotYetValid { host: String, at: String },
    #[error("the certificate of {host} is self-signed, so this machine does not trust it")]
    SelfSigned { host: String },
    #[error("the certificate of {host} is from an unknown issuer, {issuer}, which this machine does not trust")]
    UnknownIssuer { host: String, issuer: String },
    #[error("the certificate is for another host: for {}, not for {host}", listed(names))]
    WrongHost { host: String, names: Vec<String> },
    #[error("the certificate of {host} is revoked")]
    Revoked { host: String },
    #[error("the certificate of {host} can't be accepted: {reason}")]
    InvalidCertificate { host: String, reason: String },
    #[error("the service requires a client certificate")]
    ClientCertificateRequired,
    #[error("the service does not accept the client certificate ({0})")]
    ClientCertificateRefused(String),
    #[error(
        "the address begins with https://, but the service there does not speak TLS; it probably speaks plain HTTP"
    )]
    SpeaksPlainHttp,
    #[error("the address begins with http://, but the service there speaks HTTPS")]
    SpeaksTls,
    #[error("the service has no version of TLS that is still secure: it needs TLS 1.2 or 1.3")]
    OldVersion,
    #[error("the service and this program have no kind of encryption in common ({0})")]
    NothingInCommon(String),
}

impl TlsProblem {
    /// Returns a hint for the user, without a full stop.
    pub(crate) fn hint(&self) -> &'static str {
        match self {
            TlsProblem::Expired { .. } => {
                "ask the service's operator to renew it; if the date is in the future, correct the clock of this machine"
            }
            TlsProblem::NotYetValid { .. } => "check the clock of this machine",
            TlsProblem::SelfSigned { .. } => {
                "if it is the right service, get its certificate from the operator as a PEM file, and name the file with --ca-file or SHEETPORT_CA_FILE"
            }
            TlsProblem::UnknownIssuer { .. } => {
                "if it is the CA of your organization or of its proxy, name a PEM file with the CA's certificate with --ca-file or SHEETPORT_CA_FILE; otherwise somebody may be reading along"
            }
            TlsProblem::WrongHost { .. } => {
                "use one of the names in the certificate in the base address, if it is the right service"
            }
            TlsProblem::Revoked { .. } | TlsProblem::InvalidCertificate { .. } => {
                "ask the service's operator for a valid certificate of a server"
            }
            TlsProblem::ClientCertificateRequired => {
                "name the PEM files of your certificate and its key with --client-cert and --client-key, or SHEETPORT_CLIENT_CERT and SHEETPORT_CLIENT_KEY"
            }
            TlsProblem::ClientCertificateRefused(_) => {
                "check that --client-cert names a certificate that this service knows and that has not expired"
            }
            TlsProblem::SpeaksPlainHttp => {
                "check host and port of the base address; with http:// another machine gets the token unencrypted, which needs --insecure-http"
            }
            TlsProblem::SpeaksTls => "write https:// in the base address",
            TlsProblem::OldVersion | TlsProblem::NothingInCommon(_) => {
                "ask the service's operator to support TLS 1.3, or at least TLS 1.2"
            }
        }
    }

    /// Returns the problem behind an error of TLS, or `None` if a repetition could succeed. During the handshake
    /// (`is_connecting`) nothing of the request was sent; afterwards only alerts about the client's certificate say so.
    pub(crate) fn of(error: &rustls::Error, is_connecting: bool, has_client_cert: bool) -> Option<TlsProblem> {
        use rustls::Error as E;
        match error {
            E::AlertReceived(alert) => TlsProblem::of_alert(*alert, is_connecting, has_client_cert),
            _ if !is_connecting => None,
            E::InvalidCertificate(CertificateError::Other(other)) => other.0.downcast_ref::<TlsProblem>().cloned(),
            E::InvalidMessage(InvalidMessage::InvalidContentType) => Some(TlsProblem::SpeaksPlainHttp),
            E::PeerIncompatible(
                PeerIncompatible::ServerDoesNotSupportTls12Or13
                | PeerIncompatible::ServerTlsVersionIsDisabledByOurConfig,
            ) => Some(TlsProblem::OldVersion),
            E::PeerIncompatible(why) => Some(TlsProblem::NothingInCommon(format!("{why:?}"))),
            _ => None,
        }
    }

    fn of_alert(alert: AlertDescription, is_connecting: bool, has_client_cert: bool) -> Option<TlsProblem> {
        use AlertDescription as A;
        Some(match alert {
            A::CertificateRequired => TlsProblem::ClientCertificateRequired,
            A::BadCertificate if !has_client_cert => TlsProblem::ClientCertificateRequired,
            A::BadCertificate
            | A::UnsupportedCertificate
            | A::CertificateRevoked
            | A::CertificateExpired
            | A::CertificateUnknown
            | A::UnknownCA
            | A::AccessDenied => TlsProblem::ClientCertificateRefused(format!("{alert:?}")),
            A::ProtocolVersion if is_connecting => TlsProblem::OldVersion,
            A::InsufficientSecurity if is_connecting => TlsProblem::NothingInCommon(format!("{alert:?}")),
            A::HandshakeFailure if is_connecting => TlsProblem::NothingInCommon(match has_client_cert {
                true => format!("{alert:?}"),
                false => format!("{alert:?}; perhaps it requires a client certificate: --client-cert"),
            }),
            _ => return None,
        })
    }

    /// Returns the problem reported by a 400 response. Web servers respond like this if encryption is missing or one-sided,
    /// before the service gets the request.
    pub(crate) fn of_bad_request(body: &[u8]) -> Option<TlsProblem> {
        let body = &body[..body.len().min(4096)];
        let says = |text: &str| memchr::memmem::find(body, text.as_bytes()).is_some();
        let speaks_tls = [
            "The plain HTTP request was sent to HTTPS port",
            "Client sent an HTTP request to an HTTPS server",
            "speaking plain HTTP to an SSL-enabled server port",
        ];
        if speaks_tls.into_iter().any(says) {
            Some(TlsProblem::SpeaksTls)
        } else if says("No required SSL certificate was sent") {
            Some(TlsProblem::ClientCertificateRequired)
        } else if says("The SSL certificate error") {
            Some(TlsProblem::ClientCertificateRefused("400".to_owned()))
        } else {
            None
        }
    }
}

/// Returns the names in a certificate for a sentence.
fn listed(names: &[String]) -> String {
    const MOST: usize = 5;
    match names {
        [] => "no name at all".to_owned(),
        names if names.len() <= MOST => names.join(", "),
        names => format!("{} and {} more", names[..MOST].join(", "), names.len() - MOST),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_alerts_about_certificates_concern_a_request_that_is_on_its_way() {
        let problem = |alert, is_connecting| {
            TlsProblem::of(&rustls::Error::AlertReceived(alert), is_connecting, false)
                .map(|problem| problem.to_string())
        };
        for is_connecting in [true, false] {
            let required = problem(AlertDescription::CertificateRequired, is_connecting);
            assert_eq!(required.as_deref(), Some("the service requires a client certificate"));
            assert_eq!(problem(AlertDescription::InternalError, is_connecting), None);
        }
        assert!(problem(AlertDescription::HandshakeFailure, true).is_some_and(|text| text.contains("--client-cert")));
        assert_eq!(problem(AlertDescription::HandshakeFailure, false), None);
        assert_eq!(TlsProblem::of(&rustls::Error::DecryptError, true, false), None);
    }

    #[test]
    fn answers_of_web_servers_name_the_missing_encryption() {
        let nginx = b"<center><h1>400 Bad Request</h1></center>\r\n<center>The plain HTTP request was sent to HTTPS port</center>";
        assert_eq!(TlsProblem::of_bad_request(nginx), Some(TlsProblem::SpeaksTls));
        let go = b"Client sent an HTTP request to an HTTPS server.\n";
        assert_eq!(TlsProblem::of_bad_request(go), Some(TlsProblem::SpeaksTls));
        let nginx = b"<center>No required SSL certificate was sent</center>";
        assert_eq!(TlsProblem::of_bad_request(nginx), Some(TlsProblem::ClientCertificateRequired));
        assert_eq!(TlsProblem::of_bad_request(br#"{"message": "the name is missing"}"#), None);
    }

    #[test]
    fn long_lists_of_names_are_cut() {
        let names: Vec<String> = (0..7).map(|number| format!("host{number}.example")).collect();
        assert!(listed(&names).ends_with("host4.example and 2 more"));
        assert_eq!(listed(&[]), "no name at all");
    }
}
