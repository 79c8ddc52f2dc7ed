//! The end of an export: under which name the file is, what its manifest says, and what follows once it is in place.

use std::path::{Path, PathBuf};

use super::changes::Compared;
use super::gather::Missing;
use super::history::{History, State};
use super::manifest::Manifest;
use super::rows::Maker;
use super::spool::{Kind, Spool};
use super::{Error, Exported, Job, Output, Since, What, columns, names};
use crate::client::pages::{Completeness, Walk};
use crate::sheet::write::{Packing, Shape, Style, TextKind, Value, ValueTable, Written, folder};

/// What is added to the name of a file that can't be shown to be whole.
const INCOMPLETE: &str = ".incomplete";
/// What is added to a file's name for the list of the ids that were not found.
const NOT_FOUND: &str = ".not-found.csv";

/// What an export has come to.
pub struct Ending<'a> {
    pub job: &'a Job,
    pub history: &'a History,
    pub verdict: Verdict,
    pub walk: Walk,
    pub maker: Maker,
    pub written: Option<Written>,
    /// The records beside those of the export before.
    pub compared: Compared,
    /// The file's name; nothing for standard output.
    pub place: Option<PathBuf>,
    pub since: Option<jiff::Timestamp>,
    pub missing: u64,
    pub was_resumed: bool,
    /// When the first page was read, by an earlier export or by this one.
    pub began: jiff::Timestamp,
}

/// Whether the file gets the name that was asked for, and why.
#[derive(Debug)]
pub struct Verdict {
    is_whole: bool,
    how: String,
    /// `--min-ratio` was asked for, and nothing is known of before.
    lacks_before: bool,
}

impl Verdict {
    pub fn of(job: &Job, completeness: &Completeness, walk: &Walk, before: Option<u64>) -> Verdict {
        let mut how = match completeness {
            Completeness::TotalReached => "as many different records as the service says there are".to_owned(),
            Completeness::ReadToTheEnd => "read until a page was empty; the service names no total".to_owned(),
            Completeness::EachAsked => "each id was asked for".to_owned(),
            Completeness::Unproven(reason) => {
                return Verdict { is_whole: false, how: reason.clone(), lacks_before: false };
            }
        };
        if let (Some(ratio), Some(before)) = (job.min_ratio, before)
            && (walk.entries as f64) < ratio * before as f64
        {
            let (now, then) = (walk.entries, before);
            let how = format!(
                "the list has {now} records where the last export found {then}, which is less than the share of {ratio} \
                 that --min-ratio asks for; the file of then stays"
            );
            return Verdict { is_whole: false, how, lacks_before: false };
        }
        if job.verify {
            how.push_str("; a second reading met the same ids");
        }
        Verdict { is_whole: true, how, lacks_before: job.min_ratio.is_some() && before.is_none() }
    }

    /// The name for a file that was to be `path`.
    pub fn place(&self, path: &Path) -> PathBuf {
        if self.is_whole { path.to_owned() } else { with_suffix(path, INCOMPLETE) }
    }
}

/// Writes what stands beside the file. Once it is whole and in place: remembers it for the next one, and makes room. Until
/// all is done the spool stays, so that nothing is asked for twice.
pub fn conclude(ending: Ending<'_>, mut spool: Spool) -> Result<Exported, Error> {
    let mut remarks = remarks(&ending.maker);
    if ending.verdict.lacks_before {
        remarks.push(
            "no earlier export to this name is known, so that --min-ratio had nothing to compare with".to_owned(),
        );
    }
    let not_found = report_missing(&ending, &mut spool)?;
    let manifest = manifest(&ending)?;
    let mut exported = Exported { path: ending.place.clone(), manifest, not_found, removed: Vec::new(), remarks };
    if let Some(place) = &ending.place {
        exported.manifest.write(place)?;
        if ending.verdict.is_whole {
            let (job, place) = (ending.job, place.clone());
            ending.remember(&exported.manifest, &place)?;
            exported.make_room(job, &place);
        }
    }
    spool.remove()?;
    Ok(exported)
}

impl Ending<'_> {
    fn remember(self, manifest: &Manifest, place: &Path) -> Result<(), Error> {
        self.compared.keep()?;
        // Whatever changed while it was read has a later time than its beginning; where the service's clock is behind
        // ours, the newest time of all is earlier than that.
        let until = self.maker.counts.newest.map_or(self.began, |newest| newest.min(self.began));
        self.history.remember(&State {
            file: place.to_owned(),
            distinct: self.walk.entries,
            changed_until: until.to_string(),
            finished: manifest.finished.clone(),
        })
    }
}

impl Exported {
    /// Removes what the file takes the place of. That something can't be removed is said, and is no fault of the export.
    fn make_room(&mut self, job: &Job, place: &Path) {
        let stale = with_suffix(place, INCOMPLETE);
        if Manifest::beside(&stale).is_some_and(|manifest| self.is_kin(&manifest)) {
            self.remove_with_manifest(&stale);
        }
        let Some(keep) = job.keep else { return };
        let entries = std::fs::read_dir(folder(place)).into_iter().flatten().flatten();
        let mut dated: Vec<_> = entries
            .filter_map(|entry| {
                let name = entry.file_name().into_string().ok()?;
                let date = names::date_in(&self.manifest.pattern, &job.workspace, &name)?;
                let path = place.with_file_name(name);
                let is_ours = Manifest::beside(&path).is_some_and(|manifest| self.is_kin(&manifest));
                is_ours.then_some((date, path))
            })
            .collect();
        dated.sort();
        let surplus = dated.len().saturating_sub(keep);
        for (_, path) in dated.into_iter().take(surplus) {
            self.remove_with_manifest(&path);
        }
    }

    /// Whether another export is an earlier one of the same.
    fn is_kin(&self, other: &Manifest) -> bool {
        let own = &self.manifest;
        (&own.pattern, &own.records, &own.base_url, &own.workspace)
            == (&other.pattern, &other.records, &other.base_url, &other.workspace)
    }

    fn remove_with_manifest(&mut self, path: &Path) {
        match std::fs::remove_file(path) {
            Ok(()) => self.removed.push(path.to_owned()),
            Err(error) => self.remarks.push(format!("{} can't be removed: {error}", path.display())),
        }
        for beside in [Manifest::path_of(path), with_suffix(path, NOT_FOUND)] {
            // It need not be there.
            let _ = std::fs::remove_file(beside);
        }
    }
}

fn manifest(ending: &Ending<'_>) -> Result<Manifest, Error> {
    let Ending { job, verdict, walk, maker, written, compared, since, missing, was_resumed, began, .. } = ending;
    let (records, family) = match &job.what {
        What::List(list) => (list.name, list.family.name()),
        What::Ids { single, .. } => (single.name, "public"),
    };
    let pattern = match &job.output {
        Output::File { pattern, .. } => pattern.as_str(),
        Output::Stdout { .. } => "-",
    };
    let name = written.as_ref().and_then(|written| written.path.file_name());
    let finished = jiff::Timestamp::try_from((job.clock.now)()).unwrap_or(job.clock.started);
    Ok(Manifest {
        sheetport: env!("CARGO_PKG_VERSION").to_owned(),
        file: name.unwrap_or_default().to_string_lossy().into_owned(),
        bytes: written.as_ref().map_or(0, |written| written.bytes),
        sha256: written.as_ref().map(|written| written.sha256.clone()).unwrap_or_default(),
        records: records.to_owned(),
        family: family.to_owned(),
        base_url: job.base_url.clone(),
        workspace: job.workspace.clone(),
        pattern: pattern.to_owned(),
        started: began.to_string(),
        finished: finished.to_string(),
        resumed: *was_resumed,
        complete: verdict.is_whole,
        how: verdict.how.clone(),
        verified: job.verify,
        count: maker.counts.records,
        rows: maker.counts.rows,
        distinct: walk.entries,
        pages: walk.pages,
        duplicates: walk.duplicates,
        total: walk.total,
        since: match job.since {
            Since::Ever => None,
            Since::Last | Since::Moment(_) => since.map(|since| since.to_string()),
        },
        older: maker.counts.older,
        left_out: maker.counts.left_out,
        not_found: *missing,
        columns: maker.header(),
        gathered: maker.gathered(),
        cut: maker.counts.cut,
        changes: compared.changes,
    })
}

fn remarks(maker: &Maker) -> Vec<String> {
    let never_met = maker.never_met().into_iter();
    let mut remarks: Vec<String> =
        never_met.map(|path| format!("no record has a value in the field {path} that the template names")).collect();
    if maker.gathered() > 0 {
        remarks.push(format!(
            "there are more than {} columns; {} values of further fields are together in the column {}, as JSON",
            columns::MAX_COLUMNS,
            maker.gathered(),
            columns::OTHERS
        ));
    }
    if maker.counts.cut > 0 {
        let (number, are) = match maker.counts.cut {
            1 => ("1 text".to_owned(), "is"),
            number => (format!("{number} texts"), "are"),
        };
        remarks.push(format!(
            "{number} {are} longer than the 32,767 characters that a workbook's cell can hold: they are cut and end in \
             '… [cut]'; an export to .csv or .ndjson has them whole"
        ));
    }
    remarks
}

/// Writes the ids that were not found beside the file, and removes such a list of an earlier export.
fn report_missing(ending: &Ending<'_>, spool: &mut Spool) -> Result<Option<PathBuf>, Error> {
    let (What::Ids { .. }, Some(place)) = (&ending.job.what, &ending.place) else { return Ok(None) };
    let path = with_suffix(place, NOT_FOUND);
    if ending.missing == 0 {
        let _ = std::fs::remove_file(path);
        return Ok(None);
    }
    let shape = Shape::Text { kind: TextKind::Csv, packing: Packing::None };
    let header = ["id", "row", "reason"].map(str::to_owned);
    let mut table = ValueTable::create(&path, shape, Style::default(), "not found", &header)?;
    let mut frames = spool.frames()?;
    while let Some(frame) = frames.next()? {
        if frame.kind == Kind::Missing
            && let Ok(Missing { id, row, reason }) = serde_json::from_slice(&frame.text)
        {
            table.row(&[Value::Text(id.into()), Value::Digits(row.to_string()), Value::Text(reason.into())])?;
        }
    }
    table.finish_as(path.clone())?;
    Ok(Some(path))
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}
