//! Messages of the service in reports for a supplier: what they quote of the sheet stays, what else they quote or name is hidden.

use std::collections::HashSet;
use std::sync::LazyLock;

use regex::{Captures, NoExpand, Regex, RegexBuilder, escape};

use crate::ledger::Outcome;
use crate::records::Input;
use crate::sheet::Row;

/// Minimum length of a name that is looked for in messages.
const MIN_NAME: usize = 3;
/// Maximum number of digits of a limit, such as a maximum length.
const MAX_DIGITS: usize = 3;
const HIDDEN: &str = "[hidden]";

/// Text in quotes. An apostrophe within a word is no quote.
static QUOTED: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r#"(?s)"([^"]*)"|“([^”“]*)[”“]|„([^“”]*)[“”]|«([^»]*)»|‘([^’]*)’|`([^`]*)`|\B'(.*?)'(?:\B|$)"#;
    Regex::new(pattern).expect("the pattern is fixed")
});

/// What may be said of the messages of a service.
pub(super) struct ServiceWords {
    /// The forms of the service's address, in lower case.
    addresses: Vec<String>,
    workspace: Option<Regex>,
    /// Names of fields, in lower case and without underscores.
    fields: HashSet<String>,
}

impl ServiceWords {
    /// `base_url` and `workspace` are those of the run, `input` describes its records.
    pub(super) fn new(base_url: &str, workspace: &str, input: &Input) -> ServiceWords {
        let address = base_url.trim_end_matches('/');
        let host = address.split_once("://").map_or(address, |(_, rest)| rest);
        let host = host.split_once('/').map_or(host, |(host, _)| host);
        let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
        let addresses =
            [address, host, name].into_iter().filter(|text| !text.is_empty()).map(str::to_lowercase).collect();
        let workspace = (workspace.chars().count() >= MIN_NAME).then(|| whole_word(workspace)).flatten();
        let lines = input.lines();
        let of_lines = lines.iter().flat_map(|(field, fields)| std::iter::once(*field).chain(*fields));
        let fields = input.fields().chain(of_lines).chain(input.options()).map(|field| folded(field.name));
        ServiceWords { addresses, workspace, fields: fields.collect() }
    }

    /// Returns a message about a record for its row `cells`.
    pub(super) fn message(&self, message: &str, outcome: &Outcome, cells: &Row) -> String {
        let shown: Vec<String> = cells.cells().map(|cell| cell.shown().trim().to_lowercase()).collect();
        let is_in_row = |text: &str| {
            let text = text.trim().to_lowercase();
            text.is_empty() || shown.iter().any(|cell| cell.contains(&text))
        };
        let mut message = message.to_owned();
        for id in [&outcome.service_id, &outcome.ctx_id, &outcome.job_id].into_iter().flatten() {
            if !is_in_row(id)
                && let Some(pattern) = whole_word(id)
            {
                message = pattern.replace_all(&message, NoExpand(HIDDEN)).into_owned();
            }
        }
        if let Some(workspace) = &self.workspace {
            message = workspace.replace_all(&message, NoExpand("the workspace")).into_owned();
        }
        let quoted = QUOTED.replace_all(&message, |found: &Captures<'_>| {
            let text = found.iter().skip(1).flatten().next().map_or("", |text| text.as_str());
            if is_in_row(text) || self.is_field(text) { found[0].to_owned() } else { HIDDEN.to_owned() }
        });
        let word = |word: &str| {
            let is_around = |c: char| !c.is_alphanumeric() && !matches!(c, '/' | '\\' | '%' | '@' | '_' | '~' | '.');
            let core = word.trim_matches(is_around).trim_end_matches('.');
            let is_shown = is_plain(core) || self.is_field(core) || is_in_row(core) || HIDDEN.contains(core);
            match (is_shown, self.addresses.contains(&core.to_lowercase())) {
                (true, _) => word.to_owned(),
                (false, true) => word.replacen(core, "the service", 1),
                (false, false) => word.replacen(core, HIDDEN, 1),
            }
        };
        quoted
            .split_inclusive(char::is_whitespace)
            .map(|part| {
                let text = part.trim_end();
                format!("{}{}", word(text), &part[text.len()..])
            })
            .collect()
    }

    /// Returns whether a text is the name of a field, or a path that begins with one, such as `items[0].price`.
    fn is_field(&self, text: &str) -> bool {
        let mut parts = text.split('.').map(|part| part.split('[').next().unwrap_or_default());
        parts.all(|part| self.fields.contains(&folded(part)))
    }
}

fn folded(name: &str) -> String {
    name.replace('_', "").to_lowercase()
}

fn whole_word(text: &str) -> Option<Regex> {
    let mut pattern = RegexBuilder::new(&format!(r"(?:\b|^){}(?:\b|$)", escape(text)));
    pattern.case_insensitive(true).build().ok()
}

/// Returns whether a word consists of letters, also with hyphens and apostrophes, or is a small number. Other words may be
/// addresses, paths, ids and computed values.
fn is_plain(word: &str) -> bool {
    let is_word = word.chars().all(|c| c.is_alphabetic() || matches!(c, '-' | '\'' | '’'));
    let is_limit = word.len() <= MAX_DIGITS && word.bytes().all(|byte| byte.is_ascii_digit());
    is_word || is_limit
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::{RecordState, Seq};
    use crate::records::RecordKind;
    use crate::sheet::Cell;

    fn message(message: &str) -> String {
        let words = ServiceWords::new("https://api.acme.example:8443/v1", "acme-eu", RecordKind::Item.input());
        let mut outcome = Outcome::new(Seq::default(), RecordState::Failed, 422);
        outcome.service_id = Some("ABCDEF".to_owned());
        let mut row = Row::default();
        for cell in ["K-77", "12,50 €", "Bolt, hexagonal"] {
            row.push(Cell::Text(cell));
        }
        words.message(message, &outcome, &row)
    }

    #[test]
    fn what_the_sheet_and_the_contract_say_stays() {
        for text in [
            "name must not be longer than 50 characters",
            "'K-77' isn't known; can't be used (see externalId, items_id)",
            "\"bolt\" is no valid name, and 12,50 is no price.",
            "",
            "Der Preis darf nicht “hexagonal” sein – größer als 100",
        ] {
            let hidden = text.replace("items_id", "[hidden]");
            assert_eq!(message(text), hidden);
        }
    }

    #[test]
    fn addresses_paths_ids_and_values_of_others_are_hidden() {
        for (text, expected) in [
            ("see https://api.acme.example:8443/v1/items/5", "see [hidden]"),
            ("acme-eu at api.acme.example is closed", "the workspace at the service is closed"),
            ("see https%3A%2F%2Fapi%2Eacme%2Eexample", "see [hidden]"),
            ("in /srv/app/items.py, line 17", "in [hidden], line 17"),
            (r"in C:\app\items.py or ..\x", "in [hidden] or [hidden]"),
            ("item ABCDEF has 9f8e7d6c", "item [hidden] has [hidden]"),
            ("company 'Secret Ltd' is unknown", "company [hidden] is unknown"),
            ("company \"Secret Ltd\", price 13752.96", "company [hidden], price [hidden]"),
            ("mail to admin@acme.example!", "mail to [hidden]!"),
            ("token_x=1 ~/.ssh/id_rsa", "[hidden] [hidden]"),
        ] {
            assert_eq!(message(text), expected, "{text}");
        }
    }
}
