//! Commands for PowerShell and cmd beside those for bash. They can't be run here, so they are compared.

use super::pages::{Block, Page, Part, pages};

/// Characters that at least one of the shells treats in its own way outside of double quotes.
const SPECIAL: &str = "$'|><\\&;,*?~{}()`%^!";
/// Programs that are called in the same way everywhere.
const PROGRAMS: [&str; 5] = ["cargo", "createdb", "docker", "mdbook", "sheetport"];

/// Whether the line means the same in bash, PowerShell and cmd, without its comment.
fn is_portable(line: &str) -> bool {
    let line = without_comment(line).trim();
    // The file of a redirection may be UTF-16 in PowerShell, which templates may be.
    let line = line.rsplit_once(" > ").filter(|(_, file)| file.ends_with(".toml")).map_or(line, |(call, _)| call);
    let is_program = PROGRAMS.iter().any(|program| line.split(' ').next() == Some(*program));
    let within_quotes = line.split('"').skip(1).step_by(2).all(|text| !text.contains(['$', '`', '%', '\\', '!']));
    let outside = line.split('"').step_by(2).all(|text| !text.contains(|c| SPECIAL.contains(c)));
    line.is_empty() || is_program && within_quotes && outside
}

fn without_comment(line: &str) -> &str {
    if line.trim_start().starts_with('#') { "" } else { line.split_once(" #").map_or(line, |(line, _)| line) }
}

/// Returns the arguments of each call of sheetport.
fn calls(block: &Block) -> Vec<Vec<String>> {
    let mut calls = Vec::new();
    for line in &block.lines {
        let line = without_comment(line);
        for (start, _) in line.match_indices("sheetport ") {
            if start == 0 || line[..start].ends_with(['(', ' ', '\'', '"']) {
                calls.push(arguments(&line[start..], &block.language));
            }
        }
    }
    calls
}

fn arguments(call: &str, language: &str) -> Vec<String> {
    let mut arguments = vec![String::new()];
    let mut quote = None;
    for c in call.chars() {
        match (quote, c) {
            (Some(mark), c) if c == mark => quote = None,
            (None, '"') => quote = Some(c),
            (None, '\'') if language != "bat" => quote = Some(c),
            // The end of the call.
            (None, '|' | '>' | '<' | ')' | '\'' | ';') => break,
            (None, ' ') => arguments.push(String::new()),
            (_, c) => arguments.last_mut().unwrap().push(c),
        }
    }
    // PowerShell takes tokens apart with ConvertFrom-Json.
    arguments.retain(|argument| !argument.is_empty() && argument != "--json");
    arguments
}

/// Returns each bash block with the variants behind it.
fn with_variants(page: &Page) -> Vec<(Block, Vec<Block>)> {
    let mut found: Vec<(Block, Vec<Block>)> = Vec::new();
    let mut is_next = false;
    for part in page.parts() {
        match part {
            Part::Block(block) if block.language == "sh" => {
                found.push((block, Vec::new()));
                is_next = true;
            }
            Part::Block(block) if matches!(&*block.language, "powershell" | "bat") => {
                assert!(is_next, "{}:{}: no bash block comes before this one", page.name, block.line);
                found.last_mut().unwrap().1.push(block);
            }
            Part::Line(line) if line.trim().is_empty() => {}
            // A short heading, such as "PowerShell:".
            Part::Line(line) if line.trim().ends_with(':') => {}
            _ => is_next = false,
        }
    }
    found
}

#[test]
fn commands_work_in_each_shell_or_have_variants() {
    let mut missing = Vec::new();
    for page in pages() {
        for (block, variants) in with_variants(&page) {
            if block.lines.iter().all(|line| is_portable(line)) {
                continue;
            }
            for language in ["powershell", "bat"] {
                if !variants.iter().any(|variant| variant.language == language) {
                    missing.push(format!("{}:{} has no ```{language}", page.name, block.line));
                }
            }
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

#[test]
fn variants_call_sheetport_with_the_same_arguments() {
    for page in pages() {
        for (block, variants) in with_variants(&page) {
            for variant in variants {
                let place = format!("{}:{}", page.name, variant.line);
                assert_eq!(calls(&variant), calls(&block), "{place}");
            }
        }
    }
}

#[test]
fn calls_are_found_within_other_commands() {
    let of = |language: &str, line: &str| {
        calls(&Block { language: language.to_owned(), lines: vec![line.to_owned()], ..Block::default() })
    };
    let token = ["sheetport", "serve", "token", "--workspace", "demo"];
    assert_eq!(of("sh", "eval \"$(sheetport serve token --workspace demo)\""), [token]);
    assert_eq!(of("bat", "for /f %a in ('sheetport serve token --workspace demo') do set %a"), [token]);
    assert_eq!(of("powershell", "$t = sheetport serve token --workspace demo --json | ConvertFrom-Json"), [token]);
    assert_eq!(of("sh", "sheetport view 'a b.csv' > c.csv  # x"), [["sheetport", "view", "a b.csv"]]);
    assert!(is_portable("sheetport check \"my prices.csv\" -t items  # why 'this'"));
    assert!(is_portable("sheetport template show items > prices.toml"));
    for line in ["sheetport export items -o '{kind}.csv'", "cat a", "sheetport serve --fail 500:0.1,reset:0.1"] {
        assert!(!is_portable(line), "{line}");
    }
}
