//! Counts the instructions of small workloads, which no other load of the machine changes, and compares them with kept figures.
//!
//! Valgrind runs a side as a child process. The kept figures are of the tests' build, because it is there anyway: they say whether a change
//! made the same work longer, not how long it takes.

use std::collections::BTreeMap;
use std::env;
use std::path::Path;
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};

use crate::child::{self, Server, Who};
use crate::{Job, Needs, Outcome, Row, exporting, mapping, reporting};

/// The comparisons whose side of Sheetport is counted, each with the number of rows or records, and the full number of its workload. Few
/// enough for a minute in all.
const COUNTED: &[(&Row, f64)] = &[
    (&mapping::CHECK_ITEMS, 20.0),
    (&mapping::CHECK_ITEMS, 1_000.0),
    (&mapping::CHECK_ORDERS, 1_000.0),
    (&reporting::REPORT_CSV, 1_000.0),
    (&exporting::EXPORT_CSV, 2_000.0),
];
/// The number of rows at scale 1.
const FULL: f64 = 1_000_000.0;
/// A count may be so many times the kept one. Hashes have a secret of each process, so counts differ by about one in a hundred.
const MOST: f64 = 1.1;

/// The kept counts: `benches/instructions.toml`.
#[derive(Debug, Deserialize, Serialize)]
struct Kept {
    /// What `rustc --version` prints. Another compiler makes other instructions of the same program.
    toolchain: String,
    counts: BTreeMap<String, u64>,
}

/// Counts, prints the counts beside the kept ones, and fails if one is more than a tenth above. `keep` writes the counts instead.
///
/// # Errors
/// Valgrind is not installed and `SHEETPORT_REQUIRE_TOOLS` is set; without it, a message says so.
pub fn count(keep: bool) -> Outcome<()> {
    if Command::new("valgrind").arg("--version").stdout(Stdio::null()).status().is_err() {
        let message = "instructions are not counted: valgrind is not installed";
        if env::var_os("SHEETPORT_REQUIRE_TOOLS").is_some() {
            return Err(message.into());
        }
        eprintln!("{message}");
        return Ok(());
    }
    let mut counts = BTreeMap::new();
    for (row, rows) in COUNTED {
        let name = format!("{}-{rows}", row.name);
        let counted = instructions(row, rows / FULL).map_err(|error| format!("{name}: {error}"))?;
        counts.insert(name, counted);
    }
    let counted = Kept { toolchain: toolchain()?, counts };
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/instructions.toml");
    if keep {
        let text = toml::to_string(&counted)?;
        let comment = "# Instructions in the profile dev: cargo bench --profile dev --all-features -- --count --keep\n";
        std::fs::write(&path, format!("{comment}{text}"))?;
        return Ok(());
    }
    let kept: Kept = toml::from_str(&std::fs::read_to_string(&path)?)?;
    let is_comparable = cfg!(debug_assertions) && kept.toolchain == counted.toolchain;
    let mut above = Vec::new();
    println!("| workload | instructions | kept |\n|---|---|---|");
    for (name, count) in &counted.counts {
        let known = kept.counts.get(name).filter(|_| is_comparable);
        println!("| `{name}` | {count} | {} |", known.map_or_else(|| "–".to_owned(), u64::to_string));
        if known.is_some_and(|known| *count as f64 > *known as f64 * MOST) {
            above.push(name.as_str());
        }
    }
    if !is_comparable {
        eprintln!("not compared: the kept counts are of the profile dev and {}", kept.toolchain);
    }
    match above.is_empty() {
        true => Ok(()),
        false => Err(format!(
            "more than a tenth above the kept counts: {}; take the cost away, or keep the new counts with --count --keep, and say why",
            above.join(", ")
        )
        .into()),
    }
}

/// Returns the instructions of Sheetport's side, without those of the workload and of servers.
fn instructions(row: &'static Row, scale: f64) -> Outcome<u64> {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    child::prepare(row, folder.path(), scale)?;
    let server = if row.needs == Needs::Nothing { None } else { Some(Server::start(&[])?) };
    let address = server.as_ref().map(|server| server.address.clone());
    let job = Job { folder: folder.path().to_owned(), server: address, database: None };
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(env::current_exe()?);
    command.args(child::arguments(row, Who::Ours, &job)).stdin(Stdio::null()).stdout(Stdio::null());
    let output = command.output()?;
    let messages = String::from_utf8_lossy(&output.stderr);
    // `==4711== Collected : 80846320`
    let collected = messages.lines().find_map(|line| line.split_once("Collected :"));
    match collected {
        Some((_, count)) if output.status.success() => Ok(count.trim().parse()?),
        _ => Err(format!("valgrind failed: {messages}").into()),
    }
}

fn toolchain() -> Outcome<String> {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("--version").output()?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
