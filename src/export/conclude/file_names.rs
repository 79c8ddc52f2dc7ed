//! File names with the placeholders `{date}` and `{workspace}`.

use std::path::{Path, PathBuf};

use jiff::civil::{Date, DateTime, Time};

use crate::sheet::write::folder;

const DATE: &str = "{date}";
/// The time of day as six digits.
const TIME: &str = "{time}";
const WORKSPACE: &str = "{workspace}";
/// Maximum number of symbolic links to follow.
const MAX_LINKS: usize = 40;

/// Returns the path for an incomplete export to `path`.
pub(in crate::export) fn incomplete(path: &Path) -> PathBuf {
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
pub(in crate::export) fn resolve(pattern: &str, local: DateTime, workspace: &str) -> Result<PathBuf, String> {
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
pub(in crate::export) fn behind_links(path: PathBuf) -> PathBuf {
    let mut place = path;
    for _ in 0..MAX_LINKS {
        match place.read_link() {
            Ok(target) if may_follow(&place) => place = folder(&place).join(target),
            _ => break,
        }
    }
    place
}

/// Whether to trust a link. In a folder where others can create links, trusts only links of the user and of the folder's owner.
#[cfg(unix)]
fn may_follow(link: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;

    let (Ok(found), Ok(folder)) = (link.symlink_metadata(), folder(link).metadata()) else { return false };
    let user = rustix::process::geteuid().as_raw();
    is_safe_link(found.uid(), folder.uid(), folder.mode(), user)
}

/// Takes the owners of a link and its folder, the mode of the folder, and the user.
#[cfg(unix)]
fn is_safe_link(link: u32, folder: u32, mode: u32, user: u32) -> bool {
    /// The group or everybody may create files.
    const SHARED: u32 = 0o022;
    mode & SHARED == 0 || link == user || link == folder
}

#[cfg(not(unix))]
fn may_follow(_: &Path) -> bool {
    true
}

/// Returns whether the file name of this pattern contains a date. A date in a folder name does not count.
pub(crate) fn has_date(pattern: &str) -> bool {
    Path::new(pattern).file_name().is_some_and(|name| name.to_string_lossy().contains(DATE))
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

    #[cfg(unix)]
    #[test]
    fn links_of_others_are_not_followed() {
        const USER: u32 = 1000;
        for (link, folder, mode, is_safe) in [
            (USER, 0, 0o1777, true),
            (0, 0, 0o1777, true),
            (1001, 0, 0o1777, false),
            (1001, 0, 0o775, false),
            (1001, USER, 0o2770, false),
            (1001, 1001, 0o755, true),
            (1001, 0, 0o755, true),
        ] {
            assert_eq!(is_safe_link(link, folder, mode, USER), is_safe, "{link} {folder} {mode:o}");
        }
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
