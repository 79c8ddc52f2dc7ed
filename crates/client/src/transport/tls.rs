//! TLS: trusted certificates, the client certificate, and checks of the service's certificate that explain a refusal.
//!
//! Adds to the certificates of the system, and wraps the platform's verifier, so a refusal carries the reason (`TlsProblem`): repeating
//! would not help, and the run stops.

use std::path::Path;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::verify_server_name;
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, OtherError, SignatureScheme};
use rustls_platform_verifier::Verifier;
use x509_cert::Certificate;
use x509_cert::der::Decode as _;

use super::options::{ClientCert, ConnectOptions};
use crate::auth::exposed_beyond_group;
use crate::error::Error;
use crate::outcome::TlsProblem;

/// Creates the configuration for all connections to a service.
///
/// # Errors
/// If a file of `options` can't be used, or if there are no CA certificates at all.
pub(super) fn config(options: &ConnectOptions) -> Result<ClientConfig, Error> {
    let no_client = |error: rustls::Error| Error::Client(error.to_string());
    let provider = Arc::new(aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(no_client)?;
    let verifier = Explaining::new(options.ca_file.as_deref(), provider)?;
    let builder = builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier));
    let mut config = match &options.client_cert {
        None => builder.with_no_client_auth(),
        Some(ClientCert { cert, key }) => {
            let chain = certificates(cert, "client certificate")?;
            let key = private_key(key.as_deref().unwrap_or(cert))?;
            let does_not_fit = |error: rustls::Error| {
                let hint = "name the key that belongs to the first certificate in the file, with --client-key";
                Error::unusable("client certificate", cert, &error.to_string(), hint)
            };
            builder.with_client_auth_cert(chain, key).map_err(does_not_fit)?
        }
    };
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}

/// Reads all certificates in a PEM file. `what` names the file in messages.
fn certificates(path: &Path, what: &'static str) -> Result<Vec<CertificateDer<'static>>, Error> {
    let unusable = |why: &str, hint: &str| Error::unusable(what, path, why, hint);
    let bytes = read(path, what)?;
    let found: Result<Vec<_>, pem::Error> = CertificateDer::pem_slice_iter(&bytes).collect();
    let found = found.map_err(|error| unusable(&error.to_string(), "name a PEM file with certificates"))?;
    if !found.is_empty() {
        return Ok(found);
    }
    match Certificate::from_der(&bytes) {
        Ok(_) => Err(unusable(
            "it is a certificate in binary form (DER), not in PEM",
            "convert it: openssl x509 -inform der -in FILE -out FILE.pem",
        )),
        Err(_) => Err(unusable("it contains no certificate", "name a PEM file; it has the line BEGIN CERTIFICATE")),
    }
}

fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>, Error> {
    const WHAT: &str = "client key";
    let unusable = |why: &str, hint: &str| Error::unusable(WHAT, path, why, hint);
    let bytes = read(path, WHAT)?;
    let key = PrivateKeyDer::from_pem_slice(&bytes).map_err(|error| match error {
        _ if memchr::memmem::find(&bytes, b"ENCRYPTED").is_some() => unusable(
            "it is protected by a password",
            "make a copy without one, readable only by you: openssl pkey -in FILE -out KEY.pem",
        ),
        pem::Error::NoItemsFound => {
            unusable("it contains no private key", "name the PEM file with the key with --client-key")
        }
        error => unusable(&error.to_string(), "name a PEM file with a private key"),
    })?;
    match exposed_beyond_group(path).map_err(|error| unusable(&error.to_string(), OPEN))? {
        Some(exposed) => Err(exposed.into()),
        None => Ok(key),
    }
}

const OPEN: &str = "check the path, and that you may read the file";

fn read(path: &Path, what: &'static str) -> Result<Vec<u8>, Error> {
    std::fs::read(path).map_err(|error| Error::unusable(what, path, &error.to_string(), OPEN))
}

/// The verifier of the system. Adds the reason for a refusal to its error, as a [`TlsProblem`].
#[derive(Debug)]
struct Explaining {
    system: Verifier,
    /// The certificates in the CA file.
    added: Vec<CertificateDer<'static>>,
}

impl Explaining {
    fn new(ca_file: Option<&Path>, provider: Arc<CryptoProvider>) -> Result<Explaining, Error> {
        let Some(path) = ca_file else {
            let system = Verifier::new(provider).map_err(|error| Error::Client(error.to_string()))?;
            return Ok(Explaining { system, added: Vec::new() });
        };
        let added = certificates(path, "CA file")?;
        let system = Verifier::new_with_extra_roots(added.clone(), provider).map_err(|error| {
            let hint =
                "name a PEM file with certificates of a CA, each between the lines BEGIN CERTIFICATE and END CERTIFICATE";
            Error::unusable("CA file", path, &error.to_string(), hint)
        })?;
        Ok(Explaining { system, added })
    }

    /// Returns the reason for refusing a certificate, or `None` if the certificate is in the CA file, matches the host, and is
    /// valid. The system also refuses such certificates if they are marked as a CA, as self-signed server certificates often are.
    fn refusal(
        &self,
        why: CertificateError,
        end_entity: &CertificateDer<'_>,
        server_name: &ServerName<'_>,
        now: UnixTime,
    ) -> Option<CertificateError> {
        if !self.added.iter().any(|added| added == end_entity) {
            return Some(why);
        }
        let (Ok(parsed), Ok(certificate)) =
            (ParsedCertificate::try_from(end_entity), Certificate::from_der(end_entity))
        else {
            return Some(why);
        };
        let validity = certificate.tbs_certificate().validity();
        if now.as_secs() < validity.not_before.to_unix_duration().as_secs() {
            return Some(CertificateError::NotValidYet);
        }
        if now.as_secs() > validity.not_after.to_unix_duration().as_secs() {
            return Some(CertificateError::Expired);
        }
        match verify_server_name(&parsed, server_name) {
            Ok(()) => None,
            Err(rustls::Error::InvalidCertificate(why)) => Some(why),
            Err(_) => Some(why),
        }
    }
}

impl ServerCertVerifier for Explaining {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let verified = self.system.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now);
        let Err(rustls::Error::InvalidCertificate(why)) = verified else { return verified };
        let Some(why) = self.refusal(why, end_entity, server_name, now) else {
            return Ok(ServerCertVerified::assertion());
        };
        let last = intermediates.last().unwrap_or(end_entity);
        let problem = explain(why, end_entity, last, &server_name.to_str());
        Err(rustls::Error::InvalidCertificate(CertificateError::Other(OtherError(Arc::new(problem)))))
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.system.verify_tls12_signature(message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.system.verify_tls13_signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.system.supported_verify_schemes()
    }
}

/// Returns the problem with a refused certificate. `last` is the last certificate of the chain that the service presented.
fn explain(
    why: CertificateError,
    end_entity: &CertificateDer<'_>,
    last: &CertificateDer<'_>,
    host: &str,
) -> TlsProblem {
    use CertificateError as C;
    let host = host.to_owned();
    let certificate = Certificate::from_der(end_entity).ok();
    let validity = certificate.as_ref().map(|certificate| certificate.tbs_certificate().validity());
    let at = |time: Option<x509_cert::time::Time>| time.map_or("an unknown date".to_owned(), |time| time.to_string());
    match why {
        C::Expired | C::ExpiredContext { .. } => {
            TlsProblem::Expired { host, at: at(validity.map(|validity| validity.not_after)) }
        }
        C::NotValidYet | C::NotValidYetContext { .. } => {
            TlsProblem::NotYetValid { host, at: at(validity.map(|validity| validity.not_before)) }
        }
        C::NotValidForName => TlsProblem::WrongHost { host, names: Vec::new() },
        C::NotValidForNameContext { presented, .. } => {
            TlsProblem::WrongHost { host, names: presented.iter().map(|name| plain_name(name)).collect() }
        }
        C::Revoked => TlsProblem::Revoked { host },
        _ if is_self_signed(certificate.as_ref()) => TlsProblem::SelfSigned { host },
        C::UnknownIssuer => {
            let issuer = Certificate::from_der(last).map(|last| last.tbs_certificate().issuer().to_string());
            let issuer = issuer.unwrap_or_else(|_| "whose name can't be read".to_owned());
            TlsProblem::UnknownIssuer { host, issuer: plain(&issuer) }
        }
        other => TlsProblem::InvalidCertificate { host, reason: plain(&other.to_string()) },
    }
}

fn is_self_signed(certificate: Option<&Certificate>) -> bool {
    let names = certificate.map(Certificate::tbs_certificate);
    names.is_some_and(|names| names.issuer() == names.subject())
}

/// Returns a text from a certificate for a message: printable, on one line, and shortened.
fn plain(text: &str) -> String {
    const MOST: usize = 200;
    let is_printable = |c: char| c == ' ' || c.is_alphanumeric() || c.is_ascii_punctuation();
    text.chars().take(MOST).map(|c| if is_printable(c) { c } else { '?' }).collect()
}

/// Returns the bare name in `DnsName("host.example")` or `IpAddress(127.0.0.1)`.
fn plain_name(name: &str) -> String {
    let bare = name.split_once('(').and_then(|(_, rest)| rest.strip_suffix(')')).unwrap_or(name);
    plain(bare.trim_matches('"'))
}
