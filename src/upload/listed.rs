//! Leaving out what the service has already, as its own list shows it: the half of `--changed-only` that remembers nothing.
//!
//! A record is left out if its entry in the list has, for every field that would be sent, the same value. So nothing has
//! to be known of the list as a whole: an entry that moved, came twice or was missed costs a request and no more. Fields
//! that the list does not show, and lists that don't show what an upload finds its records by, leave nothing out.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::time::Instant;

use futures_util::future::try_join_all;

use super::error::Error;
use crate::client::pages::read::{fields_of, unquoted};
use crate::client::pages::{self, Entry, Walk};
use crate::client::{self, Client, Pace, fetch};
use crate::ledger::{Disposition, Ledger, Outcome, RecordState, Run, Seq};
use crate::records::{List, RecordKind, item};

/// Entries asked for on a page. The service may give fewer.
const PAGE_SIZE: u64 = 100;
/// Records that are held to the list, at most; there is room for no more, and further ones are sent.
const MOST: usize = 4_000_000;

/// Where records of a kind are listed, and which of an entry's fields is the key of an upload.
fn list_of(kind: RecordKind) -> Option<(&'static List, &'static str)> {
    match kind {
        RecordKind::Item => Some((&item::LIST, "external_id")),
        _ => None,
    }
}

/// What came of it.
#[derive(Debug, Default)]
pub struct Compared {
    /// Records that are as the list shows them.
    pub unchanged: u64,
    /// Why the list was not read to its end, if it should have been.
    pub failed: Option<client::Error>,
}

/// Whom the list is asked of.
pub struct Asking<'a> {
    pub client: &'a Client,
    pub pace: &'a Pace,
    pub concurrency: usize,
}

/// Gives the pending records of a planned run that are as the service lists them the outcome *unchanged*. The list is read
/// as long as that takes fewer requests than sending them.
pub async fn leave_listed(
    ledger: &Ledger,
    run: &Run,
    kind: RecordKind,
    asking: &Asking<'_>,
    now: i64,
) -> Result<Compared, Error> {
    let mut compared = Compared::default();
    let Some((list, key)) = list_of(kind) else { return Ok(compared) };
    let mut pending = Pending::of(ledger, run, key).await?;
    let mut walk = Walk::default();
    let (mut next, most) = (1, pending.len());
    while !walk.is_over() {
        // One page for a look; then the rest, as far as it is known, if there are more records than pages.
        let is_worth_it = match next {
            1 => most > 1,
            next => next <= most && walk.horizon() < next + pending.len(),
        };
        if !is_worth_it {
            break;
        }
        let last = walk.horizon().min(next + asking.concurrency.max(1) as u64 - 1);
        let fetched = (next..=last).map(|page| async move {
            let path = format!("{}?page={page}&{}={PAGE_SIZE}", list.path, list.size);
            fetch::fetch(asking.client, asking.pace, &path, pages::read).await
        });
        let fetched = match try_join_all(fetched).await {
            Ok(fetched) => fetched,
            // Some services have no page past the last one.
            Err(client::Error::Status { status: 404, .. }) if next > 1 => break,
            Err(error) => {
                compared.failed = Some(error);
                break;
            }
        };
        next = last + 1;
        let mut outcomes = Vec::new();
        for page in &fetched {
            walk.take(page);
            let same = page.entries().filter_map(|entry| pending.take_same(entry));
            outcomes.extend(same.map(|seq| Outcome::new(seq, RecordState::Unchanged, now)));
        }
        compared.unchanged += outcomes.len() as u64;
        ledger.settle(run.id, &outcomes).await?;
        if walk.entries > 0 && !pending.has_met_keys {
            break;
        }
    }
    if next > 1 {
        // The sending has a pace of its own, which does not know of these requests.
        while let Err(until) = asking.pace.permit(Instant::now()) {
            tokio::time::sleep_until(until.into()).await;
        }
    }
    Ok(compared)
}

/// What is to be sent, in little memory: of each record a hash of its key and one of its values.
struct Pending {
    hasher: RandomState,
    /// The name that the key has in the list.
    key: &'static str,
    records: HashMap<u64, Wanted>,
    /// Entries of the list have the key.
    has_met_keys: bool,
}

struct Wanted {
    seq: Seq,
    /// A bit for each field of the input that is sent.
    fields: u64,
    values: u64,
}

impl Pending {
    async fn of(ledger: &Ledger, run: &Run, key: &'static str) -> Result<Pending, Error> {
        let mut pending = Pending { hasher: RandomState::new(), key, records: HashMap::new(), has_met_keys: false };
        let mut from: Seq = 0;
        while let Some(block) = ledger.record_block(run.id, from).await? {
            from = block.end();
            let settled = ledger.settled(run.id, block.first..=from - 1).await?;
            for (seq, record) in block.numbered().filter(|(seq, _)| !settled.contains(seq)) {
                let Disposition::Send(body) = &record.disposition else { continue };
                let Some((key, fields, values)) = pending.hashed(body, None) else { continue };
                if pending.records.len() < MOST {
                    pending.records.insert(key, Wanted { seq, fields, values });
                }
            }
        }
        Ok(pending)
    }

    fn len(&self) -> u64 {
        self.records.len() as u64
    }

    /// The record that is as this entry, which is none of the pending ones from now on.
    fn take_same(&mut self, entry: Entry<'_>) -> Option<Seq> {
        let key = entry.fields().find(|(name, _)| unquoted(name) == self.key)?.1;
        self.has_met_keys = true;
        let key = self.hasher.hash_one(canonical(key)?);
        let wanted = self.records.get(&key)?;
        let (_, _, values) = self.hashed(entry.text(), Some(wanted.fields))?;
        if values != wanted.values {
            return None;
        }
        self.records.remove(&key).map(|wanted| wanted.seq)
    }

    /// Hashes of a record's key and values: of a body, or of those fields of an entry that a body has. Nothing where a value
    /// can't be compared or is not there.
    fn hashed(&self, json: &str, only: Option<u64>) -> Option<(u64, u64, u64)> {
        let fields = fields_of(json)?;
        let is_listed = only.is_some();
        let (mut key, mut sent, mut values) = (0, 0, Vec::new());
        for (place, field) in item::INPUT_FIELDS.iter().enumerate() {
            let is_key = listed_name(field.name) == self.key;
            let bit = 1 << place;
            if !is_key && only.is_some_and(|only| only & bit == 0) {
                continue;
            }
            let is_it = |name: &str| {
                let name = unquoted(name);
                if is_listed { name == listed_name(field.name) } else { name == field.name }
            };
            let mut found = fields.iter().filter(|(name, _)| is_it(name)).map(|(_, value)| *value);
            let value = match (found.next(), found.next()) {
                (Some(value), None) => canonical(value)?,
                (None, _) if !is_listed && !is_key => continue,
                _ => return None,
            };
            match is_key {
                true => key = self.hasher.hash_one(value),
                false => {
                    sent |= bit;
                    values.push((place, value));
                }
            }
        }
        // A body with a field that is none of the input's says something that no list answers.
        let known = if is_listed { fields.len() } else { values.len() + 1 };
        (fields.len() == known).then(|| (key, sent, self.hasher.hash_one(values)))
    }
}

/// `purchase_price` for `purchasePrice`: reads have the same fields in another spelling.
fn listed_name(name: &str) -> String {
    name.chars().fold(String::new(), |mut listed, c| {
        if c.is_ascii_uppercase() {
            listed.push('_');
        }
        listed.push(c.to_ascii_lowercase());
        listed
    })
}

/// A plain value, so written that the same value is the same text: 1.50 is 1.5. Nothing for an array or object.
fn canonical(json: &str) -> Option<String> {
    match json.as_bytes().first()? {
        b'"' => Some(format!("\"{}", unquoted(json))),
        b'[' | b'{' => None,
        b'-' | b'0'..=b'9' => number(json),
        _ => Some(json.to_owned()),
    }
}

/// The digits of a number without zeros around them, and the place of the point: exact for any number of digits.
fn number(json: &str) -> Option<String> {
    let (sign, json) = json.strip_prefix('-').map_or(("", json), |json| ("-", json));
    let (mantissa, exponent) = json.split_once(['e', 'E']).unwrap_or((json, "0"));
    let (whole, decimals) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{decimals}");
    let digits = digits.trim_start_matches('0');
    let significant = digits.trim_end_matches('0');
    if significant.is_empty() {
        return Some("0".to_owned());
    }
    let zeros = i64::try_from(digits.len() - significant.len()).ok()?;
    let exponent =
        exponent.parse::<i64>().ok()?.checked_sub(i64::try_from(decimals.len()).ok()?)?.checked_add(zeros)?;
    Some(format!("{sign}{significant}e{exponent}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_value_is_the_same_text_and_another_is_not() {
        let alike: [&[&str]; 5] = [
            &["1.50", "1.5", "15e-1", "0.15E+1", "01.5", "0.000015e5"],
            &["0", "-0", "0.00", "0e7"],
            &["100", "1e2", "1.00e2", "100.0"],
            &["-12345678901234567890.10", "-12345678901234567890.1"],
            &[r#""a""#, r#""\u0061""#],
        ];
        for values in alike {
            assert!(values.iter().all(|value| canonical(value) == canonical(values[0])), "{values:?}");
        }
        let different =
            ["1.5", "1.50000000000000000001", "15", "-1.5", "0", "null", "true", r#""1.5""#, r#""null""#, r#""""#];
        for (place, value) in different.iter().enumerate() {
            assert!(different[..place].iter().all(|other| canonical(other) != canonical(value)), "{value}");
        }
        assert_eq!((canonical("[1]"), canonical("{}"), canonical("")), (None, None, None));
        assert_eq!(canonical("1e99999999999999999999"), None);
    }

    #[test]
    fn a_record_is_left_out_only_where_the_list_shows_all_that_it_says() {
        let same = |body: &str, entry: &str| {
            let mut pending = Pending {
                hasher: RandomState::new(),
                key: "external_id",
                records: HashMap::new(),
                has_met_keys: false,
            };
            let (key, fields, values) = pending.hashed(body, None).expect("a body");
            pending.records.insert(key, Wanted { seq: 7, fields, values });
            let page = pages::read(format!("[{entry}]").into_bytes()).expect("a page");
            page.entries().find_map(|entry| pending.take_same(entry)) == Some(7)
        };
        let body = r#"{"externalId":"00042","name":"a","price":1.50,"purchasePrice":null}"#;
        let entry = r#"{"id":"u","external_id":"00042","name":"a","price":1.5,"purchase_price":null,"tax":7}"#;
        assert!(same(body, entry));
        for (from, to) in [
            ("\"00042\"", "\"42\""),
            ("\"00042\"", "42"),
            ("\"a\"", "\"A\""),
            ("\"a\"", "\"a \""),
            ("1.5", "1.51"),
            ("1.5", "\"1.5\""),
            ("\"purchase_price\":null", "\"purchase_price\":0"),
            ("\"purchase_price\":null,", ""),
            ("\"external_id\"", "\"sku\""),
            ("\"tax\":7", "\"name\":\"b\""),
        ] {
            assert!(!same(body, &entry.replacen(from, to, 1)), "{from} for {to}");
        }
        assert!(!same(
            r#"{"externalId":"00042","name":"a","colour":"red"}"#.replace("colour", "description").as_str(),
            entry
        ));
    }
}
