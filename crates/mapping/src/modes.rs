//! Which of the ways to send a part of a file are possible for a kind of record.

use sheetport_findings::Only;
use sheetport_records::RecordKind;

/// Why counts can't be told apart as new and known ones.
pub const NOT_NEW: &str = "counts are compared with the stock, and are neither new nor known";

/// Returns why records of a kind can't be told apart as new and known ones for this choice.
pub fn why_not_only(record: RecordKind, only: Only) -> Option<String> {
    let input = record.input();
    match only {
        Only::New if input.create.is_none() => Some(format!("{} are changed, and never created", input.plural)),
        Only::Known if input.update.is_none() && input.must_not_repeat() => {
            Some(format!("{} are created, and never changed", input.plural))
        }
        Only::New | Only::Known => None,
    }
}

/// Returns why it is not possible to write only the blank fields of records of a kind.
pub fn why_not_fill(record: RecordKind) -> Option<String> {
    let input = record.input();
    if let Some(why) = why_not_only(record, Only::Known) {
        return Some(why);
    }
    let needed = input.fields().find(|field| field.required && !input.key.contains(&field.name));
    needed.map(|field| format!("each request for {} has to write {}", input.plural, field.name))
}

/// Returns why it can't be known which records of a kind a file lacks, or why these can't be set.
pub fn why_not_missing(record: RecordKind) -> Option<String> {
    (record != RecordKind::Item).then(|| {
        format!(
            "{} are no records that the service lists with your own identifiers and sets by them",
            record.input().plural
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blank_fields_are_those_of_records_that_stay() {
        let possible: Vec<&str> =
            RecordKind::ALL.iter().filter(|kind| why_not_fill(**kind).is_none()).map(|kind| kind.name()).collect();
        assert_eq!(possible, ["item", "order"]);
    }
}
