//! Prints how a spreadsheet is read: sheets, header rows, and the field of each column.

use sheetport_language::{message, say};
use sheetport_mapping::bind::{Columns, Missing, own_column};
use sheetport_mapping::model::FieldRule;
use sheetport_mapping::{Layout, Template};
use sheetport_plan::Source;

use crate::settings::Output;
use crate::ui;

pub(super) fn print(output: Output, source: &Source, template: &Template) {
    for (sheet, missing) in &source.left_out {
        // A sheet with some of the columns may be the intended sheet, so --quiet does not hide the message.
        if missing.found > 0 || !output.quiet {
            print_skipped_sheet(sheet, missing);
        }
    }
    if !output.talks() {
        return;
    }
    let strong = ui::style::STRONG;
    let sheets: Vec<String> = source
        .tables
        .iter()
        .map(|part| {
            let header = match part.layout.header.row {
                0 => say!("no header"),
                row => say!("header in row {row}"),
            };
            match source.book.has_named_sheets() {
                true => say!("sheet '{}', {header}", source.name_of(part)),
                false => header,
            }
        })
        .collect();
    let description = source.book.description();
    let (path, description, sheets) = (source.path.display(), message(&description), sheets.join("; "));
    ui::line(say!("{strong}{path}{strong:#}  {description}, {sheets}"));
    let heading = say!("{} by the template {}:", template.input().plural, template.name);
    let mapped = distinct(source.tables.iter().flat_map(|part| mapped(template, &part.layout)));
    print_list(&heading, &mapped);
    for layout in source.tables.iter().map(|part| &part.layout) {
        for drift in layout.drifted.iter().filter(|drift| drift.misspelt.is_none()) {
            let Some(name) = layout.header.names.get(drift.column) else { continue };
            let (field, name) = (&drift.field, name.trim());
            ui::remark(say!(
                "no column was found for the optional field {field}; '{name}' has a similar name but is not used"
            ));
        }
    }
    if template.input().must_not_repeat() && source.tables.iter().any(|part| part.layout.status.is_some()) {
        ui::remark(
            "this is a report: rows whose status says that they were or may have been sent are skipped; \
             `sheetport retry` checks the ledger instead",
        );
    }
    if let Some(lookups) = &template.lookups {
        print_list("lookup tables:", &lookups.hashes.keys().cloned().collect::<Vec<_>>());
    }
    let unused = distinct(source.tables.iter().flat_map(|part| unused(&part.layout)));
    if !unused.is_empty() {
        print_lines(ui::short_list("  ", "not used:", &unused));
    }
}

fn print_list(heading: &str, items: &[String]) {
    print_lines(ui::list("  ", heading, items));
}

fn print_lines(lines: Vec<String>) {
    let faint = ui::style::FAINT;
    for line in lines {
        ui::line(say!("{faint}{line}{faint:#}"));
    }
}

fn print_skipped_sheet(sheet: &str, missing: &Missing) {
    let columns: Vec<String> = missing.described().collect();
    let why = match (missing.found, columns.as_slice()) {
        (0, _) | (_, []) => say!("it has none of the template's columns"),
        _ => columns.join("; "),
    };
    ui::remark(say!("skipping the sheet '{sheet}': {why}"));
}

/// Returns the mapped columns, as `column → field`.
fn mapped(template: &Template, layout: &Layout) -> Vec<String> {
    let header = |index: usize| Some(layout.header.names.get(index)?.trim().to_owned());
    let cells: Vec<usize> = match &template.unpivot {
        Some(_) if !layout.cells.is_empty() => layout.cells.iter().map(|cell| cell.column).collect(),
        Some(_) => layout.numbered_lines.iter().flat_map(|line| line.own.iter().copied()).collect(),
        None => Vec::new(),
    };
    let name = |index: usize| match &template.unpivot {
        Some(unpivot) if own_column(index) != index => Some(unpivot.header_as.clone()),
        Some(unpivot) if cells.contains(&index) => Some(unpivot.value_as.clone()),
        _ => header(index),
    };
    let unpivoted = template.unpivot.as_ref().map(|unpivot| {
        let names: Vec<String> = cells.iter().filter_map(|cell| header(*cell)).collect();
        format!("{} → {} and {}", names.join(", "), unpivot.header_as, unpivot.value_as)
    });
    let pair = |(rule, columns): (&FieldRule, &Columns)| {
        let from = match columns {
            Columns::None => return None,
            Columns::One(index) => name(*index)?,
            Columns::Several(indexes) => {
                indexes.iter().flatten().filter_map(|index| name(*index)).collect::<Vec<_>>().join(" + ")
            }
        };
        Some(format!("{from} → {}", rule.field.name))
    };
    unpivoted.into_iter().chain(template.rules().zip(&layout.columns).filter_map(pair)).collect()
}

fn unused(layout: &Layout) -> impl Iterator<Item = String> {
    layout.unused.iter().filter_map(|index| Some(layout.header.names.get(*index)?.trim().to_owned()))
}

fn distinct(texts: impl Iterator<Item = String>) -> Vec<String> {
    let mut distinct: Vec<String> = Vec::new();
    for text in texts {
        if !distinct.contains(&text) {
            distinct.push(text);
        }
    }
    distinct
}
