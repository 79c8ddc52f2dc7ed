//! Chooses the address and the tokens of a command. Tokens are only sent to the address they belong to.
//!
//! Tokens of another address are withheld with a reason; `Context::client` in `operations` returns this reason before anything is sent.

use std::io;
use std::path::{Path, PathBuf};

use super::credentials::{Credentials, TokenFile};
use super::exposure::Exposed;
use super::keyring::{self, KEYRING_HINT};
use super::token_file::Unreadable;
use crate::base_url;

/// Tokens from the environment, and the only service that may receive them.
#[derive(Clone, Debug, Default)]
pub struct EnvironmentTokens {
    pub credentials: Credentials,
    /// The service of the tokens; `None` if the environment does not say.
    pub home: Option<TokenHome>,
}

/// The service that may receive tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TokenHome {
    /// A base address (SHEETPORT_BASE_URL).
    Address(String),
    /// A host with or without port, or an address. Covers all base addresses on this host (SHEETPORT_TOKEN_HOST).
    Host(String),
}

/// A base address and its origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedAddress {
    pub address: String,
    pub from: AddressOrigin,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressOrigin {
    Flag,
    Environment,
    Settings,
    Login,
    Run,
}

impl AddressOrigin {
    /// Returns the name for programs.
    pub fn code(self) -> &'static str {
        match self {
            AddressOrigin::Flag => "flag",
            AddressOrigin::Environment => "environment",
            AddressOrigin::Settings => "settings",
            AddressOrigin::Login => "login",
            AddressOrigin::Run => "run",
        }
    }

    /// Returns where the address comes from, for people.
    pub fn described(self) -> &'static str {
        match self {
            AddressOrigin::Flag => "from --base-url",
            AddressOrigin::Environment => "from SHEETPORT_BASE_URL",
            AddressOrigin::Settings => "from sheetport.toml",
            AddressOrigin::Login => "stored by login",
            AddressOrigin::Run => "of the run",
        }
    }
}

impl TokenOrigin {
    /// Returns the name for programs.
    pub fn code(self) -> &'static str {
        match self {
            TokenOrigin::Environment => "environment",
            TokenOrigin::Login => "stored",
            TokenOrigin::Keyring => "keyring",
        }
    }

    /// Returns where the tokens come from, for people.
    pub fn described(self) -> &'static str {
        match self {
            TokenOrigin::Environment => "from the environment",
            TokenOrigin::Login => "stored by login",
            TokenOrigin::Keyring => "stored by login in the keyring of the system",
        }
    }
}

/// Where tokens come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenOrigin {
    Environment,
    /// The token file of the profile.
    Login,
    /// The keyring of the system, by the token file of the profile.
    Keyring,
}

impl TokenOrigin {
    /// Returns where the tokens of `login` are.
    pub fn of_login(file: &TokenFile) -> TokenOrigin {
        if file.is_in_keyring() { TokenOrigin::Keyring } else { TokenOrigin::Login }
    }
}

/// The input for choosing the address and the tokens of a command.
#[derive(Debug)]
pub struct Choice<'a> {
    pub environment: &'a EnvironmentTokens,
    /// An address with priority over the stored address.
    pub address: Option<NamedAddress>,
    /// The address to use if no other is known.
    pub fallback: Option<NamedAddress>,
    /// The token file of the profile.
    pub file: &'a TokenFile,
    /// Whether stored tokens have priority over tokens from the environment, because the command names the profile.
    pub prefers_stored: bool,
    /// Folder of all token files.
    pub home: &'a Path,
    /// Whether the command uses tokens. Otherwise the keyring is not read: unlocking may require a person.
    pub uses_tokens: bool,
}

/// The address and the tokens of a command.
#[derive(Clone, Debug, Default)]
pub struct Chosen {
    pub address: Option<NamedAddress>,
    pub credentials: Credentials,
    /// Where the tokens come from; `None` without tokens.
    pub tokens: Option<TokenOrigin>,
    /// The reason for not using existing tokens.
    pub withheld: Option<Withheld>,
}

/// The reason for not using existing tokens.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Withheld {
    /// SHEETPORT_BASE_URL names another service for the tokens of the environment.
    #[error("the tokens of the environment are for {home}, not for {address}")]
    Elsewhere { address: String, home: String },
    /// SHEETPORT_TOKEN_HOST names another host for the tokens of the environment. `origin` is the value that fits the address.
    #[error("the tokens of the environment are for {home}, not for {address}")]
    OtherHost { address: String, home: String, origin: String },
    /// The environment does not specify the service of its tokens.
    #[error("the environment has tokens, but does not say that they are for {address}")]
    Homeless { address: String },
    #[error(transparent)]
    Exposed(#[from] Exposed),
    #[error("the stored tokens can't be read: {why}")]
    InKeyring { why: String },
    #[error("{} can't be read: {why}", path.display())]
    Unreadable { path: PathBuf, why: String },
}

impl Withheld {
    /// Returns a hint for the user, without a full stop.
    pub fn hint(&self) -> String {
        match self {
            Withheld::Elsewhere { address, .. } => format!(
                "set the tokens of {address} and SHEETPORT_BASE_URL={address}, or run `sheetport login --base-url {address}`"
            ),
            Withheld::OtherHost { address, origin, .. } => format!(
                "SHEETPORT_TOKEN_HOST says so; if the tokens are for this service, set SHEETPORT_TOKEN_HOST={origin}; otherwise set the \
                 tokens of {address}, or run `sheetport login --base-url {address}`"
            ),
            Withheld::Homeless { address } => format!(
                "if they are for this service, set SHEETPORT_BASE_URL={address} or SHEETPORT_TOKEN_HOST={address} as well"
            ),
            Withheld::Exposed(exposed) => exposed.hint(),
            Withheld::InKeyring { .. } => KEYRING_HINT.to_owned(),
            Withheld::Unreadable { .. } => "remove the file and run `sheetport login` again".to_owned(),
        }
    }

    fn of_file(file: &TokenFile, why: Unreadable) -> Withheld {
        match why {
            Unreadable::Exposed(exposed) => exposed.into(),
            Unreadable::Io(error) => Withheld::unreadable(file, &error),
        }
    }

    fn unreadable(file: &TokenFile, error: &io::Error) -> Withheld {
        let why = error.to_string();
        match keyring::is_at_fault(error) {
            true => Withheld::InKeyring { why },
            false => Withheld::Unreadable { path: file.path().to_owned(), why },
        }
    }
}

impl TokenHome {
    fn includes(&self, base: &str) -> bool {
        match self {
            TokenHome::Address(home) => base_url::is_same(home, base),
            TokenHome::Host(home) => base_url::is_on_host(base, home),
        }
    }

    fn shown(&self) -> String {
        let (TokenHome::Address(home) | TokenHome::Host(home)) = self;
        base_url::redacted(home.trim())
    }
}

impl Choice<'_> {
    /// Chooses the address, and the tokens for this address.
    pub fn make(self) -> Chosen {
        let Choice { environment, address, fallback, file, prefers_stored, home, uses_tokens } = self;
        if !uses_tokens {
            let of_login = || Some(NamedAddress { address: file.address()?, from: AddressOrigin::Login });
            return Chosen { address: address.or_else(of_login).or(fallback), ..Chosen::default() };
        }
        let read = file.read().map_err(|why| Withheld::of_file(file, why));
        let (stored, unusable) = match read {
            Ok(stored) => (stored, None),
            Err(withheld) => (None, Some(withheld)),
        };
        let of_login = stored.as_ref().map(|(address, _)| address.clone());
        let of_login = of_login.map(|address| NamedAddress { address, from: AddressOrigin::Login });
        let Some(address) = address.or(of_login).or(fallback) else {
            return Chosen { withheld: unusable, ..Chosen::default() };
        };
        let base = address.address.clone();
        let stored = stored.filter(|(stored, _)| base_url::is_same(stored, &base)).map(|(_, credentials)| credentials);
        let of_login = stored.as_ref().and_then(|stored| stored.file.as_ref()).map(TokenOrigin::of_login);
        let chosen =
            |credentials, tokens| Chosen { address: Some(address.clone()), credentials, tokens, withheld: None };
        let withheld = |why| Chosen { withheld: Some(why), ..chosen(Credentials::default(), None) };
        let is_at_home = environment.home.as_ref().is_some_and(|home| home.includes(&base));
        match (stored, unusable) {
            (Some(stored), _) if prefers_stored => chosen(stored, of_login),
            (None, Some(why)) if prefers_stored => withheld(why),
            _ if is_at_home && !environment.credentials.is_empty() => {
                match environment.credentials.clone().kept_below(home, &base) {
                    Ok(credentials) => chosen(credentials, Some(TokenOrigin::Environment)),
                    Err((file, why)) => withheld(Withheld::of_file(&file, why)),
                }
            }
            (Some(stored), _) => chosen(stored, of_login),
            (None, Some(why)) => withheld(why),
            (None, None) if environment.credentials.is_empty() => chosen(Credentials::default(), None),
            (None, None) => {
                let address = base_url::redacted(&base);
                withheld(match &environment.home {
                    Some(home @ TokenHome::Address(_)) => Withheld::Elsewhere { address, home: home.shown() },
                    Some(home @ TokenHome::Host(_)) => {
                        Withheld::OtherHost { origin: base_url::origin(&base), address, home: home.shown() }
                    }
                    None => Withheld::Homeless { address },
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret as _;

    use super::*;

    const SHOP: &str = "https://shop.example";

    fn tokens(access: &str) -> Credentials {
        Credentials { access: Some(access.to_owned().into()), ..Credentials::default() }
    }

    /// Chooses with a token `stored` for `SHOP` and the token `environment` for `home`.
    fn choose(
        address: Option<&str>,
        home: Option<TokenHome>,
        prefers_stored: bool,
    ) -> (Option<String>, Option<Withheld>) {
        let folder = tempfile::tempdir().expect("a folder");
        let file = TokenFile::of(folder.path(), "default");
        file.write(SHOP, &tokens("stored")).expect("written");
        let environment = EnvironmentTokens { credentials: tokens("environment"), home };
        let address = address.map(|address| NamedAddress { address: address.to_owned(), from: AddressOrigin::Flag });
        let choice = Choice {
            environment: &environment,
            address,
            fallback: None,
            file: &file,
            prefers_stored,
            home: folder.path(),
            uses_tokens: true,
        };
        let chosen = choice.make();
        (chosen.credentials.access.map(|token| token.expose_secret().to_owned()), chosen.withheld)
    }

    fn token(address: Option<&str>, home: Option<TokenHome>, prefers_stored: bool) -> Option<String> {
        choose(address, home, prefers_stored).0
    }

    #[test]
    fn tokens_of_the_environment_are_used_for_their_own_service_only() {
        let at = |address: &str| Some(TokenHome::Address(address.to_owned()));
        let on = |host: &str| Some(TokenHome::Host(host.to_owned()));
        for home in [
            at("HTTPS://Shop.example:443/"),
            on("shop.example"),
            on("https://shop.example/any"),
            on("shop.example:443"),
        ] {
            assert_eq!(token(Some(SHOP), home.clone(), false).as_deref(), Some("environment"), "{home:?}");
            assert_eq!(token(None, home.clone(), false).as_deref(), Some("environment"), "{home:?}");
            let other = choose(Some("https://other.example"), home, false);
            let is_elsewhere = matches!(other, (None, Some(Withheld::Elsewhere { .. } | Withheld::OtherHost { .. })));
            assert!(is_elsewhere, "{other:?}");
        }
        // The stored token is for the address, so it is used in place of the other.
        for home in [
            None,
            at("http://shop.example"),
            on("shop.example.net"),
            on("http://shop.example"),
            on("shop.example:8443"),
        ] {
            assert_eq!(token(Some(SHOP), home.clone(), false).as_deref(), Some("stored"), "{home:?}");
        }
        let (_, why) = choose(Some("http://other.example:8080/below"), on("other.example"), false);
        let hint = why.expect("a reason").hint();
        assert!(hint.contains("set SHEETPORT_TOKEN_HOST=http://other.example:8080;"), "{hint}");
        let (none, why) = choose(Some("https://other.example"), None, false);
        let hint = why.expect("a reason").hint();
        assert!(none.is_none() && hint.contains("SHEETPORT_BASE_URL=https://other.example"), "{hint}");
    }

    #[test]
    fn stored_tokens_of_a_named_profile_precede_those_of_the_environment() {
        let home = Some(TokenHome::Address(SHOP.to_owned()));
        assert_eq!(token(None, home.clone(), true).as_deref(), Some("stored"));
        assert_eq!(token(Some(SHOP), home, true).as_deref(), Some("stored"));
        let elsewhere = Some(TokenHome::Address("https://other.example".to_owned()));
        assert_eq!(token(Some("https://other.example"), elsewhere, true).as_deref(), Some("environment"));
    }
}
