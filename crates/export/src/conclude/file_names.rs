//! File names with the placeholders `{date}` and `{workspace}`.

use std::path::{Path, PathBuf};

use jiff::civil::{Date, DateTime, Time};
use sheetport_files::links::may_follow;
use sheetport_sheet::write::folder;

const DATE: &str = "{date}";
/// The time of day as six digits.
const TIME: &str = "{time}";
const WORKSPACE: &str = "{workspace}";
/// Maximum number of symbolic links to follow.
const MAX_LINKS: usize = 40;

/// Returns the path for an incomplete export to `path`.
pub(crate) fn incomplete(path: &Path) -> PathBuf {
    with_suffix(path, ".incomplete")
}

/// Returns the path of the list of missing IDs for an export to `path`.
pub(super) fn not_found(path: &Path) -> PathBuf {
    with_suffix(path, ".not-found.csv")
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Replaces the placeholders. Characters of the workspace other than letters, digits, `-`, `_` and `.` become `_`.
///
/// # Errors
/// Returns a message if the workspace is unknown or the pattern has another placeholder.
pub(crate) fn resolve(pattern: &str, local: DateTime, workspace: &str) -> Result<PathBuf, String> {
    let plain = |c: char| if c.is_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '_' };
    let workspace: String = workspace.chars().map(plain).collect();
    if pattern.contains(WORKSPACE) && workspace.trim_matches('.').is_empty() {
        return Err("the access token names no workspace".to_owned());
    }
    let time = local.strftime("%H%M%S").to_string();
    let name = pattern.replace(DATE, &local.date().to_string()).replace(TIME, &time).replace(WORKSPACE, &workspace);
    match name.find('{').zip(name.find('}')) {
        Some((start, end)) if start < end => Err(format!("unknown placeholder '{}'", &name[start..=end])),
        _ => Ok(PathBuf::from(name)),
    }
}

/// Returns the place of the file: `path`, or the target if `path` is a symbolic link.
pub(crate) fn behind_links(path: PathBuf) -> PathBuf {
    let mut place = path;
    for _ in 0..MAX_LINKS {
        match place.read_link() {
            Ok(target) if may_follow(&place) => place = folder(&place).join(target),
            _ => break,
        }
    }
    place
}

/// Returns whether the file name of this pattern contains a date. A date in a folder name does not count.
pub fn has_date(pattern: &str) -> bool {
    Path::new(pattern).file_name().is_some_and(|name| name.to_string_lossy().contains(DATE))
}

/// Returns whether the file name of this pattern contains a time of day.
pub fn has_time(pattern: &str) -> bool {
    Path::new(pattern).file_name().is_some_and(|name| name.to_string_lossy().contains(TIME))
}

/// Returns whether `name` is a file name of this pattern, on any day and at any time.
pub(super) fn is_dated(pattern: &str, workspace: &str, name: &str) -> bool {
    time_in(pattern, workspace, name).is_some()
}

/// Returns the files of this pattern in the folder of `path`, the oldest first.
pub(super) fn dated_files(pattern: &str, workspace: &str, path: &Path) -> Vec<(DateTime, PathBuf)> {
    let entries = std::fs::read_dir(folder(path)).into_iter().flatten().flatten();
    let dated = entries.filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        Some((time_in(pattern, workspace, &name)?, path.with_file_name(name)))
    });
    let mut dated: Vec<_> = dated.collect();
    dated.sort();
    dated
}

/// Returns the date in `name`, and the time if any. Returns `None` if `name` does not match the file name of this pattern.
fn time_in(pattern: &str, workspace: &str, name: &str) -> Option<DateTime> {
    let pattern = Path::new(pattern).file_name()?.to_string_lossy().into_owned();
    // Resolves the text before a placeholder to find its position. All dates with four-digit years have the same length.
    let any = jiff::civil::date(2000, 1, 1).at(0, 0, 0, 0);
    let start = |placeholder: &str| {
        let before = &pattern[..pattern.find(placeholder)?];
        Some(resolve(before, any, workspace).ok()?.to_string_lossy().len())
    };
    let date = start(DATE)?;
    let date: Date = name.get(date..date + 10)?.parse().ok()?;
    let time = match start(TIME) {
        Some(start) => Time::strptime("%H%M%S", name.get(start..start + 6)?).ok()?,
        None => Time::midnight(),
    };
    let local = date.to_datetime(time);
    (resolve(&pattern, local, workspace).ok()?.to_string_lossy() == name).then_some(local)
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;

    #[test]
    fn placeholders_are_replaced() {
        let on = |pattern: &str, workspace: &str| resolve(pattern, date(2026, 11, 21).at(4, 5, 6, 0), workspace);
        assert_eq!(on("{date}-{time}.csv", ""), Ok(PathBuf::from("2026-11-21-040506.csv")));
        assert_eq!(on("a/items-{date}.csv", ""), Ok(PathBuf::from("a/items-2026-11-21.csv")));
        assert_eq!(on("{workspace}-{date}.csv.gz", "my/shop"), Ok(PathBuf::from("my_shop-2026-11-21.csv.gz")));
        assert_eq!(on("{workspace}.csv", ""), Err("the access token names no workspace".to_owned()));
        assert_eq!(on("{workspace}.csv", ".."), Err("the access token names no workspace".to_owned()));
        assert_eq!(on("{day}.csv", "w"), Err("unknown placeholder '{day}'".to_owned()));
        assert_eq!(on("a}b{c.csv", "w"), Ok(PathBuf::from("a}b{c.csv")));
    }

    #[test]
    fn dates_are_found_in_file_names() {
        let day = |pattern: &str, name: &str| time_in(pattern, "shop", name);
        assert_eq!(day("x/{workspace}-{date}.csv", "shop-2026-01-02.csv"), Some(date(2026, 1, 2).at(0, 0, 0, 0)));
        assert_eq!(day("{date}{date}.csv", "2026-01-022026-01-02.csv"), Some(date(2026, 1, 2).at(0, 0, 0, 0)));
        assert_eq!(day("{time}-{date}.csv", "040506-2026-01-02.csv"), Some(date(2026, 1, 2).at(4, 5, 6, 0)));
        assert_eq!(day("{time}-{date}.csv", "0405-2026-01-02.csv"), None);
        assert_eq!(day("x-{date}-{time}.csv", "x-2026-01-02-040506.csv"), Some(date(2026, 1, 2).at(4, 5, 6, 0)));
        for name in ["shop-2026-01-02.csv.manifest.json", "shop-2026-1-2.csv", "other-2026-01-02.csv", "shop-", "é"] {
            assert_eq!(day("{workspace}-{date}.csv", name), None, "{name}");
        }
        assert!(has_date("a/{date}.csv") && !has_date("{date}/a.csv"));
    }
}
