//! Messages of the service in reports for a supplier. Quotes from the sheet stay; other quotes and names are hidden.

use std::collections::HashSet;
use std::sync::LazyLock;

use regex::{Captures, NoExpand, Regex, RegexBuilder, escape};
use sheetport_ledger::Outcome;
use sheetport_records::Input;
use sheetport_sheet::Row;

/// Minimum length of a name to search for in messages.
const MIN_NAME: usize = 3;
/// Maximum number of digits of a limit, such as a maximum length.
const MAX_DIGITS: usize = 3;
const HIDDEN: &str = "[hidden]";

/// Text in quotes. An apostrophe within a word is no quote.
static QUOTED: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r#"(?s)"([^"]*)"|“([^”“]*)[”“]|„([^“”]*)[“”]|«([^»]*)»|‘([^’]*)’|`([^`]*)`|\B'(.*?)'(?:\B|$)"#;
    Regex::new(pattern).expect("the pattern is fixed")
});

/// Filters the messages of a service.
pub(super) struct ServiceWords {
    /// The forms of the service's address, in lower case.
    addresses: Vec<String>,
    workspace: Option<Regex>,
    /// Names of fields, in lower case and without underscores.
    fields: HashSet<String>,
}

impl ServiceWords {
    /// `base_url` and `workspace` belong to the run, `input` describes its records.
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

    /// Returns the filtered message about a record, for its row `cells`.
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
            let start = word.len() - word.trim_start_matches(is_around).len();
            let core = word[start..].trim_end_matches(is_around).trim_end_matches('.');
            // The bracket belongs to a path such as items[0].
            let is_path = core.contains('[') && word[start + core.len()..].starts_with(']');
            let core = &word[start..start + core.len() + usize::from(is_path)];
            if self.addresses.contains(&core.to_lowercase()) && !is_in_row(core) {
                return word.replacen(core, "the service", 1);
            }
            let is_shown = is_plain(core) || self.is_field(core) || is_in_row(core) || HIDDEN.contains(core);
            if is_shown { word.to_owned() } else { word.replacen(core, HIDDEN, 1) }
        };
        let parts: Vec<&str> = quoted.split_inclusive(char::is_whitespace).collect();
        let is_number = |at: Option<usize>| at.and_then(|at| parts.get(at)).is_some_and(|part| has_digits_only(part));
        let shown = parts.iter().enumerate().map(|(at, part)| {
            let text = part.trim_end();
            // Digits in groups, such as 13 752, are more than a limit.
            let is_group =
                has_digits_only(part) && (is_number(at.checked_sub(1)) || is_number(Some(at + 1))) && !is_in_row(text);
            let text_shown = if is_group { HIDDEN.to_owned() } else { word(text) };
            format!("{text_shown}{}", &part[text.len()..])
        });
        shown.collect()
    }

    /// Returns whether a text is the name of a field, or a path of names such as `items[0].price`.
    pub(super) fn is_field(&self, text: &str) -> bool {
        text.split('.').all(|part| {
            let (name, index) = match part.split_once('[') {
                Some((name, rest)) => (name, rest.strip_suffix(']')),
                None => (part, Some("0")),
            };
            index.is_some_and(is_limit) && self.fields.contains(&folded(name))
        })
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
    is_word || is_limit(word)
}

fn is_limit(word: &str) -> bool {
    word.len() <= MAX_DIGITS && word.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns whether a word consists of digits, possibly surrounded by punctuation.
fn has_digits_only(word: &str) -> bool {
    let core = word.trim_matches(|c: char| !c.is_alphanumeric());
    !core.is_empty() && core.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | ','))
}

#[cfg(test)]
mod tests {
    use sheetport_ledger::{RecordState, Seq};
    use sheetport_records::RecordKind;
    use sheetport_sheet::Cell;

    use super::*;

    fn message(message: &str) -> String {
        of_service("https://api.acme.example:8443/v1", message)
    }

    fn of_service(address: &str, message: &str) -> String {
        let words = ServiceWords::new(address, "acme-eu", RecordKind::Item.input());
        let mut outcome = Outcome::new(Seq::default(), RecordState::Failed, 422);
        outcome.service_id = Some("ABCDEF".to_owned());
        let mut row = Row::default();
        for cell in ["K-77", "12,50 €", "Bolt, hexagonal"] {
            row.push(Cell::Text(cell));
        }
        words.message(message, &outcome, &row)
    }

    #[test]
    fn words_from_the_sheet_and_the_contract_stay() {
        for text in [
            "name must not be longer than 50 characters",
            "'K-77' isn't known; can't be used (see externalId, items_id)",
            "\"bolt\" is no valid name, and 12,50 is no price.",
            "",
            "see price[0], and name[12]: wrong",
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
            ("price[13752] and name[Secret Ltd] and name[Ltd]", "[hidden] and [hidden] Ltd] and [hidden]"),
            (
                "the cost is 13 752.96 EUR or 13\u{a0}752,",
                "the cost is [hidden] [hidden] EUR or [hidden]\u{a0}[hidden]",
            ),
        ] {
            assert_eq!(message(text), expected, "{text}");
        }
        assert_eq!(of_service("http://intranet:8080", "ask intranet or Intranet."), "ask the service or the service.");
    }

    #[test]
    fn fields_are_those_of_the_contract() {
        let words = ServiceWords::new("https://records.example", "acme-eu", RecordKind::Order.input());
        for field in ["externalId", "external_id", "items", "items[0]", "items[12].price"] {
            assert!(words.is_field(field), "{field}");
        }
        for other in ["", "Secret Ltd", "items[Secret]", "items[13752]", "items[0", "items[0].acme", "externalId.x"] {
            assert!(!words.is_field(other), "{other}");
        }
    }
}
