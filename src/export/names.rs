//! Names of files with `{date}` and `{workspace}` in them, and which older files a name stands for.

use std::path::{Path, PathBuf};

use jiff::civil::Date;

const DATE: &str = "{date}";
const WORKSPACE: &str = "{workspace}";

/// The file that a name stands for on a day. The workspace is written with letters, digits, `-`, `_` and `.` alone.
pub fn resolve(pattern: &str, date: Date, workspace: &str) -> Result<PathBuf, String> {
    let plain = |c: char| if c.is_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '_' };
    let workspace: String = workspace.chars().map(plain).collect();
    if pattern.contains(WORKSPACE) && workspace.trim_matches('.').is_empty() {
        return Err("the tokens name no workspace".to_owned());
    }
    let name = pattern.replace(DATE, &date.to_string()).replace(WORKSPACE, &workspace);
    match name.find('{').zip(name.find('}')) {
        Some((start, end)) if start < end => Err(format!("'{}' is not known in a name", &name[start..=end])),
        _ => Ok(PathBuf::from(name)),
    }
}

/// Whether names of this pattern differ by their date, in the file's own name.
pub fn has_date(pattern: &str) -> bool {
    Path::new(pattern).file_name().is_some_and(|name| name.to_string_lossy().contains(DATE))
}

/// The day for which `name` was made by the file's part of a pattern; nothing for another name.
pub fn date_in(pattern: &str, workspace: &str, name: &str) -> Option<Date> {
    let pattern = Path::new(pattern).file_name()?.to_string_lossy().into_owned();
    let at = pattern.find(DATE)?;
    // The first {date} of the pattern stands behind as many bytes as the name before it has.
    let before = resolve(&pattern[..at], Date::MIN, workspace).ok()?;
    let start = before.to_string_lossy().len();
    let date: Date = name.get(start..start + 10)?.parse().ok()?;
    (resolve(&pattern, date, workspace).ok()?.to_string_lossy() == name).then_some(date)
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;

    #[test]
    fn a_name_stands_for_a_day_and_a_workspace() {
        let on = |pattern: &str, workspace: &str| resolve(pattern, date(2026, 11, 21), workspace);
        assert_eq!(on("a/items-{date}.csv", ""), Ok(PathBuf::from("a/items-2026-11-21.csv")));
        assert_eq!(on("{workspace}-{date}.csv.gz", "my/shop"), Ok(PathBuf::from("my_shop-2026-11-21.csv.gz")));
        assert_eq!(on("{workspace}.csv", ""), Err("the tokens name no workspace".to_owned()));
        assert_eq!(on("{workspace}.csv", ".."), Err("the tokens name no workspace".to_owned()));
        assert_eq!(on("{day}.csv", "w"), Err("'{day}' is not known in a name".to_owned()));
        assert_eq!(on("a}b{c.csv", "w"), Ok(PathBuf::from("a}b{c.csv")));
    }

    #[test]
    fn older_files_of_a_name_are_known_by_their_day() {
        let day = |pattern: &str, name: &str| date_in(pattern, "shop", name);
        assert_eq!(day("x/{workspace}-{date}.csv", "shop-2026-01-02.csv"), Some(date(2026, 1, 2)));
        assert_eq!(day("{date}{date}.csv", "2026-01-022026-01-02.csv"), Some(date(2026, 1, 2)));
        for name in ["shop-2026-01-02.csv.manifest.json", "shop-2026-1-2.csv", "other-2026-01-02.csv", "shop-", "é"] {
            assert_eq!(day("{workspace}-{date}.csv", name), None, "{name}");
        }
        assert!(has_date("a/{date}.csv") && !has_date("{date}/a.csv"));
    }
}
