//! Writes the figures as a table and as JSON.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value, json};

use crate::args::Args;
use crate::compare::{Comparison, Figures};
use crate::{Outcome, ROWS};

pub fn table(results: &[Comparison]) -> String {
    let mut lines = vec![
        [
            "comparison",
            "side",
            "wall s",
            "cpu s",
            "peak MiB",
            "per second",
            "requests per 1,000",
            "transactions per 1,000",
            "log kB per 1,000",
            "ratio",
            "min–max",
            "target",
            "within",
        ]
        .map(str::to_owned),
    ];
    for result in results {
        let verdict = [
            format!("{:.2}", result.ratio),
            format!("{:.2}–{:.2}", result.ratio_min, result.ratio_max),
            format!("{:.2}", result.target),
            if result.within_target { "yes" } else { "no" }.to_owned(),
        ];
        lines.push(line(result, "sheetport", &result.ours, verdict));
        lines.push(line(result, result.beside, &result.bare, [const { String::new() }; 4]));
    }
    let mut text = String::new();
    for line in &lines {
        let mut shown = String::new();
        for (column, cell) in line.iter().enumerate() {
            let width = lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
            // Names are aligned left, figures right.
            let _ = if column < 2 { write!(shown, "{cell:<width$}  ") } else { write!(shown, "{cell:>width$}  ") };
        }
        text.push_str(shown.trim_end());
        text.push('\n');
    }
    text
}

/// Writes the figures, and the names of the comparisons that were left out.
pub fn write_json(path: &Path, args: &Args, results: &[Comparison], left_out: &[&str]) -> Outcome<()> {
    let cpus = std::thread::available_parallelism().map(usize::from).ok();
    let document = json!({
        "sheetport": env!("CARGO_PKG_VERSION"),
        "optimized": !cfg!(debug_assertions),
        "system": { "os": std::env::consts::OS, "arch": std::env::consts::ARCH, "cpus": cpus },
        "scale": args.scale,
        "runs": args.runs,
        "rows": results,
        "left_out": left_out,
    });
    std::fs::write(path, format!("{document:#}\n"))?;
    Ok(())
}

/// Checks that the file at `path` has the figures of every comparison that was not left out.
pub fn check(path: &Path) -> Outcome<()> {
    let document: Value = serde_json::from_slice(&std::fs::read(path)?)?;
    let rows = document["rows"].as_array().ok_or("the file has no 'rows'")?;
    let left_out = document["left_out"].as_array().ok_or("the file has no 'left_out'")?;
    for row in ROWS.iter().filter(|row| !left_out.iter().any(|name| name == row.name)) {
        let found = rows.iter().find(|found| found["name"] == row.name);
        let found = found.ok_or_else(|| format!("the file lacks '{}'", row.name))?;
        for field in ["/ratio", "/ours/wall_seconds", "/bare/wall_seconds", "/seen/units"] {
            let positive = found.pointer(field).and_then(Value::as_f64).is_some_and(|number| number > 0.0);
            if !positive {
                return Err(format!("'{}' has no figure at {field}", row.name).into());
            }
        }
    }
    println!("{}: {} comparisons, complete", path.display(), rows.len());
    Ok(())
}

fn line(result: &Comparison, side: &str, figures: &Figures, verdict: [String; 4]) -> [String; 13] {
    let or_not = |figure: Option<String>| figure.unwrap_or_else(|| "n/a".to_owned());
    let per_second = result.seen.units as f64 / figures.wall_seconds;
    let [ratio, range, target, within] = verdict;
    [
        result.name.to_owned(),
        side.to_owned(),
        format!("{:.3}", figures.wall_seconds),
        or_not(figures.cpu_seconds.map(|seconds| format!("{seconds:.3}"))),
        or_not(figures.peak_bytes.map(|bytes| format!("{:.1}", bytes as f64 / 1_048_576.0))),
        format!("{per_second:.0} {}", result.unit),
        figures.requests_per_thousand.map(|requests| format!("{requests:.2}")).unwrap_or_default(),
        figures.transactions_per_thousand.map(|transactions| format!("{transactions:.1}")).unwrap_or_default(),
        figures.log_bytes_per_thousand.map(|bytes| format!("{:.1}", bytes / 1_000.0)).unwrap_or_default(),
        ratio,
        range,
        target,
        within,
    ]
}
