//! Reads profiles from `~/.aws/credentials` and `~/.aws/config`, which the library ignores.

use std::path::{Path, PathBuf};

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};

/// Maximum size of a file, in bytes.
const MAX_SIZE: u64 = 1 << 20;
/// The supported settings in a profile, in both files.
const KEYS: [(&str, AmazonS3ConfigKey); 5] = [
    ("aws_access_key_id", AmazonS3ConfigKey::AccessKeyId),
    ("aws_secret_access_key", AmazonS3ConfigKey::SecretAccessKey),
    ("aws_session_token", AmazonS3ConfigKey::Token),
    ("region", AmazonS3ConfigKey::Region),
    ("endpoint_url", AmazonS3ConfigKey::Endpoint),
];
/// Environment variables with credentials that take precedence over a profile.
const OTHER_CREDENTIALS: [&str; 4] = [
    "AWS_ACCESS_KEY_ID",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
];

/// Adds settings from the profile to the settings from the environment.
pub(super) fn complete(mut builder: AmazonS3Builder, variable: impl Fn(&str) -> Option<String>) -> AmazonS3Builder {
    let has_credentials = OTHER_CREDENTIALS.iter().any(|name| variable(name).is_some());
    let profile = variable("AWS_PROFILE").unwrap_or_else(|| "default".to_owned());
    let file = |named: &str, usual: &str| -> Option<PathBuf> {
        variable(named).map(PathBuf::from).or_else(|| Some(std::env::home_dir()?.join(".aws").join(usual)))
    };
    let in_config = if profile == "default" { profile.clone() } else { format!("profile {profile}") };
    let sections =
        [(file("AWS_SHARED_CREDENTIALS_FILE", "credentials"), profile), (file("AWS_CONFIG_FILE", "config"), in_config)];
    for (path, section) in sections {
        let Some(text) = path.and_then(|path| read(&path)) else { continue };
        for (name, value) in entries(&text, &section) {
            let Some((_, key)) = KEYS.iter().find(|(known, _)| *known == name) else { continue };
            let is_credential = name.starts_with("aws_");
            if builder.get_config_value(key).is_none() && !(is_credential && has_credentials) {
                builder = builder.with_config(*key, value);
            }
        }
    }
    builder
}

/// Reads a file. Returns `None` if the file is missing, unreadable or too large.
fn read(path: &Path) -> Option<String> {
    let is_small_file = path.metadata().is_ok_and(|found| found.is_file() && found.len() <= MAX_SIZE);
    is_small_file.then(|| std::fs::read_to_string(path).ok()).flatten()
}

/// Returns the keys and values of a section.
fn entries<'t>(text: &'t str, section: &str) -> Vec<(&'t str, &'t str)> {
    let mut is_in_section = false;
    let mut entries = Vec::new();
    for line in text.lines() {
        if let Some(name) = line.trim().strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            is_in_section = name.split_whitespace().eq(section.split_whitespace());
        } else if is_in_section
            // Indented lines belong to the key above.
            && !line.starts_with([' ', '\t', '#', ';'])
            && let Some((key, value)) = line.split_once('=')
        {
            entries.push((key.trim(), value.trim()));
        }
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    const CREDENTIALS: &str = "[default]\naws_access_key_id = A1\naws_secret_access_key=S1\n\n[shop]\n# comment\n\
                               aws_access_key_id = A2\naws_secret_access_key = S2\naws_session_token = T2\n";
    const CONFIG: &str = "[default]\nregion = eu-central-1\ns3 =\n  region = wrong\n[profile shop]\nregion = eu-west-1\n\
                          endpoint_url = https://minio.example\n";

    fn settings(variables: &[(&str, &str)]) -> Vec<Option<String>> {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("credentials"), CREDENTIALS).expect("written");
        std::fs::write(folder.path().join("config"), CONFIG).expect("written");
        let builder = complete(AmazonS3Builder::new(), |name| match name {
            "AWS_SHARED_CREDENTIALS_FILE" => folder.path().join("credentials").to_str().map(str::to_owned),
            "AWS_CONFIG_FILE" => folder.path().join("config").to_str().map(str::to_owned),
            name => variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned()),
        });
        KEYS.iter().map(|(_, key)| builder.get_config_value(key)).collect()
    }

    fn some(values: [&str; 5]) -> Vec<Option<String>> {
        values.iter().map(|value| (!value.is_empty()).then(|| (*value).to_owned())).collect()
    }

    #[test]
    fn the_profile_completes_the_environment() {
        assert_eq!(settings(&[]), some(["A1", "S1", "", "eu-central-1", ""]));
        assert_eq!(
            settings(&[("AWS_PROFILE", "shop")]),
            some(["A2", "S2", "T2", "eu-west-1", "https://minio.example"])
        );
        assert_eq!(settings(&[("AWS_PROFILE", "unknown")]), some(["", "", "", "", ""]));
        let of_environment = [("AWS_ACCESS_KEY_ID", "A3"), ("AWS_PROFILE", "shop")];
        assert_eq!(settings(&of_environment), some(["", "", "", "eu-west-1", "https://minio.example"]));
    }
}
