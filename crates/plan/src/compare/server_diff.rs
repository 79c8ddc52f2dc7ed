//! Comparing records with the service's own: the part of `--changed-only` that needs no history.
//!
//! A record is unchanged if the entry in the list has the same value for every field to be sent. The list need not be consistent:
//! a moved, duplicate or missed entry costs only an extra request. If the list lacks a field or the key, the record is sent.
//! Records without a list are requested one by one.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

use futures_util::future::LocalBoxFuture;
use futures_util::{StreamExt, stream};
use sheetport_client::pages::{Entry, Page, object_fields, unescaped};
use sheetport_client::{self as client, fetch};
use sheetport_files::text_file::normalize_line_ends;
use sheetport_ledger::{Disposition, KeyedRequest, Ledger, PlannedRecord, Run, Seq};
use sheetport_records::{Field, Input, JsonType, RecordKind, Single, listed_name};
use sheetport_values::decimal;

use super::service_list::{Connection, ListReader, list_of, single_of};
use crate::error::Error;

/// Maximum number of records to compare, to bound the memory. Further records are sent.
const MAX_RECORDS: usize = 4_000_000;

/// The result of a comparison.
#[derive(Debug, Default)]
pub struct Comparison {
    /// The number of unchanged records.
    pub unchanged: u64,
    /// The error that ended the comparison early.
    pub failed: Option<client::Error>,
}

/// Maximum length of a response with one record, in bytes.
pub(super) const MAX_ANSWER: usize = 8 << 20;
/// Number of requests before their outcomes are stored.
const BATCH: usize = 500;

/// Marks the pending records of a planned run as *unchanged* if the service has the same values. A list is read
/// only as long as reading takes fewer requests than sending.
pub fn mark_unchanged<'a>(
    ledger: &'a Ledger,
    run: &'a Run,
    kind: RecordKind,
    connection: &'a Connection<'a>,
    now: i64,
) -> LocalBoxFuture<'a, Result<Comparison, Error>> {
    Box::pin(async move {
        let mut comparison = Comparison::default();
        if let Some((single, key)) = single_of(kind) {
            return compare_each(ledger, run, kind, (single, key), connection, now).await;
        }
        let Some((list, key)) = list_of(kind) else { return Ok(comparison) };
        let mut pending = PendingRecords::load(ledger, run, kind, key).await?;
        let mut reader = ListReader::new(connection, list);
        let limit = pending.len();
        let mut same = Vec::new();
        while !reader.is_over() {
            // The first page is a sample. Then the known rest is read if there are more records than pages.
            let is_worthwhile = match reader.next {
                1 => limit > 1,
                next => next <= limit && reader.pages_left() <= pending.len(),
            };
            if !is_worthwhile {
                break;
            }
            let pages = match reader.pages().await {
                Ok(pages) => pages,
                Err(error) => {
                    comparison.failed = Some(error);
                    break;
                }
            };
            for page in &pages {
                same.extend(page.entries().filter_map(|entry| pending.take_same(&entry)));
            }
            if reader.walk.entries > 0 && !pending.list_has_keys {
                break;
            }
        }
        reader.finish().await;
        comparison.unchanged = ledger.settle_unchanged(run, same, now).await?;
        Ok(comparison)
    })
}

/// Requests each pending record with an id. Marks the records with the same values.
async fn compare_each(
    ledger: &Ledger,
    run: &Run,
    kind: RecordKind,
    (single, key): (&'static Single, &'static str),
    connection: &Connection<'_>,
    now: i64,
) -> Result<Comparison, Error> {
    let mut comparison = Comparison::default();
    let mut pending = PendingRecords::load(ledger, run, kind, key).await?;
    let ids = std::mem::take(&mut pending.targets);
    for batch in ids.chunks(BATCH) {
        let requests = stream::iter(batch).map(|id| async move {
            let Some(path) = fetch::record_path(single.path, id, false) else { return Ok(None) };
            match fetch::fetch_within(connection.client, &connection.pace, &path, MAX_ANSWER, Page::parse_record).await
            {
                Ok(page) => Ok(Some(page)),
                // Sending the record will report the problem.
                Err(client::Error::Status { .. } | client::Error::TooLong(_)) => Ok(None),
                Err(error) => Err(error),
            }
        });
        let mut answers = requests.buffer_unordered(connection.concurrency.max(1));
        let mut same = Vec::new();
        while let Some(answer) = answers.next().await {
            match answer {
                Ok(page) => {
                    same.extend(page.iter().flat_map(Page::entries).filter_map(|entry| pending.take_same(&entry)));
                }
                Err(error) => comparison.failed = Some(error),
            }
            if comparison.failed.is_some() {
                break;
            }
        }
        comparison.unchanged += ledger.settle_unchanged(run, same, now).await?;
        if comparison.failed.is_some() {
            break;
        }
    }
    Ok(comparison)
}

/// The pending records, as hashes of keys and values.
struct PendingRecords {
    hasher: RandomState,
    input: &'static Input,
    /// The name of the key in the list.
    key: &'static str,
    records: HashMap<u64, PendingRecord>,
    /// The ids of records to be requested one by one.
    targets: Vec<Box<str>>,
    /// Whether any entry of the list has the key.
    list_has_keys: bool,
}

struct PendingRecord {
    seq: Seq,
    request: KeyedRequest,
    fields: FieldSet,
    values: u64,
}

/// A set of input fields, a bit each.
type FieldSet = u64;

impl PendingRecords {
    fn new(kind: RecordKind, key: &'static str) -> PendingRecords {
        let input = kind.input();
        PendingRecords {
            hasher: RandomState::new(),
            input,
            key,
            records: HashMap::new(),
            targets: Vec::new(),
            list_has_keys: false,
        }
    }

    async fn load(ledger: &Ledger, run: &Run, kind: RecordKind, key: &'static str) -> Result<PendingRecords, Error> {
        let mut pending = PendingRecords::new(kind, key);
        let mut from: Seq = 0;
        while let Some(block) = ledger.record_block(run.id, from).await? {
            from = block.end();
            let settled = ledger.settled(run.id, block.first..=from - 1).await?;
            for (seq, record) in block.numbered().filter(|(seq, _)| !settled.contains(seq)) {
                if pending.records.len() < MAX_RECORDS {
                    pending.insert(seq, record);
                }
            }
        }
        Ok(pending)
    }

    /// Adds a record if it is to be sent and can be compared.
    fn insert(&mut self, seq: Seq, record: &PlannedRecord) {
        let (Disposition::Send(body), Some(request)) = (&record.disposition, KeyedRequest::of(record)) else { return };
        let target = record.target.as_deref();
        if let Some((key, fields, values)) = self.body_hashes(body, target) {
            self.records.insert(key, PendingRecord { seq, request, fields, values });
            if let (None, Some(target)) = (self.input.member(), target) {
                self.targets.push(target.into());
            }
        }
    }

    fn len(&self) -> u64 {
        self.records.len() as u64
    }

    /// Removes and returns the record with the same key and values as this entry, if any.
    fn take_same(&mut self, entry: &Entry<'_>) -> Option<(Seq, KeyedRequest)> {
        let key = entry.field(self.key)?;
        self.list_has_keys = true;
        let key = self.hasher.hash_one(canonical(key)?);
        let record = self.records.get(&key)?;
        let (_, values) = self.values(entry.json(), Some(record.fields))?;
        if values != record.values {
            return None;
        }
        self.records.remove(&key).map(|record| (record.seq, record.request))
    }

    /// Returns the hash of the key of a request, whose id in the path is `target`, its fields, and the hash of their values. Returns `None`
    /// if the request has values that are not in the list: lines, options of the call, or its key.
    fn body_hashes(&self, body: &str, target: Option<&str>) -> Option<(u64, FieldSet, u64)> {
        let members = object_fields(body)?;
        let (record, key) = match (self.input.member(), target) {
            (None, None) => {
                let own = members.iter().find(|(name, _)| listed_name(name) == self.key)?;
                (body, canonical(own.1)?)
            }
            (None, Some(target)) => (body, format!("\"{target}")),
            (Some(member), Some(target)) => match members.as_slice() {
                [(name, record)] if name == member => (*record, format!("\"{target}")),
                _ => return None,
            },
            _ => return None,
        };
        let (present, values) = self.values(record, None)?;
        Some((self.hasher.hash_one(key), present, values))
    }

    /// Returns the fields of a record without its key, and the hash of their values. Takes all fields of a request, but of an
    /// entry in the list only the fields in `listed`. Returns `None` if a value is missing or can't be compared.
    fn values(&self, json: &str, listed: Option<FieldSet>) -> Option<(FieldSet, u64)> {
        let fields = object_fields(json)?;
        let (mut present, mut values, mut keys) = (0, Vec::new(), 0);
        for (index, field) in self.input.fields().enumerate() {
            let bit = 1 << index;
            let listed_name = listed_name(field.name);
            if listed_name == self.key {
                keys = fields.iter().filter(|(found, _)| *found == field.name).count();
                continue;
            }
            if listed.is_some_and(|listed| listed & bit == 0) {
                continue;
            }
            let name = if listed.is_some() { listed_name.as_str() } else { field.name };
            let mut found = fields.iter().filter(|(found, _)| *found == name).map(|(_, value)| *value);
            let value = match (found.next(), found.next()) {
                (Some(value), None) => compared_text(field, value)?,
                (None, _) if listed.is_none() => continue,
                _ => return None,
            };
            present |= bit;
            values.push((index, value));
        }
        // Bodies with unknown fields cannot be compared with a listing.
        let known = if listed.is_some() { fields.len() } else { values.len() + keys };
        (fields.len() == known).then(|| (present, self.hasher.hash_one(values)))
    }
}

/// Returns the normalized text of a field's value, for comparison. Returns `None` for arrays and objects.
pub(super) fn compared_text(field: &Field, json: &str) -> Option<String> {
    let text = if field.json == JsonType::DateTime { canonical_time(json) } else { canonical(json) }?;
    // A spreadsheet program may have changed the line ends when it saved an export.
    Some(normalize_line_ends(&text).into_owned())
}

/// Returns a normalized text for a time, independent of zone and fraction. A date means its start in UTC, because a workbook
/// shows midnight as a date. Other texts stay unchanged.
fn canonical_time(json: &str) -> Option<String> {
    let text = unescaped(json);
    let midnight = || {
        let date: jiff::civil::Date = text.parse().ok().filter(|_| text.len() == "2026-01-31".len())?;
        date.to_zoned(jiff::tz::TimeZone::UTC).ok().map(|start| start.timestamp())
    };
    let time: Option<jiff::Timestamp> = text.parse().ok().or_else(midnight);
    time.map_or_else(|| canonical(json), |time| Some(time.as_nanosecond().to_string()))
}

/// Returns a text identifying the value, such as 1.50 and 1.5. `None` for arrays and objects.
pub(super) fn canonical(json: &str) -> Option<String> {
    match json.as_bytes().first()? {
        b'"' => Some(format!("\"{}", unescaped(json))),
        b'[' | b'{' => None,
        b'-' | b'0'..=b'9' => decimal::canonical(json),
        _ => Some(json.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use sheetport_client::pages::Page;

    use super::*;

    fn planned(body: &str, target: Option<&str>) -> PlannedRecord {
        PlannedRecord {
            key: Some("a key".to_owned()),
            target: target.map(str::to_owned),
            rows: vec![2],
            sheet: String::new(),
            disposition: Disposition::Send(body.into()),
            command: None,
            warnings: Vec::new(),
        }
    }

    #[test]
    fn equal_values_have_equal_texts() {
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
    fn a_record_is_unchanged_only_if_the_list_has_all_its_values() {
        let same = |body: &str, entry: &str| {
            let mut pending = PendingRecords::new(RecordKind::Item, "external_id");
            pending.insert(7, &planned(body, None));
            assert_eq!(pending.len(), 1);
            let page = Page::parse(format!("[{entry}]").into_bytes()).expect("a page");
            page.entries().find_map(|entry| pending.take_same(&entry)).map(|(seq, _)| seq) == Some(7)
        };
        let body = r#"{"externalId":"00042","name":"a","price":1.50,"purchasePrice":null}"#;
        let entry = r#"{"id":"u","external_id":"00042","name":"a","price":1.5,"purchase_price":null,"tax":7}"#;
        assert!(same(body, entry));
        assert!(same(&body.replace("\"a\"", r#""a\nb""#), &entry.replace("\"a\"", r#""a\r\nb""#)));
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

    #[test]
    fn a_transaction_is_compared_by_the_id_in_its_path() {
        let same = |body: &str, target: Option<&str>| {
            let mut pending = PendingRecords::new(RecordKind::InventoryTransaction, "transaction_id");
            pending.insert(7, &planned(body, target));
            let entry = r#"{"transaction_id":"t","transaction_type":"in","inventory_id":"INV-1","inventory_uuid":"u",
                "transaction_amount":8,"transaction_date":"2026-01-01T09:17:00.000Z","use_unit_value":true,"price":1.50}"#;
            let page = Page::parse(format!("[{entry}]").into_bytes()).expect("a page");
            page.entries().find_map(|entry| pending.take_same(&entry)).map(|(seq, _)| seq) == Some(7)
        };
        let body = r#"{"transactionType":"in","inventoryId":"u","transactionAmount":8,"transactionDate":"2026-01-01T09:17:00Z","useUnitValue":true,"price":1.5}"#;
        assert!(same(body, Some("t")));
        assert!(!same(body, Some("v")) && !same(body, None));
        for (from, to) in [
            ("\"in\"", "\"out\""),
            (":8", ":9"),
            ("\"u\"", "\"INV-1\""),
            ("09:17", "09:18"),
            ("true", "false"),
            ("1.5", "1.51"),
            ("\"inventoryId\":\"u\"", "\"inventoryExternalId\":\"u\""),
            ("2026-01-01T09:17:00Z", "2026-01-01"),
        ] {
            assert!(!same(&body.replacen(from, to, 1), Some("t")), "{from} for {to}");
        }
    }

    #[test]
    fn a_date_is_its_start_in_utc() {
        let midnight = canonical_time(r#""2026-09-02T00:00:00.000Z""#);
        assert_eq!(canonical_time(r#""2026-09-02""#), midnight);
        assert_ne!(canonical_time(r#""2026-09-02T01:00:00Z""#), midnight);
        assert_ne!(canonical_time(r#""20260902""#), midnight);
    }

    #[test]
    fn an_order_is_compared_by_the_id_in_its_path() {
        let same = |body: &str, target: Option<&str>| {
            let mut pending = PendingRecords::new(RecordKind::Order, "id");
            pending.insert(7, &planned(body, target));
            let entry =
                r#"{"id":"u","order_at":"2026-01-01T09:17:00.000Z","delivery_status":"sent","company_id":null}"#;
            let page = Page::parse(format!("[{entry}]").into_bytes()).expect("a page");
            page.entries().find_map(|entry| pending.take_same(&entry)).map(|(seq, _)| seq) == Some(7)
        };
        let body = r#"{"order":{"orderAt":"2026-01-01T10:17:00+01:00","deliveryStatus":"sent"}}"#;
        assert!(same(body, Some("u")));
        assert!(!same(body, Some("v")) && !same(body, None));
        for (from, to) in [
            ("10:17", "10:18"),
            ("\"sent\"", "\"open\""),
            ("\"sent\"", "\"sent\",\"items\":[]"),
            ("\"sent\"", "\"sent\",\"companyExternalId\":\"C\""),
            ("\"sent\"}", "\"sent\"},\"triggerWorkflows\":true"),
        ] {
            assert!(!same(&body.replacen(from, to, 1), Some("u")), "{from} for {to}");
        }
    }
}
