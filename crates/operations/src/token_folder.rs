//! A folder with the tokens of many workspaces, such as a mounted secret: `WORKSPACE.toml` with `base_url`, `access` and `refresh`.
//!
//! The files are read for each run anew, so changed tokens are used without a restart. They are never written: renewed tokens are kept below
//! the home folder, like those of tokens from the environment.

use std::io;
use std::path::{Component, Path, PathBuf};

use secrecy::SecretString;
use serde::Deserialize;
use sheetport_client::auth::{Credentials, EnvironmentTokens, TokenHome, exposed_beyond_group};

use crate::context::Context;
use crate::error::Error;

/// A file of the folder.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Content {
    /// The only service that may receive the tokens.
    base_url: String,
    access: Option<String>,
    refresh: Option<String>,
}

/// A folder with tokens.
#[derive(Clone, Debug)]
pub struct TokenFolder(PathBuf);

impl TokenFolder {
    /// # Errors
    /// If it is not a folder that can be read.
    pub fn open(folder: PathBuf) -> Result<TokenFolder, Error> {
        match std::fs::read_dir(&folder) {
            Ok(_) => Ok(TokenFolder(folder)),
            Err(error) => Err(unusable(&folder, &error.to_string())),
        }
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Returns the context with the tokens of a workspace in place of those of the environment and of `login`, or `None` if the folder has none.
    ///
    /// # Errors
    /// If the file of the workspace can't be used.
    pub fn context_of(&self, context: &Context, workspace: &str) -> Result<Option<Context>, Error> {
        let Some(tokens) = self.tokens_of(workspace)? else { return Ok(None) };
        Ok(Some(Context { environment: tokens, is_profile_chosen: false, ..context.clone() }))
    }

    fn tokens_of(&self, workspace: &str) -> Result<Option<EnvironmentTokens>, Error> {
        let mut components = Path::new(workspace).components();
        // The name comes from a token, so it may be anything.
        let (Some(Component::Normal(_)), None) = (components.next(), components.next()) else { return Ok(None) };
        let path = self.0.join(format!("{workspace}.toml"));
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unusable(&path, &error.to_string())),
        };
        // Secrets of Kubernetes are links to files of root that a group of this user can read.
        if let Some(exposed) = exposed_beyond_group(&path).map_err(|error| unusable(&path, &error.to_string()))? {
            let hint = format!("{}; for a mounted secret, set its defaultMode to 0440", exposed.hint());
            return Err(Error::invalid(exposed.to_string(), hint));
        }
        // The parser's message could quote a part of a token.
        let content = toml::from_str::<Content>(&text)
            .map_err(|_| unusable(&path, "it is not a TOML file with base_url, access and refresh"))?;
        let token = |token: Option<String>| token.map(|token| SecretString::from(token.trim().to_owned()));
        let credentials = Credentials { access: token(content.access), refresh: token(content.refresh), file: None };
        if credentials.is_empty() {
            return Err(unusable(&path, "it has neither an access nor a refresh token"));
        }
        Ok(Some(EnvironmentTokens { credentials, home: Some(TokenHome::Address(content.base_url)) }))
    }
}

fn unusable(path: &Path, why: &str) -> Error {
    let hint = "write base_url = \"https://…\", access = \"…\" and refresh = \"…\" into WORKSPACE.toml";
    Error::invalid(format!("the tokens in {} can't be used: {why}", path.display()), hint)
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret as _;

    use super::*;

    fn write(path: &Path, text: &str, mode: u32) {
        std::fs::write(path, text).expect("a file");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("the mode is set");
        }
        #[cfg(not(unix))]
        let _ = mode;
    }

    #[test]
    fn the_tokens_of_a_workspace_are_those_of_its_file_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let tokens = TokenFolder::open(folder.path().to_owned()).expect("a folder");
        let path = folder.path().join("shop.toml");
        write(&path, "base_url = \"https://a\"\naccess = \"one\\n\"\n", 0o600);
        let found = tokens.tokens_of("shop").expect("readable").expect("tokens");
        let access = |found: EnvironmentTokens| found.credentials.access.map(|token| token.expose_secret().to_owned());
        assert_eq!(found.home, Some(TokenHome::Address("https://a".to_owned())));
        assert_eq!(access(found).as_deref(), Some("one"));
        // Changed tokens are read.
        write(&path, "base_url = \"https://a\"\naccess = \"two\"\nrefresh = \"r\"\n", 0o600);
        assert_eq!(access(tokens.tokens_of("shop").expect("readable").expect("tokens")).as_deref(), Some("two"));
        for other in ["", "other", "../shop", "/shop", "a/shop", ".."] {
            assert!(tokens.tokens_of(other).expect("readable").is_none(), "{other}");
        }
        // A mistake shows no token.
        write(&path, "base_url = \"https://a\"\naccess = \"se\"cret\"\n", 0o600);
        let refused = tokens.tokens_of("shop").expect_err("no TOML").to_string();
        assert!(refused.contains("shop.toml") && !refused.contains("cret"), "{refused}");
        write(&path, "base_url = \"https://a\"\n", 0o600);
        tokens.tokens_of("shop").expect_err("no tokens");
        TokenFolder::open(folder.path().join("none")).expect_err("no folder");
    }

    #[cfg(unix)]
    #[test]
    fn tokens_that_others_can_read_are_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let tokens = TokenFolder::open(folder.path().to_owned()).expect("a folder");
        let (data, link) = (folder.path().join("data"), folder.path().join("shop.toml"));
        std::os::unix::fs::symlink(&data, &link).expect("a link");
        for (mode, is_used) in [(0o600, true), (0o400, true), (0o644, false), (0o640, false)] {
            write(&data, "base_url = \"https://a\"\naccess = \"one\"\n", 0o600);
            write(&data, "base_url = \"https://a\"\naccess = \"one\"\n", mode);
            assert_eq!(tokens.tokens_of("shop").is_ok(), is_used, "{mode:o}");
        }
    }
}
