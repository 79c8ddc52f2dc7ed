//! The keys of a job file, as in the TOML.

use std::collections::BTreeMap;
use std::num::NonZeroU16;
use std::str::FromStr;
use std::time::Duration;

use serde::Deserialize;
use serde::de::IgnoredAny;
use sheetport_client::pace::Speed;
use sheetport_documents::{Parsed, Texts};
use sheetport_findings::Only;
use sheetport_operations::Question;
use sheetport_values::locale;
use toml::Spanned;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawJob {
    pub name: Option<String>,
    pub profile: Option<String>,
    /// Read from the tree, because an upload and an export have other keys.
    #[serde(default, rename = "step")]
    _step: IgnoredAny,
    #[serde(default)]
    pub notify: Vec<Spanned<RawNotice>>,
    pub schedule: Option<Spanned<RawSchedule>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawUpload {
    pub name: Option<String>,
    #[serde(default)]
    pub stop_on_failure: bool,
    pub upload: Spanned<String>,
    pub template: Option<Spanned<String>>,
    #[serde(rename = "move")]
    pub moves: Option<bool>,
    pub done: Option<Spanned<String>>,
    pub failed: Option<Spanned<String>>,
    #[serde(default)]
    pub set: BTreeMap<String, String>,
    pub locale: Option<Parsed<LocaleName>>,
    pub settle: Option<Spanned<Parsed<Time>>>,
    pub sheet: Option<String>,
    #[serde(default)]
    pub strict: bool,
    #[serde(default)]
    pub all_or_nothing: bool,
    #[serde(default)]
    pub changed_only: bool,
    pub only: Option<Parsed<OnlyName>>,
    #[serde(default)]
    pub keep_lines: bool,
    #[serde(default)]
    pub accept: Vec<Parsed<Question>>,
    #[serde(default)]
    pub create_missing_items: bool,
    #[serde(default)]
    pub trigger_workflows: bool,
    #[serde(default)]
    pub for_supplier: bool,
    pub max_errors: Option<u64>,
    pub max_unknown: Option<u64>,
    pub rate: Option<Parsed<Speed>>,
    pub concurrency: Option<Spanned<NonZeroU16>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawExport {
    pub name: Option<String>,
    #[serde(default)]
    pub stop_on_failure: bool,
    pub export: Spanned<Texts>,
    pub output: Option<Spanned<String>>,
    pub family: Option<Spanned<String>>,
    pub template: Option<String>,
    pub explode: Option<String>,
    pub locale: Option<Spanned<String>>,
    pub delimiter: Option<Spanned<String>>,
    #[serde(default)]
    pub bom: bool,
    #[serde(default)]
    pub exact: bool,
    pub since: Option<Spanned<String>>,
    #[serde(default)]
    pub append: bool,
    pub changes: Option<String>,
    #[serde(default)]
    pub verify: bool,
    pub keep: Option<NonZeroU16>,
    pub min_ratio: Option<Spanned<f64>>,
    #[serde(default)]
    pub allow_empty: bool,
    #[serde(default)]
    pub replace: bool,
    pub ids: Option<String>,
    pub column: Option<String>,
    #[serde(default)]
    pub external: bool,
    pub rate: Option<Parsed<Speed>>,
    pub concurrency: Option<Spanned<NonZeroU16>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawNotice {
    pub on: Option<Spanned<Texts>>,
    pub attach: Option<bool>,
    pub command: Option<Spanned<Texts>>,
    pub webhook: Option<Spanned<String>>,
    pub webhook_env: Option<String>,
    pub webhook_file: Option<String>,
    pub mail: Option<Spanned<RawMail>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawMail {
    pub from: Option<Spanned<String>>,
    pub to: Option<Spanned<Texts>>,
    pub server: Option<Spanned<String>>,
    pub security: Option<Spanned<String>>,
    pub port: Option<NonZeroU16>,
    pub user: Option<Spanned<String>>,
    pub password: Option<Spanned<String>>,
    pub password_env: Option<String>,
    pub password_file: Option<String>,
    pub ca_file: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawSchedule {
    pub every: Option<Parsed<Time>>,
    pub at: Option<Spanned<String>>,
    pub days: Option<Spanned<Texts>>,
}

/// A length of time.
#[derive(Clone, Copy)]
pub(super) struct Time(pub Duration);

/// The name of a locale that exists.
pub(super) struct LocaleName(pub String);

impl FromStr for Time {
    type Err = String;

    fn from_str(text: &str) -> Result<Time, String> {
        let read = text.parse::<jiff::SignedDuration>().ok().and_then(|read| Duration::try_from(read).ok());
        read.map(Time).ok_or_else(|| format!("'{text}' is not a time such as 30s, 15m or 2h"))
    }
}

/// Which records are sent.
pub(super) struct OnlyName(pub Only);

impl FromStr for OnlyName {
    type Err = String;

    fn from_str(name: &str) -> Result<OnlyName, String> {
        let names = || Only::ALL.map(Only::name).join(", ");
        Only::named(name).map(OnlyName).ok_or_else(|| format!("only: '{name}' is none of: {}", names()))
    }
}

impl FromStr for LocaleName {
    type Err = String;

    fn from_str(name: &str) -> Result<LocaleName, String> {
        locale::check(name).map(|name| LocaleName(name.to_owned()))
    }
}
