//! From the chosen columns to what the template says of each field: its keys, and the remarks beside them.

use super::super::model::{ColumnName, Constant, Place};
use super::super::value::boolean;
use super::super::value::date::{Detected, Detector, order_of};
use super::choose::{Chosen, Known, Placed, Sureness};
use super::earlier::Earlier;
use super::money::{self, Money};
use super::numbers::{Locales, tag};
use super::profile::Profile;
use super::shape::{self, Sort};
use super::synonyms::{self, Language};
use super::{From, Proposed};
use crate::records::RecordKind;
use crate::sheet::Cell;

/// Values of a status that are listed.
const LISTED: usize = 12;

/// A field's table, and what a person should look at.
pub struct Told {
    pub proposed: Proposed,
    pub remarks: Vec<String>,
}

pub struct Teller<'a> {
    pub known: &'a Known<'a>,
    pub kind: RecordKind,
    pub locales: &'a Locales,
    pub language: Option<Language>,
    pub earlier: &'a [Earlier],
}

impl Teller<'_> {
    /// What is to be said of a column that was chosen.
    pub fn tell(&self, placed: &Placed, chosen: &Chosen) -> Option<Told> {
        let slot = self.known.slots.slots.get(placed.slot)?;
        let (field, column) = (slot.field?, self.known.sample.columns.get(placed.column)?);
        let profile = self.known.profiles.get(placed.column)?;
        let mut told = Told {
            proposed: Proposed {
                field: field.name,
                place: slot.place,
                doc: field.doc,
                from: From::Column { index: placed.column, label: column.label.clone(), called: column.called.clone() },
                why: placed.why.clone(),
                sure: placed.sure.clone(),
                comments: Vec::new(),
                keys: Vec::new(),
                drafts: Vec::new(),
                also: placed
                    .also
                    .iter()
                    .filter_map(|also| Some(self.known.sample.columns.get(*also)?.label.clone()))
                    .collect(),
            },
            remarks: Vec::new(),
        };
        match slot.sort {
            Sort::Key | Sort::Reference => self.identifier(&mut told, slot.sort, profile, &column.label),
            Sort::Title => told.key("trim = true"),
            Sort::LongText => self.long_text(&mut told, profile),
            Sort::Currency => told.key("trim = true"),
            Sort::Price => self.price(&mut told, profile, placed, chosen),
            Sort::Rate | Sort::Duty => self.tax(&mut told, profile),
            Sort::Status if self.mapped_before(placed, slot.place, field.name).is_some() => told.key("trim = true"),
            Sort::Status => self.status(&mut told, profile, placed.column),
            Sort::Date => self.date(&mut told, profile, placed.column, &column.label),
            Sort::Quantity | Sort::Boolean => {}
        }
        if let Some((_, locale)) = self.locales.columns.iter().find(|(column, _)| *column == placed.column) {
            told.comment("Written in another way than the sheet's other numbers.");
            told.key(&format!("locale = {}", quoted(locale)));
        }
        if let Some(map) = self.mapped_before(placed, slot.place, field.name) {
            told.key(&map);
        }
        Some(told)
    }

    /// The `map` that an earlier template has for the field, if the column was chosen because of it.
    fn mapped_before(&self, placed: &Placed, place: Place, field: &str) -> Option<String> {
        let Sureness::AsIn(name) = &placed.sure else { return None };
        let rules = self.earlier.iter().filter(|earlier| earlier.name == *name);
        let rule = rules.filter_map(|earlier| earlier.rule(self.kind, place, field)).next()?;
        let entries: Vec<String> =
            rule.map.iter().filter_map(|(from, to)| Some(format!("{} = {}", quoted(from), constant(to)?))).collect();
        (!entries.is_empty()).then(|| format!("map = {{ {} }}", entries.join(", ")))
    }

    /// The constants of the earlier templates that said something of this sheet, for fields that have nothing yet.
    pub fn constants_before(&self, chosen: &Chosen, fields: &[Proposed]) -> Vec<Proposed> {
        let mut proposed: Vec<Proposed> = Vec::new();
        let used = |earlier: &&Earlier| {
            chosen.placed.iter().any(|placed| matches!(&placed.sure, Sureness::AsIn(name) if *name == earlier.name))
        };
        for earlier in self.earlier.iter().filter(used) {
            for rule in earlier.constants(self.kind) {
                let has = |other: &Proposed| other.field == rule.field && other.place == rule.place;
                let Some(value) = rule.constant.clone().filter(|value| constant(value).is_some()) else { continue };
                if fields.iter().any(has) || proposed.iter().any(has) {
                    continue;
                }
                proposed.push(Proposed {
                    field: rule.field,
                    place: rule.place,
                    doc: rule.doc,
                    from: From::Constant(value),
                    why: "the same in every row there".to_owned(),
                    sure: Sureness::AsIn(earlier.name.clone()),
                    comments: Vec::new(),
                    keys: Vec::new(),
                    drafts: Vec::new(),
                    also: Vec::new(),
                });
            }
        }
        proposed
    }

    fn identifier(&self, told: &mut Told, sort: Sort, profile: &Profile, label: &str) {
        told.key("trim = true");
        if profile.damaged > 0 {
            let example = profile.damaged_example.as_deref().unwrap_or_default();
            told.comment(&format!(
                "{} of {} values look as if a spreadsheet program had changed them, such as {example}: they will be shown as \
                 problems. Export the file anew, with this column as text.",
                profile.damaged, profile.filled
            ));
            told.remarks
                .push(format!("'{label}' has identifiers that a spreadsheet program has changed, such as {example}"));
        }
        if profile.leading_zeros > 0 {
            told.comment("Zeros at the front stay.");
        }
        if sort == Sort::Key && profile.distinct < profile.filled {
            told.comment(&format!(
                "{} of {} values are different: rows that share one are a problem, unless you say duplicates = \"first\" or \
                 \"last\" at the top.",
                profile.distinct, profile.filled
            ));
            told.remarks.push(format!("'{label}' has values that come more than once"));
        }
    }

    fn long_text(&self, told: &mut Told, profile: &Profile) {
        told.key("trim = true");
        if profile.html > 0 {
            told.comment(&format!(
                "{} of {} texts have HTML in them. It is sent as it is.",
                profile.html, profile.filled
            ));
        }
    }

    fn price(&self, told: &mut Told, profile: &Profile, placed: &Placed, chosen: &Chosen) {
        if profile.currencies.len() > 1 {
            let codes: Vec<&str> = profile.currencies.keys().map(|money| money.code.as_str()).collect();
            told.comment(&format!(
                "Amounts in several currencies: {}. The service takes one for an item.",
                codes.join(", ")
            ));
            told.remarks.push(format!("'{}' has several currencies: {}", told.label(), codes.join(", ")));
        }
        let purchase = self.known.slots.index(Place::Record, "purchasePrice");
        let is_price = self.known.slots.index(Place::Record, "price") == Some(placed.slot);
        let other = chosen.placed.iter().find(|other| is_price && Some(other.slot) == purchase);
        let other = other.and_then(|other| self.known.profiles.get(other.column));
        if let Some(other) = other
            && shape::is_larger(profile, other) == Some(false)
        {
            told.comment("On most rows this is less than the purchase price. Are the two the right way round?");
            told.remarks.push(format!("'{}' is less than the purchase price on most rows", told.label()));
        }
    }

    fn tax(&self, told: &mut Told, profile: &Profile) {
        if profile.percents > 0 {
            told.comment("19% is sent as the number 19; \"fraction\" would send 0.19.");
            told.key("percent = \"whole\"");
        }
        let below_one = profile.amounts.iter().flatten().all(|amount| *amount < 1.0);
        let some = profile.amounts.iter().flatten().any(|amount| *amount > 0.0);
        if below_one && some && profile.percents == 0 && shape::is_rate(profile) {
            told.comment("These are parts of one. To send 19 for 0.19:");
            told.draft("scale = 100");
        }
    }

    fn status(&self, told: &mut Told, profile: &Profile, column: usize) {
        told.key("trim = true");
        if shape::is_yes_and_no(profile) && self.kind == RecordKind::Item {
            let name = &self.known.sample.columns[column].name;
            let yes_means = !name.says(synonyms::WITHDRAWN);
            let mut map = Vec::new();
            for (value, _) in &profile.values {
                let Some(said) = boolean::parse(value) else { continue };
                let counter = counterpart(value);
                for (value, said) in [(Some(value.clone()), said), (counter, !said)] {
                    let Some(value) = value else { continue };
                    if !map.iter().any(|(known, _): &(String, &str)| known.eq_ignore_ascii_case(&value)) {
                        map.push((value, if said == yes_means { "active" } else { "archived" }));
                    }
                }
            }
            told.comment(
                "What each value is sent as. Change the words on the right to those that your workspace uses.",
            );
            let map: Vec<String> = map.iter().map(|(from, to)| format!("{} = {}", quoted(from), quoted(to))).collect();
            told.key(&format!("map = {{ {} }}", map.join(", ")));
            return;
        }
        let values = &profile.values[..profile.values.len().min(LISTED)];
        if !values.is_empty() {
            let more = if profile.distinct > values.len() { " and others" } else { "" };
            told.comment(&format!(
                "{} different values were met{more}, and each is sent as it is. To send other words, fill in and take off the #:",
                profile.distinct
            ));
            let map: Vec<String> = values.iter().map(|(value, _)| format!("{} = \"…\"", quoted(value))).collect();
            told.draft(&format!("map = {{ {} }}", map.join(", ")));
        }
    }

    fn date(&self, told: &mut Told, profile: &Profile, column: usize, label: &str) {
        let order = self.locales.sheet.and_then(order_of).or_else(|| self.language.map(tag).and_then(order_of));
        let mut detector = Detector::new(order);
        for row in &self.known.sample.rows {
            if let Cell::Text(text) = row.get(column) {
                detector.add(row.number, text);
            }
        }
        let mut tells_zone = false;
        match detector.finish() {
            Detected::Known(format) => {
                tells_zone = format.pattern().ends_with('Z');
                told.key(&format!("format = {}", quoted(format.pattern())));
            }
            Detected::Ambiguous { example, readings: [one, other] } => {
                told.comment(&format!("{example} could be {} or {}. Say which by taking off one #:", one.1, other.1));
                told.draft(&format!("format = {}", quoted(&one.0)));
                told.draft(&format!("format = {}", quoted(&other.0)));
                told.remarks.push(format!("the dates of '{label}' can be read in two ways: say which in the template"));
            }
            Detected::Mixed { example, row, .. } => {
                told.comment(&format!("The dates are not all written alike: row {row} has {example}."));
                told.remarks.push(format!("the dates of '{label}' are not all written alike"));
            }
            Detected::NoDates => {}
        }
        if profile.times > 0 && !tells_zone {
            told.comment("There are times of day. Say in which time zone:");
            told.draft("time_zone = \"Europe/Berlin\"");
            told.remarks.push(format!("the times of '{label}' need a time_zone in the template"));
        }
    }

    /// What the prices are in, where no column says it.
    pub fn currency(&self, chosen: &Chosen) -> Option<Proposed> {
        let slots = &self.known.slots;
        let slot = slots.index(Place::Record, "currency")?;
        if chosen.placed.iter().any(|placed| placed.slot == slot) {
            return None;
        }
        let field = slots.slots.get(slot)?.field?;
        let is_price = |placed: &&Placed| slots.slots.get(placed.slot).is_some_and(|slot| slot.sort == Sort::Price);
        let prices: Vec<usize> = chosen.placed.iter().filter(is_price).map(|placed| placed.column).collect();
        let labels = prices.iter().filter_map(|column| Some(self.known.sample.columns.get(*column)?.label.as_str()));
        let named =
            labels.filter_map(|label| Some((money::named(label)?, format!("named in the header '{label}'")))).next();
        let (money, why) = named.or_else(|| self.beside(&prices)).or_else(|| self.in_titles())?;
        Some(Proposed {
            field: field.name,
            place: Place::Record,
            doc: field.doc,
            sure: if money.sure { Sureness::Likely } else { Sureness::Guess },
            from: From::Constant(Constant::Text(money.code)),
            why,
            comments: Vec::new(),
            keys: Vec::new(),
            drafts: Vec::new(),
            also: Vec::new(),
        })
    }

    fn beside(&self, prices: &[usize]) -> Option<(Money, String)> {
        let met = prices
            .iter()
            .filter_map(|column| self.known.profiles.get(*column))
            .find(|profile| !profile.currencies.is_empty())?;
        let mut currencies = met.currencies.iter();
        let (money, count) = currencies.next()?;
        (currencies.next().is_none() && met.share(*count) >= 0.5)
            .then(|| (money.clone(), "stands beside the prices".to_owned()))
    }

    fn in_titles(&self) -> Option<(Money, String)> {
        let mut named = self.known.sample.titles.iter().filter_map(|title| money::named(title));
        let first = named.next()?;
        named
            .all(|other| other.code == first.code)
            .then(|| (Money { sure: false, ..first }, "named above the header".to_owned()))
    }
}

impl Told {
    fn comment(&mut self, text: &str) {
        self.proposed.comments.push(text.to_owned());
    }

    fn key(&mut self, line: &str) {
        self.proposed.keys.push(line.to_owned());
    }

    fn draft(&mut self, line: &str) {
        self.proposed.drafts.push(line.to_owned());
    }

    fn label(&self) -> &str {
        match &self.proposed.from {
            From::Column { label, .. } => label,
            From::Constant(_) => self.proposed.field,
        }
    }
}

/// The other word of a pair such as yes and no, for sheets in which it is still to come.
fn counterpart(value: &str) -> Option<String> {
    const PAIRS: [(&str, &str); 9] = [
        ("1", "0"),
        ("true", "false"),
        ("yes", "no"),
        ("y", "n"),
        ("on", "off"),
        ("ja", "nein"),
        ("oui", "non"),
        ("wahr", "falsch"),
        ("vrai", "faux"),
    ];
    let word = value.to_lowercase();
    let other = PAIRS.iter().find_map(|(yes, no)| match word.as_str() {
        word if word == *yes => Some(*no),
        word if word == *no => Some(*yes),
        _ => None,
    })?;
    let shouts = value.chars().any(char::is_alphabetic) && !value.chars().any(char::is_lowercase);
    Some(if shouts { other.to_uppercase() } else { other.to_owned() })
}

/// A text as TOML has it, with nothing in it that would change how the file is shown.
pub fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            c if is_hidden(c) => quoted.push_str(&format!("\\U{:08X}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// Characters that a terminal or an editor obeys instead of showing them.
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// A constant as TOML has it; nothing for null, which TOML does not know.
pub fn constant(constant: &Constant) -> Option<String> {
    match constant {
        Constant::Text(text) => Some(quoted(text)),
        Constant::Number(number) => Some(number.to_string()),
        Constant::Boolean(boolean) => Some(boolean.to_string()),
        Constant::Null => None,
    }
}

/// A column as TOML names it.
pub fn called(column: &ColumnName) -> String {
    match column {
        ColumnName::Named(name) => quoted(name),
        ColumnName::Number(number) => number.to_string(),
    }
}
