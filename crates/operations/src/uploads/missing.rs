//! Records of the service that the file of a plan lacks: which of them are planned, and why none may be.

use sheetport_ledger::Causes;
use sheetport_mapping::Template;
use sheetport_mapping::missing::{AtMost, SetField};
use sheetport_mapping::modes::why_not_missing;
use sheetport_plan::Source;
use sheetport_plan::compare::{Alike, Connection, Gone, WhyNot, WhyNotGone, find_gone};
use sheetport_plan::plan::file_keys;

use super::super::error::Error;
use super::super::event::{Event, Observer};

/// What an upload says of a template that is for plans, too.
pub(super) const NOT_BY_UPLOAD: &str =
    "records that the file lacks stay as they are: `sheetport plan` shows them, and `sheetport apply` sets them";

/// What a plan is asked about records that the file lacks, beside `[missing]` of its template.
#[derive(Clone, Debug, Default)]
pub struct MissingFlags {
    /// Set in place of what the template says.
    pub set: Option<SetField>,
    pub at_most: Option<AtMost>,
}

/// The records that a file lacks.
#[derive(Debug)]
pub struct PlannedMissing {
    /// The records that the filter selects and that do not have the values to set.
    pub selected: u64,
    /// Those of them that the file lacks.
    pub gone: u64,
    pub at_most: AtMost,
    /// Why nothing is planned for them.
    pub not_planned: Option<NotPlanned>,
    /// Records that may be in the file under a similar identifier. Nothing is planned for them.
    pub alike: Vec<Alike>,
}

/// Why nothing is planned for the records that a file lacks.
#[derive(Debug)]
pub enum NotPlanned {
    /// Not all identifiers of the file are known.
    Unreadable(Causes),
    /// There are more than allowed.
    TooMany,
}

/// Finds the records of the service that the file lacks, and adds them to what is planned. `None` if nobody asked for it.
///
/// # Errors
/// If the template does not say which records the file is complete for, or the service does not show enough to know.
pub(super) async fn plan_missing(
    flags: &MissingFlags,
    template: &Template,
    source: &mut Source,
    connection: &Connection<'_>,
    observer: Observer<'_>,
) -> Result<Option<PlannedMissing>, Error> {
    let flag = flags.set.as_ref().map(|set| format!("--missing set:{}={}", set.field, set.value));
    let Some((missing, set)) = wanted(flags, flag.as_deref(), template)? else { return Ok(None) };
    if source.chosen.is_some() {
        return match &flag {
            Some(flag) => {
                let message =
                    format!("{flag} is not possible for some rows: it takes the whole file to know what it lacks");
                Err(Error::invalid(message, "leave out --rows"))
            }
            None => {
                observer(Event::Note("records that the file lacks are planned only with all of its rows"));
                Ok(None)
            }
        };
    }
    let at_most = flags.at_most.or(missing.at_most).unwrap_or(AtMost::USUAL);
    let mut planned = PlannedMissing { selected: 0, gone: 0, at_most, not_planned: None, alike: Vec::new() };
    let keys = file_keys(source, template)?;
    if !keys.unreadable.is_empty() {
        planned.not_planned = Some(NotPlanned::Unreadable(keys.unreadable));
        return Ok(Some(planned));
    }
    let progress = |done, all| observer(Event::Comparing { done, all });
    let found = find_gone(template, (missing, &set), &keys, connection, &progress).await;
    let Gone { selected, records, alike } = found.map_err(not_known)?;
    (planned.selected, planned.gone, planned.alike) = (selected, records.len() as u64, alike);
    if at_most.allows(planned.gone, selected) {
        source.gone = records;
    } else {
        planned.not_planned = Some(NotPlanned::TooMany);
    }
    Ok(Some(planned))
}

type Wanted<'t> = (&'t sheetport_mapping::missing::Missing, Vec<SetField>);

/// Returns what is to be set, and in which records.
fn wanted<'t>(flags: &MissingFlags, flag: Option<&str>, template: &'t Template) -> Result<Option<Wanted<'t>>, Error> {
    if let (Some(flag), Some(why)) = (flag, why_not_missing(template.record)) {
        return Err(Error::invalid(format!("{flag} is not possible: {why}"), "leave out --missing"));
    }
    let Some(missing) = &template.missing else {
        let flag = match (flag, flags.at_most) {
            (Some(flag), _) => flag.to_owned(),
            (None, Some(limit)) => format!("--at-most {limit}"),
            (None, None) => return Ok(None),
        };
        let message =
            format!("{flag} is not possible: the template does not say for which records the file is complete");
        let lines = "in a template of your own, add the lines:\n[missing]\nset = { status = \"inactive\" }\n\
                     where = 'externalId | starts_with(\"ACME-\")'";
        return Err(Error::invalid(message, lines));
    };
    let set = match &flags.set {
        None => missing.set.clone(),
        Some(set) => {
            if let Some(why) = set.why_not(template.record) {
                let message = format!("{} is not possible: {why}", flag.unwrap_or_default());
                return Err(Error::invalid(message, "an example is --missing set:status=inactive"));
            }
            vec![set.clone()]
        }
    };
    if set.is_empty() {
        return Ok(None);
    }
    if template.unpivot.is_some() {
        let message = "records that the file lacks can't be planned for a template with [unpivot], whose rows have several records";
        return Err(Error::invalid(message, "leave out [missing]"));
    }
    Ok(Some((missing, set)))
}

fn not_known(why: WhyNotGone) -> Error {
    let message = format!("it is not known which records the file lacks: {why}");
    let hint =
        "try again later if the service can't be read; otherwise, leave out --missing, and [missing] in the template";
    match why {
        WhyNotGone::NotRead(WhyNot::Failed(error)) => {
            Error::Reworded { error: Box::new(error.into()), message }.with_hint(hint)
        }
        _ => Error::invalid(message, hint),
    }
}
