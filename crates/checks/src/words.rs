//! Words in cells that give orders about a row: `words.toml`.

use std::collections::HashSet;
use std::sync::LazyLock;

use serde::Deserialize;
use sheetport_values::boolean;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Words {
    /// Values that say that a row is no ordinary record, in lower case.
    selectors: Vec<String>,
    /// Names of columns in which yes says so, in lower case.
    flags: Vec<String>,
    /// Beginnings and ends of remarks that say so, in lower case.
    remarks: HashSet<String>,
    /// Words in front of the last day of a list, in lower case.
    until: Vec<String>,
    /// Marks and letters for yes that are no words for it elsewhere, in lower case.
    yes: Vec<String>,
}

static WORDS: LazyLock<Words> = LazyLock::new(|| {
    toml::from_str(include_str!("words.toml")).expect("the file is compiled in, and a test parses it")
});

/// Returns whether a value says that its row is no ordinary record: `DELETE`, `Credit note`, `cancelled`.
pub fn is_selector(value: &str) -> bool {
    let value = value.trim_matches(|c: char| c.is_whitespace() || "!.*?-–—_#[]()<>\"'".contains(c)).to_lowercase();
    WORDS.selectors.contains(&value)
}

/// Returns whether a remark says so in a longer text: `cancelled by phone`, `old, do not sell`.
pub(super) fn is_order(remark: &str) -> bool {
    /// Most words of an order.
    const MAX_WORDS: usize = 3;
    let remark = remark.to_lowercase();
    if remark.contains('?') && !remark.contains(char::is_alphanumeric) {
        return true;
    }
    let says = |clause: &str| {
        let words: Vec<&str> = clause.split_whitespace().collect();
        let most = words.len().min(MAX_WORDS);
        let says = |words: &[&str]| WORDS.remarks.contains(&words.join(" "));
        (1..=most).any(|count| says(&words[..count]) || says(&words[words.len() - count..]))
    };
    remark.split(|c: char| ",.;:!?()[]*\"–—".contains(c)).any(says)
}

/// Returns whether yes in a column with this name says that a row is no ordinary record: `Deleted`, `Is cancelled`.
pub(super) fn is_flag(header: &str) -> bool {
    let header = header.to_lowercase();
    let mut words = header.split(|c: char| !c.is_alphanumeric());
    words.any(|word| WORDS.flags.iter().any(|flag| flag == word))
}

pub(super) fn is_until(word: &str) -> bool {
    WORDS.until.contains(&word.to_lowercase())
}

pub(super) fn is_yes(value: &str) -> bool {
    boolean::parse(value) == Some(true) || WORDS.yes.contains(&value.trim().to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_values_select_rows() {
        for value in
            ["DELETE", " cancelled", "Credit note", "Gutschrift", "annulé", "取消", "do not import!", "** DRAFT **"]
        {
            assert!(is_selector(value), "{value}");
        }
        for value in ["", "Deleted scenes", "invoice", "paid", "Skipper"] {
            assert!(!is_selector(value), "{value}");
        }
        for remark in [
            "Cancelled by phone",
            "old (do not sell)",
            "storniert am 3.10.",
            "Kunde hat gekündigt",
            "prix faux, à supprimer",
        ] {
            assert!(is_order(remark), "{remark}");
        }
        for remark in ["", "Return by Friday", "new", "draft beer", "uncancelled", "deletedx", "annuler si en retard ?"]
        {
            assert!(!is_order(remark), "{remark}");
        }
        assert!(is_flag("Is deleted?") && is_flag("Storniert") && !is_flag("Delivery"));
        assert!(is_yes("Ja") && is_yes("TRUE") && !is_yes("no"));
    }
}
