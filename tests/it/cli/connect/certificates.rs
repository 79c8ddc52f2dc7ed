//! A CA of the tests, and certificates made at run time.

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair, date_time_ymd,
};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

pub struct Authority(CertifiedIssuer<'static, KeyPair>);

/// A certificate with its key.
pub struct Identity {
    pub cert: String,
    pub key: String,
    der: CertificateDer<'static>,
    key_der: Vec<u8>,
}

impl Authority {
    pub fn new(name: &str) -> Authority {
        let mut params = CertificateParams::new([]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, name);
        Authority(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    pub fn pem(&self) -> String {
        self.0.pem()
    }

    pub fn der(&self) -> CertificateDer<'static> {
        self.0.der().clone()
    }

    /// Makes a certificate for these hosts.
    pub fn server(&self, hosts: &[&str]) -> Identity {
        self.issue(params(hosts))
    }

    /// Makes a certificate for 127.0.0.1 that is valid from the beginning of one year to that of another.
    pub fn server_between(&self, first: i32, last: i32) -> Identity {
        let mut params = params(&["127.0.0.1"]);
        (params.not_before, params.not_after) = (date_time_ymd(first, 1, 1), date_time_ymd(last, 1, 1));
        self.issue(params)
    }

    /// Makes a certificate of a client.
    pub fn client(&self) -> Identity {
        let mut params = params(&["worker"]);
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        self.issue(params)
    }

    fn issue(&self, params: CertificateParams) -> Identity {
        let key = KeyPair::generate().unwrap();
        let cert = params.signed_by(&key, &self.0).unwrap();
        Identity::new(&cert, &key)
    }
}

impl Identity {
    fn new(cert: &rcgen::Certificate, key: &KeyPair) -> Identity {
        let (der, key_der) = (cert.der().clone(), key.serialize_der());
        Identity { cert: cert.pem(), key: key.serialize_pem(), der, key_der }
    }

    /// Makes a certificate for 127.0.0.1 that nobody else has signed.
    pub fn self_signed() -> Identity {
        let key = KeyPair::generate().unwrap();
        Identity::new(&params(&["127.0.0.1"]).self_signed(&key).unwrap(), &key)
    }

    /// As [`Identity::self_signed`], for a CA, as `openssl req -x509` makes it.
    pub fn self_signed_ca(hosts: &[&str], last_year: i32) -> Identity {
        let (key, mut params) = (KeyPair::generate().unwrap(), params(hosts));
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.not_after = date_time_ymd(last_year, 1, 1);
        Identity::new(&params.self_signed(&key).unwrap(), &key)
    }

    pub fn parts(&self) -> (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>) {
        (vec![self.der.clone()], PrivateKeyDer::Pkcs8(self.key_der.clone().into()))
    }
}

fn params(hosts: &[&str]) -> CertificateParams {
    let mut params = CertificateParams::new(hosts.iter().map(|&host| host.to_owned()).collect::<Vec<_>>()).unwrap();
    params.distinguished_name.push(DnType::CommonName, hosts[0]);
    params
}
