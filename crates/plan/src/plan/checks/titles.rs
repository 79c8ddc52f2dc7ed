//! Lines above the header that speak about all rows: prices of several pieces, another currency, or a list that is not to be sent.

use sheetport_checks::{expired, is_selector};
use sheetport_findings::Code;
use sheetport_ledger::Problem;
use sheetport_mapping::Template;
use sheetport_mapping::bind::HEADER_SEARCH_ROWS;
use sheetport_mapping::model::{Place, Source};
use sheetport_mapping::problem::excerpt;
use sheetport_mapping::words::amounts::{PriceUnit, price_unit, unit_in_title};
use sheetport_records::RecordKind;
use sheetport_sheet::{Book, Row};
use sheetport_values::currency::{Currency, CurrencyMark, in_header};

use super::super::table::Table;

/// Maximum number of cells of a line above the header: a line with more is a row of another table.
const MAX_CELLS: usize = 4;
/// Maximum length of a title in bytes. A longer text is a paragraph, whose words say nothing by themselves.
const MAX_TITLE: usize = 120;

/// Returns a question about a line above the header that the template contradicts.
pub(crate) fn contradicted_title(book: &Book, template: &Template, table: &Table) -> Option<Problem> {
    let layout = &table.layout;
    if layout.is_report || layout.is_defused || layout.is_export() {
        return None;
    }
    if let Some(problem) = price_of_several(template, table) {
        return Some(problem);
    }
    if layout.header.row <= 1 {
        return None;
    }
    let rows = book.first_rows(table.sheet, HEADER_SEARCH_ROWS).ok()?;
    let is_title =
        |row: &&Row| row.number < layout.header.row && row.cells().filter(|cell| !cell.is_blank()).count() <= MAX_CELLS;
    let is_name = |text: &str| layout.header.names.iter().any(|name| !text.is_empty() && name.contains(text));
    let cells = rows.iter().filter(is_title).flat_map(Row::cells);
    let texts = cells.map(|cell| cell.shown().trim().to_owned());
    let mut texts = texts.filter(|text| text.len() <= MAX_TITLE && !is_name(text));
    let (title, (message, remedy)) =
        texts.find_map(|title| contradiction(template, table, &title).map(|it| (title, it)))?;
    Some(Problem { value: excerpt(&title), remedy, ..Problem::of_record(Code::ContradictedTitle, message) })
}

/// Returns a question about a column of prices whose header says that they are of several pieces.
fn price_of_several(template: &Template, table: &Table) -> Option<Problem> {
    let names = &table.layout.header.names;
    let rules = template.rules().zip(&table.layout.columns);
    let prices = rules.filter(|(rule, _)| rule.field.is_money && rule.number.scale.is_none());
    let mut headers = prices.filter_map(|(rule, columns)| Some((rule.field.name, names.get(columns.first()?)?)));
    headers.find_map(|(field, header)| {
        let Some(PriceUnit::Several(words)) = price_unit(header) else { return None };
        let message = format!("says '{words}', and {field} is sent as the price of one");
        let remedy = "divide the prices in the file; if they are of one, use --accept contradicted-title".to_owned();
        Some(Problem { value: excerpt(header), remedy, ..Problem::of_record(Code::ContradictedTitle, message) })
    })
}

/// Returns the message and the remedy if the template contradicts a title.
fn contradiction(template: &Template, table: &Table, title: &str) -> Option<(String, String)> {
    let prices = || {
        let rules = template.rules().zip(&table.layout.columns);
        rules.filter(|(rule, columns)| rule.field.is_money && columns.first().is_some())
    };
    let mut parts = title.split([':', '|', '(', ')', '[', ']', '–', '—', '\u{2d}', '*', '!', ';', ',']);
    if parts.any(is_selector) {
        return Some((
            "stands above the header: is the list to be sent at all?".to_owned(),
            "if it is, take the line out of the file, or send it with --accept contradicted-title".to_owned(),
        ));
    }
    // Orders and movements of a time that is over are usual.
    let today = table.layout.facts.today.filter(|_| template.record == RecordKind::Item);
    if let Some(last) = today.and_then(|today| expired(title, today)) {
        return Some((
            format!("stands above the header: the list was valid until {last}"),
            "use a newer list; if this one still holds, send it with --accept contradicted-title".to_owned(),
        ));
    }
    let unit = unit_in_title(title).and_then(|unit| match unit {
        PriceUnit::Scale { factor, words } => Some((words, Some(factor))),
        PriceUnit::Several(words) => Some((words, None)),
        PriceUnit::Unclear(_) => None,
    });
    if let Some((words, factor)) = unit {
        let names = &table.layout.header.names;
        let has_unit = |column: Option<usize>| column.and_then(|column| price_unit(names.get(column)?)).is_some();
        let (rule, _) = prices().find(|(rule, columns)| rule.number.scale.is_none() && !has_unit(columns.first()))?;
        let section = if rule.place == Place::Line { "lines" } else { "fields" };
        let name = rule.field.name;
        return Some((
            format!("stands above the header, and {name} is sent as the price of one ('{words}')"),
            match factor {
                Some(factor) => format!(
                    "add scale = {factor} below [{section}.{name}] in the template; if the prices are of one, use --accept contradicted-title"
                ),
                None => "divide the prices in the file; if they are of one, use --accept contradicted-title".to_owned(),
            },
        ));
    }
    let mark = in_header(title).filter(|_| prices().next().is_some())?;
    let sent = sent_currency(template).filter(|sent| !mark.can_be(*sent))?;
    let other = match mark {
        CurrencyMark::Code(code) => code.to_string(),
        CurrencyMark::Sign(sign) => sign.text.clone(),
    };
    Some((
        format!("stands above the header, and the amounts are sent in {sent}"),
        format!(
            "write {other} in place of {sent} in the template; if {sent} is right, use --accept contradicted-title"
        ),
    ))
}

/// Returns the currency that the template gives all records.
fn sent_currency(template: &Template) -> Option<Currency> {
    match template.rules().find(|rule| rule.field.is_currency()) {
        Some(rule) => match &rule.source {
            Source::Constant(constant) => Currency::parse(constant.text()?),
            _ => None,
        },
        None => template.sheet.currency,
    }
}
