//! Warnings about a whole file: a guessed encoding, hidden sheets, unread sheets, and unused columns.

use sheetport_findings::Code;
use sheetport_infer::recognize::{Fit, used_columns};
use sheetport_infer::{self as infer, amounts_as_quantities, looks_like_money, unused_values};
use sheetport_ledger::Problem;
use sheetport_mapping::bind::{HEADER_SEARCH_ROWS, bind};
use sheetport_mapping::builtin::{self, BUILT_IN};
use sheetport_mapping::load::{load, no_tables};
use sheetport_mapping::model::{Place, SheetSelect};
use sheetport_mapping::problem::excerpt;
use sheetport_mapping::usable::TopNames;
use sheetport_mapping::{Layout, Template};
use sheetport_sheet::{Book, Dialect, EncodingDoubt, Row};

use super::super::table::Table;

/// Returns a warning about a text whose encoding is only a guess.
pub(crate) fn doubtful_letters(dialect: &Dialect) -> Option<Problem> {
    let (message, remedy) = match dialect.encoding.doubt? {
        EncodingDoubt::CodePage => (
            "is a guess at the encoding of the text, which seems to come from DOS or an old Mac",
            "compare its letters with those of the original; --encoding (or encoding in [sheet]) states the right one: \
             cp437, cp850, cp852, cp866, macintosh or windows-1252",
        ),
        EncodingDoubt::FewLetters => (
            "is a guess at the encoding of the text, whose letters are plausible in other encodings as well",
            "compare its letters with those of the original; --encoding (or encoding in [sheet]) states the right one, such as \
             windows-1252, windows-1250, windows-1254, windows-1251, cp850, macintosh, shift_jis, gbk or big5",
        ),
    };
    Some(Problem {
        value: dialect.encoding.encoding.name().to_owned(),
        remedy: remedy.to_owned(),
        ..Problem::of_record(Code::GuessedEncoding, message)
    })
}

/// Returns a warning about a hidden sheet.
pub(crate) fn hidden_sheet(book: &Book, table: &Table) -> Option<Problem> {
    let name = book.sheets().get(table.sheet).filter(|_| book.is_hidden(table.sheet))?;
    Some(Problem {
        value: excerpt(name),
        remedy: "show it in the spreadsheet program to see its rows, or choose another one with --sheet".to_owned(),
        ..Problem::of_record(Code::HiddenSheet, "is a hidden sheet, whose rows are sent")
    })
}

/// Maximum number of further sheets to examine.
const MAX_SHEETS: usize = 20;

/// Returns a warning about unread visible sheets with the template's columns, if no sheet was chosen.
pub(crate) fn unread_sheets(book: &Book, template: &Template, tables: &[Table]) -> Option<Problem> {
    let [read] = tables else { return None };
    if read.layout.is_report || !matches!(template.sheet.select, SheetSelect::FirstThatFits) {
        return None;
    }
    let has_records = |sheet: usize| {
        // Errors in unread sheets do not matter.
        let Ok(rows) = book.first_rows(sheet, HEADER_SEARCH_ROWS) else { return false };
        let is_below = |layout: &Layout| rows.iter().any(|row| row.number > layout.header.row && !row.is_blank());
        bind(template, &rows).is_ok_and(|layout| layout.found >= read.layout.found && is_below(&layout))
    };
    let others = (0..book.sheets().len()).filter(|sheet| *sheet != read.sheet && !book.is_hidden(*sheet));
    let unread: Vec<&str> = others
        .take(MAX_SHEETS)
        .filter(|sheet| has_records(*sheet))
        .map(|sheet| book.sheets()[sheet].as_str())
        .collect();
    (!unread.is_empty()).then(|| Problem {
        value: excerpt(&unread.join(", ")),
        remedy: format!(
            "--sheet \"*\" reads all of them, and --sheet '{}' only the one that is read now",
            book.sheets()[read.sheet]
        ),
        ..Problem::of_record(Code::UnreadSheet, "has the same columns, and is not read")
    })
}

/// The field of a warning about the columns that group rows.
pub(crate) const GROUP: &str = "group";

/// The field of a warning about the kind of record.
pub(crate) const RECORD: &str = "record";

/// Returns a warning for the kind of record and each field guessed by `template infer`.
pub(crate) fn guesses(template: &Template, table: &Table) -> Vec<Problem> {
    let warning = |field: &str, column: Option<usize>| {
        let message = format!("was only guessed to be {field}; please confirm it");
        let place = match field {
            GROUP => "[group]".to_owned(),
            field if template.lines.iter().any(|rule| rule.field.name == field) => format!("[lines.{field}]"),
            field => format!("[fields.{field}]"),
        };
        let remedy = format!(
            "if it is right, delete the line guess = true below {place} in {}; otherwise name the right column there",
            template.name
        );
        let warning = Problem { field: field.to_owned(), remedy, ..Problem::of_record(Code::Guess, message) };
        match column {
            Some(column) => table.of_column(column, warning),
            None => warning,
        }
    };
    let plural = template.input().plural;
    let kind = template.is_record_guess.then(|| Problem {
        field: RECORD.to_owned(),
        remedy: format!(
            "if they are {plural}, delete the line record_guess = true in {}; otherwise create it again, with --record and the right \
             kind: sheetport template infer",
            template.name
        ),
        ..Problem::of_record(Code::Guess, format!("the rows were only guessed to be {plural}; please confirm it"))
    });
    let group = template.group.as_ref().filter(|group| group.is_guess);
    let group = group.map(|_| warning(GROUP, table.layout.group.first().copied()));
    let rules = template.rules().zip(&table.layout.columns).filter(|(rule, _)| rule.is_guess);
    kind.into_iter()
        .chain(group)
        .chain(rules.map(|(rule, columns)| warning(rule.field.name, columns.first())))
        .collect()
}

/// Returns a warning for each unused column whose name is one letter from that of a missing optional column: its values would be left
/// out silently.
pub(crate) fn misspelt_columns(template: &Template, table: &Table) -> impl Iterator<Item = Problem> {
    table.layout.drifted.iter().filter_map(|drift| {
        let meant = drift.misspelt.as_ref()?;
        let header = excerpt(table.layout.header.names.get(drift.column)?.trim());
        let message = format!("is not sent: is it '{meant}', the column of {}?", drift.field);
        let section = if drift.place == Place::Line { "lines" } else { "fields" };
        let own = match builtin::find(&template.name) {
            Some(_) => format!("in a template of your own, with extends = \"{}\"", template.name),
            None => format!("in {}", template.name),
        };
        let remedy = format!(
            "if it is, correct the header, or write column = \"{header}\" below [{section}.{}] {own}; if it is not, rename it",
            drift.field
        );
        let warning = Problem { field: drift.field.to_owned(), remedy, ..Problem::of_record(Code::MisspeltColumn, message) };
        Some(table.of_column(drift.column, warning))
    })
}

/// Returns a question about a built-in template that finds descriptions and no names: where a list has one text of each record, people call
/// it a description, and mean its name.
pub(crate) fn nameless(template: &Template, table: &Table) -> Option<Problem> {
    builtin::find(&template.name).filter(|_| !table.layout.is_report && !table.layout.is_export())?;
    let column_of = |field: &str| {
        let mut rules = template.rules().zip(&table.layout.columns);
        rules.find(|(rule, _)| rule.field.name == field).map(|(_, columns)| columns.first())
    };
    let described = column_of("description")?.filter(|_| column_of("name") == Some(None))?;
    let header = excerpt(table.layout.header.names.get(described)?.trim());
    let remedy = format!(
        "if it is the name, write column = \"{header}\" below [fields.name] in a template of your own, with extends = \"{}\"; if the \
         records have their names already, use --accept nameless",
        template.name
    );
    let message = "is sent as the description, and no column is the name: is it the name?";
    let question = Problem { field: "name".to_owned(), remedy, ..Problem::of_record(Code::Nameless, message) };
    Some(table.of_column(described, question))
}

/// Returns a warning about a sheet that is probably not about the records of the template.
pub(crate) fn foreign_sheet(template: &Template, table: &Table) -> Option<Problem> {
    const SHOWN: usize = 5;
    let foreign = infer::foreign_sheet(template, &table.layout)?;
    let plural = template.input().plural;
    let message = match foreign.topic {
        Some((topic, columns)) => {
            let names = columns.iter().take(SHOWN).filter_map(|column| table.layout.header.names.get(*column));
            let names: Vec<String> = names.map(|name| excerpt(name.trim())).collect();
            let more = if columns.len() > SHOWN { " and more" } else { "" };
            let columns = if columns.len() == 1 { "the column" } else { "the columns" };
            format!(
                "the sheet may be a list of {topic} instead of {plural}: it has {columns} {}{more}",
                names.join(", ")
            )
        }
        None => {
            let rules = template.rules().zip(&table.layout.columns);
            let sent: Vec<&str> =
                rules.filter(|(_, columns)| columns.first().is_some()).map(|(rule, _)| rule.field.name).collect();
            format!("the sheet may be a list of something else than {plural}: only {} would be sent", sent.join(", "))
        }
    };
    let remedy = format!("check that its rows are {plural}; the other columns are not sent");
    Some(Problem { remedy, ..Problem::of_record(Code::ForeignSheet, message) })
}

/// Returns a warning about a sheet that matches a built-in template for another kind of record better than the built-in
/// `template`.
pub(crate) fn other_template(book: &Book, template: &Template, table: &Table) -> Option<Problem> {
    builtin::find(&template.name)?;
    if table.layout.is_export() {
        return None;
    }
    let rows = book.first_rows(table.sheet, HEADER_SEARCH_ROWS).ok()?;
    let used = used_columns(&table.layout);
    // No row has more names of columns than cells, so in most sheets no other template can use more.
    let filled = |row: &Row| row.cells().filter(|cell| !cell.is_blank()).count();
    if rows.iter().all(|row| filled(row) <= used) {
        return None;
    }
    let names = TopNames::new(&rows);
    let fits = BUILT_IN.iter().filter(|(_, source)| names.usable(source) > used).filter_map(|(name, source)| {
        let other = load(name, source, &no_tables).ok().filter(|other| other.record != template.record)?;
        let fit = Fit::above(&other, &rows, used).filter(Fit::is_good)?;
        Some((fit, *name, other.record.input().plural))
    });
    let (fit, name, plural) = fits.max_by_key(|(fit, _, _)| fit.used)?;
    let message = format!(
        "the sheet may be a list of {plural}: the template {name} uses {} of its {} columns, {} uses {used}",
        fit.used, fit.columns, template.name
    );
    let remedy = format!("choose it with -t {name}, unless the rows are {}", template.input().plural);
    Some(Problem { remedy, ..Problem::of_record(Code::OtherTemplate, message) })
}

/// Returns a warning for each unused column that is probably an amount.
pub(crate) fn unused_columns(template: &Template, table: &Table) -> impl Iterator<Item = Problem> {
    unused_values(template, &table.layout).into_iter().map(|(column, field)| {
        let message = format!("is not sent: the template has no column for {}", field.name);
        let remedy = format!("add the name of the column to those of {} in the template", field.name);
        let warning =
            Problem { field: field.name.to_owned(), remedy, ..Problem::of_record(Code::UnusedColumn, message) };
        table.of_column(column, warning)
    })
}

/// Returns a warning for each column that is read as a quantity and looks like an amount of money.
pub(crate) fn money_as_quantity(book: &Book, template: &Template, table: &Table) -> Vec<Problem> {
    if table.layout.is_report || table.layout.is_defused {
        return Vec::new();
    }
    let columns = amounts_as_quantities(template, &table.layout);
    if columns.is_empty() {
        return Vec::new();
    }
    let Ok(rows) = book.first_rows(table.sheet, HEADER_SEARCH_ROWS) else { return Vec::new() };
    let below = || rows.iter().filter(|row| row.number > table.layout.header.row);
    let columns = columns.into_iter().filter(|(column, _)| looks_like_money(*column, below()));
    let warnings = columns.map(|(column, field)| {
        let message = format!("is sent as {}, and looks like an amount of money", field.name);
        let remedy = format!("name the column of {} in a template of your own, if it is another one", field.name);
        let warning =
            Problem { field: field.name.to_owned(), remedy, ..Problem::of_record(Code::MoneyAsQuantity, message) };
        table.of_column(column, warning)
    });
    warnings.collect()
}

/// Returns a warning for each unused column with a usual name for a field that is read from another column.
pub(crate) fn rival_columns(template: &Template, table: &Table) -> impl Iterator<Item = Problem> {
    let rivals = table.layout.rivals.iter().filter(|_| !table.layout.is_report);
    rivals.filter_map(|rival| {
        let field = template.rule(rival.rule)?.field.name;
        let used = excerpt(table.layout.header.names[rival.used].trim());
        let message = format!("is not sent: {field} is taken from the column '{used}'");
        let remedy = format!(
            "name the right column of {field} in a template of your own, if it is not '{used}': extends = \"{}\"",
            template.name
        );
        let warning = Problem { field: field.to_owned(), remedy, ..Problem::of_record(Code::SeveralColumns, message) };
        Some(table.of_column(rival.column, warning))
    })
}
