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
use sheetport_mapping::load::SheetKeys;
use sheetport_operations::{CurrencyCode, LocaleName, Question, ZoneName};
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
    pub heartbeat: Option<Spanned<String>>,
    pub heartbeat_env: Option<String>,
    pub heartbeat_file: Option<String>,
    pub schedule: Option<Spanned<RawSchedule>>,
}

/// The keys of a step with `upload`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct UploadKeys {
    pub name: Option<String>,
    pub stop_on_failure: bool,
    pub upload: Option<Spanned<String>>,
    pub template: Option<Spanned<String>>,
    #[serde(rename = "move")]
    pub moves: Option<bool>,
    pub done: Option<Spanned<String>>,
    pub failed: Option<Spanned<String>>,
    pub set: BTreeMap<String, String>,
    pub locale: Option<Parsed<LocaleName>>,
    pub time_zone: Option<Parsed<ZoneName>>,
    pub currency: Option<Parsed<CurrencyCode>>,
    pub settle: Option<Spanned<Parsed<Time>>>,
    pub sheet: Option<String>,
    pub strict: bool,
    pub all_or_nothing: bool,
    pub changed_only: bool,
    /// The records to send; as the template says if missing.
    pub only: Option<Parsed<OnlyName>>,
    pub fill_blank: bool,
    pub keep_lines: bool,
    /// Questions that are answered with yes.
    pub accept: Vec<Parsed<Question>>,
    pub create_missing_items: bool,
    pub trigger_workflows: bool,
    pub for_supplier: bool,
    pub max_errors: Option<u64>,
    pub max_unknown: Option<u64>,
    pub rate: Option<Parsed<Speed>>,
    pub concurrency: Option<Spanned<NonZeroU16>>,
}

impl UploadKeys {
    /// Returns the keys of `[sheet]` that the job sets, like flags.
    pub(crate) fn sheet_keys(&self) -> SheetKeys<'_> {
        SheetKeys {
            locale: self.locale.as_ref().map(|Parsed(LocaleName(name))| name.as_str()),
            time_zone: self.time_zone.as_ref().map(|Parsed(ZoneName(name))| name.as_str()),
            currency: self.currency.as_ref().map(|Parsed(CurrencyCode(code))| code.as_str()),
        }
    }

    /// Returns which records are sent, if the job says so.
    pub(crate) fn only(&self) -> Option<Only> {
        self.only.as_ref().map(|Parsed(OnlyName(only))| *only)
    }
}

/// The keys of a step with `export`.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct ExportKeys {
    pub name: Option<String>,
    pub stop_on_failure: bool,
    pub export: Option<Spanned<Texts>>,
    pub output: Option<Spanned<String>>,
    pub family: Option<Spanned<String>>,
    pub template: Option<String>,
    pub columns: Option<Texts>,
    #[serde(rename = "where")]
    pub conditions: Option<Texts>,
    pub sort: Option<Texts>,
    pub rename: Option<BTreeMap<String, String>>,
    pub lines: bool,
    pub explode: Option<String>,
    pub locale: Option<Spanned<String>>,
    pub delimiter: Option<Spanned<String>>,
    pub bom: bool,
    pub exact: bool,
    pub since: Option<Spanned<String>>,
    pub append: bool,
    pub changes: Option<String>,
    pub verify: bool,
    pub keep: Option<NonZeroU16>,
    pub latest: Option<String>,
    pub min_ratio: Option<Spanned<f64>>,
    pub allow_empty: bool,
    pub replace: bool,
    pub ids: Option<String>,
    pub column: Option<String>,
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
    pub zone: Option<Spanned<String>>,
}

/// A length of time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Time(pub Duration);

impl FromStr for Time {
    type Err = String;

    fn from_str(text: &str) -> Result<Time, String> {
        let read = text.parse::<jiff::SignedDuration>().ok().and_then(|read| Duration::try_from(read).ok());
        read.map(Time).ok_or_else(|| format!("'{text}' is not a time such as 30s, 15m or 2h"))
    }
}

/// Which records are sent.
#[derive(Debug)]
pub(crate) struct OnlyName(pub Only);

impl FromStr for OnlyName {
    type Err = String;

    fn from_str(name: &str) -> Result<OnlyName, String> {
        let names = || Only::ALL.map(Only::name).join(", ");
        Only::named(name).map(OnlyName).ok_or_else(|| format!("only: '{name}' is none of: {}", names()))
    }
}
