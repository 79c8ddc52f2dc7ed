//! Comparison of a file with the service before anything is sent.

use sheetport_client::{Client, Speed};
use sheetport_ledger::{KeyScope, Ledger};
use sheetport_mapping::Template;
use sheetport_mapping::map::Resolved;
use sheetport_plan::Source;
use sheetport_plan::compare::{
    Connection, NamedValues, NotCheckable, NotCompared, Scope, find_orders, find_references, load_keys, named_values,
    to_be_resolved,
};
use sheetport_records::RecordKind;

use super::super::context::Context;
use super::super::error::Error;
use super::super::event::{Event, Observer};

/// The pace of requests for a comparison.
#[derive(Clone, Copy, Debug)]
pub struct ComparePace {
    pub rate: Option<Speed>,
    pub concurrency: u16,
}

/// Earlier uploads, whose lines of orders are compared if the service does not show them.
#[derive(Clone, Copy)]
pub(crate) struct Earlier<'a> {
    pub ledger: &'a Ledger,
    pub keys: KeyScope<'a>,
    /// Whether the ledger's table of accepted requests is brought up to date, so that the next upload finds them sooner.
    pub is_noted: bool,
}

/// Compares the identifiers and texts of an export with the list of the service, because a spreadsheet program may have changed
/// the texts. Changed texts are restored if `restores`, and problems otherwise.
pub(crate) async fn compare_keys(
    connection: &Connection<'_>,
    source: &mut Source,
    template: &Template,
    restores: bool,
    observer: Observer<'_>,
) -> Result<(), Error> {
    let why = match load_keys(source, template, connection, restores).await? {
        None => return Ok(()),
        Some(Ok(known)) => {
            source.known_texts = Some(known);
            return Ok(());
        }
        Some(Err(NotCompared::TooLong(pages))) => format!("that takes {pages} requests"),
        Some(Err(NotCompared::Failed(error))) => error.to_string(),
    };
    observer(Event::Warning(&format!("the identifiers and texts are not compared with the service's list: {why}")));
    Ok(())
}

/// Looks up what the rows of a file name: orders, so that requests name them by their record ids, and the records that they refer to.
///
/// `lines`: whether the service's other lines of an order are sent with those of the file, which the service alone says, and otherwise the
/// earlier uploads to compare with.
///
/// # Errors
/// If the service can't be asked: nothing may be sent to a record that was not found.
pub(crate) async fn look_up(
    connection: &Connection<'_>,
    source: &mut Source,
    template: &Template,
    scope: Scope,
    lines: (bool, Option<Earlier<'_>>),
    observer: Observer<'_>,
) -> Result<(), Error> {
    let values = named_values(source, template, scope)?;
    find_addresses(connection, source, template, &values, lines, observer).await?;
    source.references = Some(compare_references(connection, template, &values, scope, observer).await?);
    Ok(())
}

/// Looks up all that the rows of a file name, for a check that sends nothing.
///
/// # Errors
/// As [`look_up`], and if the ledger can't be read.
pub(crate) async fn look_up_for_check(
    context: &Context,
    client: &Client,
    connection: &Connection<'_>,
    source: &mut Source,
    template: &Template,
    keep_lines: bool,
    observer: Observer<'_>,
) -> Result<(), Error> {
    // Only orders have lines to compare with earlier uploads.
    let history = match template.record {
        RecordKind::Order => context.existing_ledger().await?,
        _ => None,
    };
    let workspace = context.workspace();
    let keys = KeyScope { base_url: client.address(), workspace: &workspace, record: template.record };
    let earlier = history.as_ref().map(|ledger| Earlier { ledger, keys, is_noted: false });
    look_up(connection, source, template, Scope::All, (keep_lines, earlier), observer).await?;
    if let Some(history) = history {
        history.close().await;
    }
    Ok(())
}

/// Tells the observer of values that are looked up only when the file is sent.
pub(crate) fn note_lookups(source: &Source, template: &Template, observer: Observer<'_>) -> Result<(), Error> {
    for (field, lists) in to_be_resolved(source, template)? {
        let lists: Vec<&str> = lists.iter().map(|list| list.name).collect();
        observer(Event::Note(&format!(
            "{field} has values that are no ids: an upload looks them up in the service's list of {}",
            lists.join(" and ")
        )));
    }
    Ok(())
}

/// Finds what the references of a file stand for, such as companies and items.
async fn compare_references(
    connection: &Connection<'_>,
    template: &Template,
    values: &NamedValues,
    scope: Scope,
    observer: Observer<'_>,
) -> Result<Resolved, Error> {
    let found = find_references(values, template, connection, scope).await;
    let found = found.map_err(|error| {
        Error::Client(error).with_hint("nothing was sent: the records that the file refers to have to be found first")
    })?;
    for (field, why) in found.not_compared {
        observer(Event::Warning(&format!("{field} is not compared with the service: {why}")));
    }
    Ok(found.resolved)
}

/// Finds the orders that the rows of a file mean.
async fn find_addresses(
    connection: &Connection<'_>,
    source: &mut Source,
    template: &Template,
    values: &NamedValues,
    (keeps_lines, earlier): (bool, Option<Earlier<'_>>),
    observer: Observer<'_>,
) -> Result<(), Error> {
    let mut orders = match find_orders(values, template, connection, keeps_lines).await {
        Ok(None) => return Ok(()),
        Ok(Some(orders)) => orders,
        Err(NotCheckable::Failed(error)) => {
            return Err(
                Error::Client(error).with_hint("nothing was sent: the orders of the file have to be found first")
            );
        }
        Err(why) => return Err(Error::invalid(format!("the orders can't be found: {why}"), "nothing was sent")),
    };
    if orders.shows_none() && keeps_lines {
        return Err(Error::invalid(
            "--keep-lines is not possible: the service shows no orders, and so none of their lines",
            "write all lines of each order into the file, and leave out --keep-lines",
        ));
    }
    if orders.shows_none() {
        observer(Event::Warning(
            "the service shows no orders, so nothing can be compared: each order is addressed by the identifier in the file",
        ));
    }
    if let Some(Earlier { ledger, keys, is_noted }) = earlier.filter(|_| !keeps_lines && orders.has_unknown_lines()) {
        if is_noted {
            ledger.update_accepted(keys, None).await?;
        }
        let left_out = orders.find_sent_lines(ledger, keys).await?;
        if left_out > 0 {
            observer(Event::Warning(&format!(
                "{left_out} orders are not compared with the lines that earlier uploads sent: these are too many for the memory; split the file"
            )));
        }
    }
    source.orders = Some(orders);
    Ok(())
}
