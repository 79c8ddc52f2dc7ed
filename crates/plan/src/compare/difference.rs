//! The changes of an upload before anything is sent: new records, changed records by field, and unchanged records.
//!
//! The list of the service is read if its entries have the kind's key. Records that can only be updated are requested one by one, or for
//! a preview a sample of them. What the service does not show is taken from the requests that this machine sent last, if they are known:
//! the id of a record in the list, and the values of fields. The result is for people and does not affect the upload.

use std::collections::BTreeMap;

use futures_util::future::BoxFuture;
use futures_util::{StreamExt, TryStreamExt, stream};
use sheetport_client::pages::{Completeness, Page, object_fields};
use sheetport_client::{self as client, fetch};
use sheetport_ledger::{Seen, Seq};
use sheetport_records::transaction::COUNTED;
use sheetport_records::{Input, JsonType, RecordKind, Single, listed_name};

use super::candidate::Candidate;
use super::candidates::{CandidateFile, Candidates, Place, Way};
use super::change::{Change, ChangedField};
use super::fill_blank::{Found, Withheld};
use super::keyed::Keyed;
use super::odd_changes::{Overview, is_status};
use super::request_body::{external_id, object, record_of_body};
use super::server_diff::{MAX_ANSWER, compared_text};
use super::service_lines::{are_same_lines, sendable, shown};
use super::service_list::{Connection, ListReader, list_of};
use super::stock::{Looked, Stock, look_at_stocks};
use crate::count;
use crate::error::Error;

/// Maximum number of records requested one by one.
const MAX_SINGLE: usize = 50;
/// Maximum number of requests for a list.
const MAX_PAGES: u64 = 500;
/// Examples of each changed field.
const SAMPLES: usize = 3;

/// How much of the service is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// A list of at most [`MAX_PAGES`], or [`MAX_SINGLE`] records one by one. Changes are counted.
    Preview,
    /// All that the records need. The change of each record is kept.
    Whole,
    /// The same, and what the service shows of each field of a record is kept.
    Fields,
}

/// The expected changes of an upload.
#[derive(Debug, Default)]
pub struct Difference {
    /// Records to be created.
    pub new: u64,
    /// Records with another value in the service.
    pub changed: u64,
    /// Records that the file lacks, with another value than the one to set.
    pub gone: u64,
    /// Records with the same values.
    pub unchanged: u64,
    /// Records with the same values in all fields that the service shows.
    pub unclear: u64,
    /// Records to be updated that the service does not have.
    pub missing: u64,
    /// Records without a comparison, and the reason.
    pub not_compared: u64,
    pub why_not: Option<WhyNot>,
    /// The fields with other values, in the order of the contract.
    pub fields: Vec<FieldChange>,
    /// The compared records, unless it is for a preview. Those that are not in it were not compared.
    pub records: BTreeMap<Seq, Change>,
    /// The fields that are not written, of records of which only blank fields are.
    pub withheld: BTreeMap<Seq, Withheld>,
    /// The stocks of counted inventories, unless it is for a preview.
    pub stocks: BTreeMap<Seq, Stock>,
    /// What the service shows of the fields of the requests, for [`Depth::Fields`]: a JSON object with the names of the service.
    pub shown: BTreeMap<Seq, Box<str>>,
}

/// Why records were not compared.
#[derive(Debug, thiserror::Error)]
pub enum WhyNot {
    #[error("{0}")]
    Failed(#[from] client::Error),
    #[error("the service's list does not show by which number a record was uploaded")]
    NoKeys,
    #[error("reading the service's list takes {0} requests")]
    TooLong(u64),
    #[error("the service's list may be incomplete: {0}")]
    Incomplete(String),
    /// Each takes a request.
    #[error("each record takes a request, so only some were looked up")]
    Sample,
}

/// A field with other values than in the service.
#[derive(Debug)]
pub struct FieldChange {
    pub field: &'static str,
    pub records: u64,
    /// Those of them whose old value is the last one that this machine sent, because the service does not show the field.
    pub as_sent: u64,
    /// The first changes, odd ones before others: the record, the value in the service and the value in the file.
    pub samples: Vec<(String, String, String)>,
    odd_samples: usize,
    pub overview: Overview,
}

impl Difference {
    /// Returns what the service had of each compared record.
    pub fn seen(&self) -> impl Iterator<Item = (Seq, Seen)> + Send {
        self.records.iter().map(|(seq, change)| (*seq, change.seen()))
    }
}

/// Compares records with the service. `progress` is told how many requests were made, and how many there are.
///
/// # Errors
/// If the records can't be read back. A service that can't be asked is no error: the difference says why not.
pub fn difference<'a>(
    kind: RecordKind,
    candidates: Candidates,
    depth: Depth,
    connection: &'a Connection<'a>,
    progress: &'a (dyn Fn(u64, u64) + Sync),
) -> BoxFuture<'a, Result<Difference, Error>> {
    Box::pin(async move {
        let (mut file, [updates, counts, creates]) = candidates.into_parts([Way::Target, Way::Stock, Way::Key])?;
        let mut counted = Counted::new(kind.input(), depth);
        if !counts.is_empty() {
            let most = if depth == Depth::Preview { MAX_SINGLE } else { usize::MAX };
            let counts: Vec<Candidate> = file.read_all(counts).collect::<Result<_, _>>()?;
            let wanted = counts.len();
            let Looked { found, failed } = look_at_stocks(counts, most, connection, progress).await;
            counted.result.not_compared += (wanted - found.len()) as u64;
            if found.len() < wanted {
                counted.result.why_not = Some(failed.map_or(WhyNot::Sample, WhyNot::Failed));
            }
            found.into_iter().for_each(|(candidate, stock)| counted.add_stock(&candidate, stock));
        }
        if let Some(single) = kind.single().filter(|_| !updates.is_empty()) {
            look_up(&mut counted, single, &mut file, updates, connection, progress).await?;
        } else {
            counted.result.not_compared += updates.len() as u64;
        }
        match list_of(kind) {
            Some((list, key)) if !creates.is_empty() => {
                let reader = ListReader::new(connection, list);
                read_list(&mut counted, reader, Keyed::new(key, file, creates)?, progress).await?;
            }
            _ => counted.add_new(file.read_all(creates))?,
        }
        Ok(counted.finish())
    })
}

/// Compares records with what the service has shown of them: a JSON object with the names of the service, or `None` for a new record.
pub fn difference_from(
    kind: RecordKind,
    records: impl IntoIterator<Item = (Candidate, Option<Box<str>>)>,
) -> Difference {
    let mut counted = Counted::new(kind.input(), Depth::Whole);
    for (candidate, shown) in records {
        match shown {
            Some(shown) => counted.compare(&candidate, &shown),
            None => counted.add(&candidate, Change::New),
        }
    }
    counted.finish()
}

/// Whether records of a kind are compared by reading a list, and not one by one.
pub fn is_listed(kind: RecordKind) -> bool {
    kind.single().is_none()
}

/// Requests records, or a sample spread over the file.
async fn look_up(
    counted: &mut Counted,
    single: &'static Single,
    file: &mut CandidateFile,
    updates: Vec<Place>,
    connection: &Connection<'_>,
    progress: &(dyn Fn(u64, u64) + Sync),
) -> Result<(), Error> {
    let all = updates.len();
    let step = match counted.depth {
        Depth::Preview => all.div_ceil(MAX_SINGLE).max(1),
        Depth::Whole | Depth::Fields => 1,
    };
    let wanted = all.div_ceil(step);
    let input = counted.input;
    let requests = stream::iter(file.read_all(updates.into_iter().step_by(step))).map(|candidate| async move {
        let candidate = candidate.map_err(Failed::File)?;
        let target = candidate.target.as_deref().unwrap_or_default();
        // A path may have the record id, or the external id that the request has, too.
        let by_external_id = single.has_external_id && external_id(input, &candidate.body).as_deref() == Some(target);
        let Some(path) = fetch::record_path(single.path, target, by_external_id) else {
            return Ok((candidate, None));
        };
        match fetch::fetch_within(connection.client, &connection.pace, &path, MAX_ANSWER, Page::parse_record).await {
            Ok(page) => Ok((candidate, Some(page))),
            Err(client::Error::Status { status: 404, .. }) => Ok((candidate, None)),
            Err(error) => Err(Failed::Client(error)),
        }
    });
    let mut answers = requests.buffered(connection.concurrency.max(1));
    let mut done = 0;
    loop {
        match answers.try_next().await {
            Ok(Some((candidate, page))) => {
                done += 1;
                progress(done, wanted as u64);
                match page.as_ref().and_then(|page| page.entries().next()) {
                    Some(entry) => counted.compare(&candidate, entry.json()),
                    None => counted.add(&candidate, Change::Missing),
                }
            }
            Ok(None) => break,
            Err(Failed::File(error)) => return Err(error),
            Err(Failed::Client(error)) => {
                counted.result.why_not = Some(error.into());
                break;
            }
        }
    }
    let rest = all as u64 - done;
    counted.result.not_compared += rest;
    if rest > 0 {
        counted.result.why_not.get_or_insert(WhyNot::Sample);
    }
    Ok(())
}

/// Why a record could not be requested.
enum Failed {
    File(Error),
    Client(client::Error),
}

/// Reads the list of the service and compares the records in it.
async fn read_list(
    counted: &mut Counted,
    mut reader: ListReader<'_>,
    mut keyed: Keyed,
    progress: &(dyn Fn(u64, u64) + Sync),
) -> Result<(), Error> {
    let mut why_not = None;
    while !reader.is_over() && why_not.is_none() {
        let pages_left = reader.pages_left();
        let is_too_long = pages_left > MAX_PAGES || pages_left > keyed.len() as u64 + 1;
        if reader.next > 1 && is_too_long && counted.depth == Depth::Preview {
            why_not = Some(WhyNot::TooLong(reader.next - 1 + pages_left));
            break;
        }
        match reader.pages().await {
            Ok(pages) => {
                for entry in pages.iter().flat_map(Page::entries) {
                    if let Some(candidate) = keyed.take(&entry)? {
                        counted.compare(&candidate, entry.json());
                    }
                }
            }
            Err(error) => why_not = Some(error.into()),
        }
        progress(reader.next - 1, reader.next - 1 + reader.pages_left());
        if reader.walk.entries > 0 && !keyed.has_shown_keys && !keyed.has_ids() {
            break;
        }
    }
    if reader.walk.entries > 0 && !keyed.has_shown_keys && why_not.is_none() {
        why_not = Some(WhyNot::NoKeys);
    }
    reader.finish().await;
    if why_not.is_none()
        && let Completeness::Moved(reason) | Completeness::Unproven(reason) = reader.walk.completeness()
    {
        why_not = Some(WhyNot::Incomplete(reason));
    }
    counted.result.not_compared += keyed.not_keyed;
    match why_not {
        None => counted.add_new(keyed.rest())?,
        Some(why) => {
            counted.result.not_compared += keyed.len() as u64;
            counted.result.why_not = Some(why);
        }
    }
    Ok(())
}

impl FieldChange {
    fn of(field: &'static str) -> FieldChange {
        FieldChange {
            field,
            records: 0,
            as_sent: 0,
            samples: Vec::new(),
            odd_samples: 0,
            overview: Overview::default(),
        }
    }

    /// Adds an example, odd ones before others.
    fn add_sample(&mut self, is_odd: bool, sample: impl FnOnce() -> (String, String, String)) {
        if is_odd && self.odd_samples < SAMPLES {
            self.samples.insert(self.odd_samples, sample());
            self.odd_samples += 1;
            self.samples.truncate(SAMPLES);
        } else if self.samples.len() < SAMPLES {
            self.samples.push(sample());
        }
    }
}

/// The counts so far.
struct Counted {
    input: &'static Input,
    depth: Depth,
    result: Difference,
    /// By the place of the field in the contract.
    fields: BTreeMap<usize, FieldChange>,
}

impl Counted {
    fn new(input: &'static Input, depth: Depth) -> Counted {
        Counted { input, depth, result: Difference::default(), fields: BTreeMap::new() }
    }

    fn finish(mut self) -> Difference {
        let Difference { changed, unchanged, unclear, ref mut records, .. } = self.result;
        let compared = changed + unchanged + unclear;
        for change in self.fields.values_mut() {
            let all = records.values_mut().filter_map(|record| match record {
                Change::Changed(fields) => fields.iter_mut().find(|field| field.field == change.field),
                _ => None,
            });
            let all = all.map(ChangedField::with_odd);
            change.overview.compare_with_others(is_status(change.field), all, change.records, compared);
        }
        Difference { fields: self.fields.into_values().collect(), ..self.result }
    }

    /// Counts a record, unless it is not sent because only others are.
    fn add(&mut self, candidate: &Candidate, change: Change) {
        if candidate.takes(change.is_known()) {
            self.count(candidate, &change);
        }
        if self.depth != Depth::Preview {
            self.result.records.insert(candidate.seq, change);
        }
    }

    /// Counts records that the service does not have.
    fn add_new(&mut self, mut candidates: impl Iterator<Item = Result<Candidate, Error>>) -> Result<(), Error> {
        candidates.try_for_each(|candidate| {
            self.add(&candidate?, Change::New);
            Ok(())
        })
    }

    fn count(&mut self, candidate: &Candidate, change: &Change) {
        let count = match change {
            Change::Changed(_) if candidate.is_gone => &mut self.result.gone,
            Change::New => &mut self.result.new,
            Change::Changed(_) => &mut self.result.changed,
            Change::Unchanged => &mut self.result.unchanged,
            Change::NotShown => &mut self.result.unclear,
            Change::Missing => &mut self.result.missing,
        };
        *count += 1;
    }

    /// Counts a record that exists in the service.
    fn compare(&mut self, candidate: &Candidate, listed: &str) {
        if self.depth == Depth::Fields {
            self.result.shown.insert(candidate.seq, self.shown_of(&candidate.body, listed));
        }
        let mut changes = self.values(&candidate.body, listed, candidate.sent.body.as_deref());
        let mut is_clear = true;
        if candidate.fills {
            let withheld = Withheld::split_off(self.input, &mut changes);
            is_clear = withheld.not_shown.is_empty();
            self.result.withheld.insert(candidate.seq, withheld);
        }
        self.add_compared(candidate, changes, is_clear);
    }

    /// Counts a counted stock.
    fn add_stock(&mut self, candidate: &Candidate, stock: Stock) {
        match stock.change(&candidate.body) {
            Some(found) => self.add_compared(candidate, vec![(usize::MAX, COUNTED, found)], true),
            None if stock == Stock::Missing => self.add(candidate, Change::Missing),
            None => self.result.not_compared += 1,
        }
        if self.depth != Depth::Preview {
            self.result.stocks.insert(candidate.seq, stock);
        }
    }

    /// Counts a record with its compared fields. `is_clear`: all others are known to be the same.
    fn add_compared(&mut self, candidate: &Candidate, changes: Vec<(usize, &'static str, Found)>, mut is_clear: bool) {
        // Of its exact length: what a longer one gives back is too small for the next, and would be lost for each of a million records.
        let others = changes.iter().filter(|(.., found)| matches!(found, Found::Other { .. })).count();
        let (mut changed, is_sent) = (Vec::with_capacity(others), candidate.takes(true));
        for (index, field, found) in changes {
            match found {
                Found::Same => {}
                Found::NotShown => is_clear = false,
                Found::Other { old, new, is_number, is_as_sent } if !is_sent => {
                    changed.push(ChangedField { is_number, is_as_sent, ..ChangedField::new(field, &old, &new) });
                }
                Found::Other { old, new, is_number, is_as_sent } => {
                    let change = self.fields.entry(index).or_insert_with(|| FieldChange::of(field));
                    change.records += 1;
                    change.as_sent += u64::from(is_as_sent);
                    let shown = shown(&old);
                    let odd = change.overview.add(&shown, &new, is_number);
                    let planned = count::moved(&shown, &new).filter(|_| field == COUNTED);
                    let planned = planned.map_or_else(|| new.clone(), |moved| format!("{new} ({moved:+})"));
                    change.add_sample(odd.is_some(), || (candidate.name.clone(), shown, planned));
                    changed.push(ChangedField { is_number, is_as_sent, odd, ..ChangedField::new(field, &old, &new) });
                }
            }
        }
        let change = match (changed.is_empty(), is_clear) {
            (false, _) => Change::Changed(changed.into()),
            (true, true) => Change::Unchanged,
            (true, false) => Change::NotShown,
        };
        self.add(candidate, change);
    }

    /// Returns the members of a record of the service for the fields of a request.
    fn shown_of(&self, body: &str, listed: &str) -> Box<str> {
        let sent = record_of_body(self.input, body).and_then(object_fields).unwrap_or_default();
        let listed = object_fields(listed).unwrap_or_default();
        let is_sent = |name: &str| sent.iter().any(|(field, _)| listed_name(field) == name);
        let members = listed.iter().filter(|(name, _)| is_sent(name));
        object(members.map(|(name, json)| (&**name, *json)))
    }

    /// Returns each field of a request, compared with the record of the service, or with the body of the last request where the service does
    /// not show it.
    fn values(&self, body: &str, listed: &str, last: Option<&str>) -> Vec<(usize, &'static str, Found)> {
        let (Some(sent), Some(listed)) =
            (record_of_body(self.input, body).and_then(object_fields), object_fields(listed))
        else {
            return Vec::new();
        };
        let last = last.and_then(|body| record_of_body(self.input, body)).and_then(object_fields).unwrap_or_default();
        let fields = self.input.fields().enumerate();
        let compared = fields.filter_map(|(index, field)| {
            let new = sent.iter().find(|(name, _)| *name == field.name)?.1;
            let name = listed_name(field.name);
            let old = listed.iter().find(|(found, _)| *found == name).map(|(_, json)| *json);
            let text = |json: &str| compared_text(field, json);
            let other = |old: &str, is_as_sent| Found::Other {
                old: old.into(),
                new: shown(new),
                is_number: matches!(field.json, JsonType::Number | JsonType::Integer),
                is_as_sent,
            };
            let found = match (text(new), old.map(text)) {
                // Identifies the record.
                _ if self.input.key.contains(&field.name) => Found::Same,
                (Some(new), Some(Some(old))) if new == old => Found::Same,
                (Some(_), Some(Some(_))) => other(old.unwrap_or_default(), false),
                (Some(planned), None) => {
                    let sent = last.iter().find(|(name, _)| *name == field.name).map(|(_, json)| *json);
                    let is_other = |sent: &&str| text(sent).is_some_and(|sent| sent != planned);
                    sent.filter(is_other).map_or(Found::NotShown, |sent| other(sent, true))
                }
                _ => Found::NotShown,
            };
            Some((index, field.name, found))
        });
        let mut compared: Vec<_> = compared.collect();
        if let Some((list, _)) = self.input.lines()
            && let Some((_, new)) = sent.iter().find(|(name, _)| *name == list.name)
        {
            // The contract shows lines nowhere; a service may show them with a single order.
            let shown_lines = listed.iter().find(|(name, _)| *name == list.name).map(|(_, json)| *json);
            let found = match shown_lines.and_then(|json| Some((json, sendable(json)?))) {
                Some((old, _)) if are_same_lines(new, old) => Found::Same,
                Some((_, old)) => {
                    Found::Other { old: old.into(), new: shown(new), is_number: false, is_as_sent: false }
                }
                None => Found::NotShown,
            };
            compared.push((usize::MAX, list.name, found));
        }
        compared
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(body: &str) -> Candidate {
        Candidate::new(0, "A".to_owned(), body.into())
    }

    #[test]
    fn changes_are_counted_by_field() {
        let mut counted = Counted::new(RecordKind::Item.input(), Depth::Preview);
        let listed = r#"{"id":"u","external_id":"A","name":"Bolt","price":1.5,"currency":null,"status":"active"}"#;
        for body in [
            r#"{"externalId":"A","name":"Bolt","price":1.50}"#,
            r#"{"externalId":"A","name":"Nut","price":2}"#,
            r#"{"externalId":"A","name":"Bolt","price":3,"currency":"EUR"}"#,
            r#"{"externalId":"A","name":"Bolt","description":"zinc"}"#,
        ] {
            counted.compare(&candidate(body), listed);
        }
        let found = counted.finish();
        assert_eq!((found.unchanged, found.changed, found.unclear), (1, 2, 1));
        let fields: Vec<_> = found.fields.iter().map(|it| (it.field, it.records, it.samples[0].clone())).collect();
        let sample = |old: &str, new: &str| ("A".to_owned(), old.to_owned(), new.to_owned());
        assert_eq!(
            fields,
            [("name", 1, sample("Bolt", "Nut")), ("currency", 1, sample("", "EUR")), ("price", 2, sample("1.5", "2"))]
        );
    }

    #[test]
    fn lines_of_an_order_are_not_shown_by_the_service() {
        let mut counted = Counted::new(RecordKind::Order.input(), Depth::Preview);
        let listed = r#"{"id":"u","order_at":"2026-01-01T09:00:00.000Z","delivery_status":"sent"}"#;
        for body in [
            r#"{"order":{"externalId":"O","orderAt":"2026-01-01T10:00:00+01:00"}}"#,
            r#"{"order":{"externalId":"O","deliveryStatus":"sent","items":[{"quantity":1}]}}"#,
            r#"{"order":{"externalId":"O","deliveryStatus":"open","items":[{"quantity":1}]}}"#,
        ] {
            counted.compare(&candidate(body), listed);
        }
        let found = counted.finish();
        assert_eq!((found.unchanged, found.unclear, found.changed), (1, 1, 1));
    }
}
