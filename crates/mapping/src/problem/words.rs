//! Messages about cells and rows, and advice.

use std::sync::Arc;

use sheetport_documents::write::quoted;
use sheetport_values::date::{AmbiguousDates, MixedDates};
use sheetport_values::number::{NumberError, Percent};

use super::{Cause, NoRecord, NotKept};
use crate::language::row_value;

/// The words for commands.
const COMMANDS: &str = "write NEW, CREATE, ADD, UPDATE, MERGE, UPSERT, SKIP or IGNORE, or in German NEU, ANLEGEN, ÄNDERN, AKTUALISIEREN or ÜBERSPRINGEN";

impl Cause {
    /// Returns the message without the value, so that rows with the same problem can be counted together.
    pub fn message(&self) -> String {
        match self {
            Cause::NotANumber(error) => return error.to_string(),
            Cause::NotADate(error) => return error.to_string(),
            Cause::NoSuchPart { at, take } => return format!("has no part {take} when split at '{at}'"),
            Cause::Expression { reason, .. } => return format!("can't be evaluated: {reason}"),
            Cause::AmbiguousInExpression(number) => {
                return format!(
                    "can't be evaluated: '{}' {}",
                    number.example,
                    NumberError::Ambiguous(Arc::clone(number))
                );
            }
            Cause::NothingNamed { what, has_column: false, .. } => {
                return format!("has no column in the sheet, so nothing names the {what}");
            }
            Cause::NothingNamed { what, .. } => return format!("is blank, and no other field names the {what}"),
            Cause::NothingMoved { .. } => return "is blank, and without a quantity nothing moves".to_owned(),
            Cause::Evidence(evidence) => return evidence.message.clone(),
            Cause::Rule { message, .. } => return format!("is against a rule of the template: {message}"),
            Cause::LeftOut(because) => return format!("is left out: {because}"),
            Cause::WarnWhere(because) => return because.clone(),
            Cause::TooMuch(exceeded) => return exceeded.to_string(),
            Cause::TooSmall(bound) => return format!("is less than {bound}"),
            Cause::TooLarge(bound) => return format!("is more than {bound}"),
            Cause::Superseded { by_row } => return format!("appears more than once, and row {by_row} is used"),
            Cause::AfterStep { cause, .. } => return cause.message(),
            Cause::Pattern(pattern) => return format!("does not match the pattern {pattern}"),
            Cause::CheckDigit(error) => return error.to_string(),
            Cause::OtherCurrency { currency } => return format!("is not {currency}, the currency of the record"),
            Cause::WordInFormat(word) => return format!("has '{word}' in its number format, which is not sent"),
            Cause::NoRecord(NoRecord::Page) => "is the number of a page, and its row is no record",
            Cause::NoRecord(NoRecord::Remark) => "is a remark, and its row is no record",
            Cause::NoRecord(NoRecord::Heading) => {
                "is the only cell of its row, and unlike the identifiers of other rows"
            }
            Cause::NoRecord(NoRecord::Total) => "looks like a total of other rows",
            Cause::NoRecord(NoRecord::Nameless) => "is unlike the other identifiers, and its row has no name",
            Cause::NoName => "has no name, unlike most rows",
            Cause::NoRecord(NoRecord::Hints) => "says how to fill in the column, and its row is no record",
            Cause::SecondTable { .. } => "the row belongs to another table below the first one",
            Cause::BrokenRow { .. } => "the row is a part of a row that a line ending has broken",
            Cause::ShiftedCells => {
                "may be a part of a number with a comma: the row has more cells than the header has names, and the cells after it have shifted"
            }
            Cause::LostLetters => "has lost letters, shown as \u{fffd}",
            Cause::TurnedDate => "is a date whose day and month a spreadsheet program has probably swapped",
            Cause::NotACurrency => "is not a currency",
            Cause::TwoCurrencies { .. } => "differs from the currency of another amount of the record",
            Cause::AmbiguousCurrency { .. } => "stands for several currencies",
            Cause::PercentSign(Percent::Whole) => "is less than 1 and has no percent sign",
            Cause::PercentSign(Percent::Fraction) => "is more than 1 and has no percent sign",
            Cause::Blank => "is blank",
            Cause::NoDate => "is not a date",
            Cause::AmbiguousDate(_) => "could mean more than one date",
            Cause::MixedDates(_) => "is in a column with dates in different formats",
            Cause::NotABoolean => "is neither yes nor no",
            Cause::NoCommand { .. } => "is no command",
            Cause::NoDeletion => "asks to delete the record, and the API of the service deletes none",
            Cause::CommandRefused(why) => return format!("is not possible: {why}"),
            Cause::NotAllowed { .. } => "is not a value that the template allows",
            Cause::NotFound { .. } => "is not in the lookup table",
            Cause::NotAnAddress => "can't be used in a URL",
            Cause::Disagrees { .. } => "differs from another row of the same record",
            Cause::NoLines => "has no lines",
            Cause::NoGroup => "is blank, so the row belongs to no record",
            Cause::Scattered { .. } => "appears again after other records",
            Cause::NotMapped { .. } => "is not one of the values listed in the template",
            Cause::Damaged(damage) => damage.message(),
            Cause::MarkedParts(_) => "has a part that is raised, lowered or struck through",
            Cause::CellError => "is a spreadsheet error",
            Cause::StoredTwice => "is stored twice in the workbook, with different values",
            Cause::NotShown => "stands in place of a value that a program did not show",
            Cause::NotCalculated => "is a formula without a calculated value",
            Cause::Cut => "was cut to the length of a workbook's cell",
            Cause::Duplicate { .. } => "appears more than once",
            Cause::SentForOtherRow { row } => {
                return format!("belongs to row {row} of the first file, which was sent: it would be overwritten");
            }
            Cause::DuplicateInRow => "is the same for several cells of the row",
            Cause::RepeatedInLines { .. } => "appears in more than one line of the record",
            Cause::NearlyTheSame { .. } => "differs from another one only in case, spaces, zeros or look-alike letters",
            Cause::OnlySpacesDiffer { .. } => "has spaces around it, which do not make another record",
            Cause::LooksLikeADate => "has the form of a date",
            Cause::MayLackZero => {
                "is a number with decimals, and would be the same if it was typed with zeros at its end"
            }
            Cause::LacksZeros { usual } => {
                return format!("may lack zeros: others of the column begin with zeros and have {usual} digits");
            }
            Cause::MayBeGrouped { plain } => {
                return format!("may be {plain}, shown with group separators, and is sent with them");
            }
            Cause::OtherDecimals(decimals) => {
                return format!("is shown with {decimals} decimals, and sent with the digits that the cell contains");
            }
            Cause::ShownByComputer { is_known: true } => {
                "is sent as programs in English show it; others may show other separators or names"
            }
            Cause::ShownByComputer { is_known: false } => {
                "is sent as its cell contains it; what the cell shows depends on the computer, or is a fraction or in scientific notation"
            }
            Cause::HiddenDigits => "is sent as it is shown, without the further digits that the cell contains",
            Cause::UnknownReference { what, .. } => return format!("is no {what} that the service knows"),
            // With the name, so that problems with different names are not one cause.
            Cause::NotResolved { what, searched, nearest: Some(name) } => {
                return format!(
                    "is no {what} that the service knows; its list was searched by {searched}, and has the name {name}"
                );
            }
            Cause::NotResolved { what, searched, nearest: None } => {
                return format!("is no {what} that the service knows; its list was searched by {searched}");
            }
            Cause::ResolvedTwice { what, first, second } => {
                return format!("stands for two records of the service ({what}): {first} and {second}");
            }
            Cause::NotLookedUp { what, reason } => return format!("can't be looked up ({what}): {reason}"),
            Cause::UnknownOrder { is_id: true, number_of: None } => "is the id of no order that the service has",
            Cause::UnknownOrder { is_id: false, number_of: None } => "is the external id of no order that the service has",
            Cause::UnknownOrder { is_id: true, number_of: Some(order) } => {
                return format!("is the id of no order; it is the number of the order {order}");
            }
            Cause::UnknownOrder { is_id: false, number_of: Some(order) } => {
                return format!("is the external id of no order; it is the number of the order {order}");
            }
            Cause::SeveralOrders { first, second } => {
                return format!("is the external id of two orders, {first} and {second}");
            }
            Cause::FewerLines { in_file, in_service, lost } if lost.is_empty() => {
                return format!("would lose lines (in the service: {in_service}, in the file: {in_file})");
            }
            Cause::FewerLines { in_file, in_service, lost } => {
                return format!("would lose {lost} (lines in the service: {in_service}, in the file: {in_file})");
            }
            Cause::LineValues { lost } => return format!("would lose values of its lines in the service: {lost}"),
            Cause::LinesSentBefore { run, date, is_accepted, in_file, then, lost } => {
                return match (is_accepted, lost.is_empty()) {
                    (true, true) => {
                        format!("would lose lines that run {run} sent on {date} (then: {then}, in the file: {in_file})")
                    }
                    (true, false) => format!(
                        "would lose {lost}, which run {run} sent on {date} (lines then: {then}, in the file: {in_file})"
                    ),
                    (false, true) => format!(
                        "would lose lines that run {run} may have sent on {date} (then: {then}, in the file: {in_file})"
                    ),
                    (false, false) => format!(
                        "would lose {lost}, which run {run} may have sent on {date} (lines then: {then}, in the file: {in_file})"
                    ),
                };
            }
            Cause::LinesNotKept(NotKept::NotShown) => "has lines in the service that can't be kept: the service does not show them",
            Cause::LinesNotKept(NotKept::ItemsNotShown) => {
                "has lines in the service that can't be kept: they do not show their items as the file names them"
            }
            Cause::LinesNotKept(NotKept::Several { item }) => {
                return format!(
                    "has lines in the service that can't be kept: more of them than in the file have the item {item}, so nothing says which of them the file means"
                );
            }
            Cause::LinesNotKept(NotKept::Inexact { item, member }) => {
                return format!(
                    "has lines in the service that can't be kept: {member} of the line with the item {item} can't be sent back as it is"
                );
            }
            Cause::PriceOfSeveral { pieces, header, .. } => {
                return format!("is the price of '{pieces}', according to the column '{header}'");
            }
            Cause::SeveralColumns { other, header, is_blank: false, .. } => {
                return format!("differs from '{other}' in the column '{header}', which fits the field, too");
            }
            Cause::SeveralColumns { other, header, is_blank: true, .. } => {
                return format!("is blank, but the column '{header}', which fits the field, too, has '{other}'");
            }
            Cause::Apostrophe => "begins with an apostrophe",
            Cause::RowsBelow { .. } => "may have further lines: rows below it name no record",
            Cause::Continues => "is blank, as in a further row of the record above",
        }
        .to_owned()
    }

    /// Returns advice on how to fix the cell or the template.
    pub fn remedy(&self) -> String {
        match self {
            Cause::NotANumber(error) => return error.remedy(),
            Cause::NotADate(error) => return error.remedy(),
            Cause::Evidence(evidence) => return evidence.remedy.clone(),
            Cause::AfterStep { step, value, cause } => {
                let value = if value.is_empty() { "blank".to_owned() } else { format!("'{value}'") };
                return format!("after {step} it is {value}; {}", cause.remedy());
            }
            Cause::AmbiguousDate(dates) => {
                let AmbiguousDates { example, readings: [(one, first), (other, second)] } = &**dates;
                return format!(
                    "'{example}' is {first} as {one} and {second} as {other}; choose one in the template: \
                     format = \"{one}\""
                );
            }
            Cause::MixedDates(dates) => {
                let MixedDates { example, row, pattern } = &**dates;
                return format!(
                    "row {row} has '{example}', which is not {pattern}; list all formats in the template: \
                     format = [\"{pattern}\", …]"
                );
            }
            Cause::AmbiguousInExpression(number) => return number.remedy(),
            Cause::NothingNamed { fields, has_column: false, .. } => {
                return format!("in the template, name the column of {} with column = \"…\"", fields.join(" or "));
            }
            Cause::NothingNamed { fields, .. } => {
                return format!("fill in {}; without it, the service may refuse the record", fields.join(" or "));
            }
            Cause::NothingMoved { fields } => return format!("fill in {}", fields.join(" or ")),
            Cause::Expression { source, .. } => {
                return format!("fix the cells, or the expression in the template: {source}");
            }
            Cause::Rule { written, .. } => return format!("fix the row, or the rule in the template: {written}"),
            Cause::LeftOut(_) => "to send such rows, remove the line from skip_where in a template of your own",
            Cause::WarnWhere(_) => "look at the row; if it is right, it is sent as it is",
            Cause::NoCommand { nearest } => return suggest(nearest, COMMANDS),
            Cause::NoDeletion => {
                "write UPDATE, and in the column of the status the one that your workspace uses for inactive records; or SKIP"
            }
            Cause::CommandRefused(_) => "leave the cell blank, or write SKIP",
            Cause::NotMapped { known, nearest } => return suggest(nearest, &format!("the listed values are {}", list(known))),
            Cause::NotAllowed { allowed, nearest } => {
                return suggest(nearest, &format!("allowed are {}", list(allowed)));
            }
            Cause::NotFound { nearest } => return suggest(nearest, "fix the cell, or add the value to the table"),
            Cause::Disagrees { other_row, other } => {
                let other = if other.is_empty() { "blank".to_owned() } else { format!("'{other}'") };
                return format!("row {other_row} has {other}; make them the same");
            }
            Cause::Scattered { first_row } => {
                return format!("its first row is {first_row}; put the rows of a record next to each other");
            }
            Cause::Duplicate { other_row } => return format!("keep one of them; the other is in row {other_row}"),
            Cause::SentForOtherRow { .. } => "give this row its own; if it replaces that row, send it in a file of its own",
            Cause::OnlySpacesDiffer { other_row } => {
                return format!("remove the spaces; if it is another record than that of row {other_row}, rename it");
            }
            Cause::RepeatedInLines { other } => {
                return format!("make one line of both, or remove unique from the template; the other is in {other}");
            }
            Cause::SeveralOrders { .. } => "give one of them another external id in the service, or map a column with its id to order_id",
            Cause::UnknownOrder { .. } => "write the external id of an order that exists: the API cannot create orders",
            Cause::FewerLines { .. } => {
                "add the missing lines to the file or upload with --keep-lines, unless they are to be removed"
            }
            Cause::LineValues { .. } => {
                "add the values to the lines of the file, unless they are to be removed: an update replaces whole lines"
            }
            Cause::LinesSentBefore { .. } => {
                "add the missing lines to the file, unless they are to be removed: the service does not show the lines of the order, so --keep-lines can't keep them"
            }
            Cause::LinesNotKept(_) => "write all lines of the order into the file, and upload it without --keep-lines",
            Cause::NotResolved { nearest: Some(name), .. } => {
                return format!("write {name} if that is meant, or the id in the service");
            }
            Cause::ResolvedTwice { .. } => "write the id of the one that is meant",
            Cause::NotLookedUp { .. } => "write the id in the service",
            Cause::NotResolved { what, nearest: None, .. } | Cause::UnknownReference { what, created_with: None } => {
                return format!("correct it, or create the {what} first");
            }
            Cause::UnknownReference { what, created_with: Some(_) } => {
                return format!("correct it, create the {what} first, or upload with --create-missing-items");
            }
            Cause::NearlyTheSame { other_row } => {
                return format!("write it as in row {other_row} if both mean the same");
            }
            Cause::PriceOfSeveral { pieces, header, price } => {
                let text = |expression: &str| format!("text = {}", quoted(&format!("{{{{ {expression} }}}}")));
                let divided = text(&format!("{} | divided_by({}, 4)", row_value(price), row_value(header)));
                let plain = text(&row_value(price));
                if !pieces.contains(char::is_numeric) {
                    return format!(
                        "write the number instead of '{pieces}', and divide the price in a template of your own: {divided}; \
                         if it is the price of one: {plain}"
                    );
                }
                return format!("divide it in a template of your own: {divided}; if it is the price of one: {plain}");
            }
            Cause::SeveralColumns { table, .. } => {
                return format!(
                    "correct one of them, or name the right column under [{table}] in a template of your own: column = \"…\""
                );
            }
            Cause::RowsBelow { row } => {
                return format!(
                    "if row {row} belongs to it, fill in the cell there, or write on_blank = \"above\" under [group]"
                );
            }
            Cause::PercentSign(Percent::Whole) => {
                "it is sent as it is; write 19% for 19 percent, or percent = \"fraction\" in the template if it stands for a fraction"
            }
            Cause::PercentSign(Percent::Fraction) => {
                "it is sent as it is; write 19% for 0.19, or percent = \"whole\" in the template if percentages have no sign"
            }
            Cause::WordInFormat(_) => {
                "check that the number alone is what the field means; a plain number format ends this warning"
            }
            Cause::DuplicateInRow => "add the name in header_as of [unpivot] to the columns of this field in the template",
            Cause::Continues => "fill it in, or add fill_down with this column to [sheet] of the template",
            Cause::MayLackZero => {
                "compare it with its source: spreadsheet programs store 1.10 as 1.1; format the column as text before typing"
            }
            Cause::LacksZeros { .. } => {
                "put the zeros back: spreadsheet programs take them away; format the column as text before typing, or set \
                 damaged = \"accept\" in the template"
            }
            Cause::MayBeGrouped { .. } => {
                "if it is a number, format the column in the spreadsheet program without separators and save the file again; \
                 otherwise set damaged = \"accept\" in the template"
            }
            Cause::OtherDecimals(_) => "choose a number format that shows the digits to send, or round the number in the sheet",
            Cause::ShownByComputer { .. } => {
                "choose a number format without group separators, names of months and the computer's own formats, or format the \
                 column as text"
            }
            Cause::HiddenDigits => "choose a number format that shows all digits, or round the number in the sheet",
            Cause::LooksLikeADate => "compare it with its source: spreadsheet programs turn codes such as 2-3 into dates",
            Cause::Apostrophe => "delete the apostrophe if a program added it to keep zeros",
            Cause::NoName => "fill in the name, or leave such rows out with skip_where in the template",
            Cause::NoRecord(NoRecord::Heading | NoRecord::Nameless) => {
                "fill in the other cells, delete the row, or leave such rows out with skip_where in the template"
            }
            Cause::NoRecord(_) => "delete the row, or leave such rows out with skip_where in the template",
            Cause::SecondTable { header_row } => {
                return format!("put the table from row {header_row} on in a file or sheet of its own");
            }
            Cause::BrokenRow { first, last } => {
                return format!("join rows {first} to {last}, with quotes around the cell that has the line ending");
            }
            Cause::ShiftedCells => {
                "put quotes around numbers with a comma, or save the file with another delimiter; if the row only ends with \
                 a delimiter, let the header end with one, too; if it has a value in a column without a name, give the column one"
            }
            Cause::LostLetters => {
                "type the text again; a program that saved or converted the file could not write its letters, or the file is in \
                 another encoding: --encoding"
            }
            Cause::TurnedDate => {
                "other dates of the column are texts with days after the 12th, which that program could not read; import the \
                 original file again, with the column as text"
            }
            Cause::NotACurrency => "write an ISO 4217 code, such as EUR",
            Cause::OtherCurrency { .. } => "convert the amount, or fix the currency",
            Cause::TwoCurrencies { other_row, other } => {
                return format!("row {other_row} has '{other}'; a record has one currency");
            }
            Cause::AmbiguousCurrency { .. } => {
                "add the currency to the template, such as [fields.currency] with value = \"SEK\""
            }
            Cause::TooMuch(_) => {
                "shorten the cell, or replace, split and join less in the template: all fields of a row share this limit"
            }
            Cause::Blank => "fill in the cell",
            Cause::NoDate => "write the date, or leave the cell blank",
            Cause::NotABoolean => "write yes or no, or translate the value in the template: map = { … }",
            Cause::NoSuchPart { .. } => "fix the cell, or the split in the template",
            Cause::TooSmall(_) | Cause::TooLarge(_) => "check the number",
            Cause::NotAnAddress => "use another identifier for this record",
            Cause::NoLines => "fill in the cells of at least one line",
            Cause::Superseded { .. } => "to get an error instead, set duplicates = \"error\" in the template",
            Cause::NoGroup => {
                "fill it in, or write on_blank = \"above\" under [group] if the row belongs to the record above"
            }
            Cause::Pattern(_) => "fix the cell",
            Cause::CheckDigit(_) => "compare it with its source: a digit is wrong or missing, or two are swapped",
            Cause::Damaged(damage) => damage.remedy(),
            Cause::MarkedParts(parts) => return parts.remedy(),
            Cause::CellError => "fix the formula",
            Cause::StoredTwice => "enter the right value in a spreadsheet program, and save the file again",
            Cause::NotShown => {
                "show the value in the spreadsheet program (widen the column, or wait for the result), and save the file again"
            }
            Cause::Cut => {
                "write the report or export as .csv, which keeps the whole text, or enter the whole text here"
            }
            Cause::NotCalculated => "open the file in your spreadsheet program, save it, and try again",
        }
        .to_owned()
    }
}

fn suggest(nearest: &Option<String>, advice: &str) -> String {
    match nearest {
        Some(nearest) => format!("did you mean '{nearest}'? {advice}"),
        None => advice.to_owned(),
    }
}

fn list(names: &[String]) -> String {
    const MAX_NAMES: usize = 8;
    let mut text = names.iter().take(MAX_NAMES).map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", ");
    if names.len() > MAX_NAMES {
        text.push_str(&format!(" and {} more", names.len() - MAX_NAMES));
    }
    text
}
