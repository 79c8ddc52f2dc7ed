//! Comparison of a file with the service before anything is sent.

use super::super::error::Error;
use super::super::event::{Event, Observer};
use crate::client::Speed;
use crate::template::Template;
use crate::upload::Source;
use crate::upload::compare::{Connection, NotCheckable, NotCompared, find_orders, find_unknown, load_keys};

/// The pace of requests for a comparison.
#[derive(Clone, Copy, Debug)]
pub struct ComparePace {
    pub rate: Option<Speed>,
    pub concurrency: u16,
}

/// Compares the identifiers and texts of an export with the list of the service, because a spreadsheet program may have changed
/// the texts. Changed texts are restored if `restores`, and problems otherwise.
pub(in crate::operations) async fn compare_keys(
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

/// Compares the references of a file, such as companies and items, with the records of the service.
pub(in crate::operations) async fn compare_references(
    connection: &Connection<'_>,
    source: &mut Source,
    template: &Template,
    observer: Observer<'_>,
) -> Result<(), Error> {
    let (unknown, not_compared) = find_unknown(source, template, connection).await?;
    for (field, why) in not_compared {
        observer(Event::Warning(&format!("{field} is not compared with the service: {why}")));
    }
    source.unknown_references = Some(unknown);
    Ok(())
}

/// Finds the orders that the rows of a file mean, so that requests name them by their record ids.
///
/// `keeps_lines`: the service's other lines of an order are sent with those of the file.
///
/// # Errors
/// If the service can't be asked: nothing may be sent to an order that was not found.
pub(in crate::operations) async fn find_addresses(
    connection: &Connection<'_>,
    source: &mut Source,
    template: &Template,
    keeps_lines: bool,
    observer: Observer<'_>,
) -> Result<(), Error> {
    let orders = match find_orders(source, template, connection, keeps_lines).await? {
        None => return Ok(()),
        Some(Ok(orders)) => orders,
        Some(Err(NotCheckable::Failed(error))) => {
            return Err(
                Error::Client(error).with_hint("nothing was sent: the orders of the file have to be found first")
            );
        }
        Some(Err(why)) => return Err(Error::invalid(format!("the orders can't be found: {why}"), "nothing was sent")),
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
    source.orders = Some(orders);
    Ok(())
}
