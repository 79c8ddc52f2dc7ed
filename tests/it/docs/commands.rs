//! Runs the commands of README.md, samples/README.md and docs, one page after the other in a folder of its own, with the
//! real executable and a service on this machine. commands.toml has the files that they need, and those that can't be run. A page
//! that begins with `sheetport demo` gets nothing but what the demo gives.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::thread;

use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

use super::pages::{Block, Page, pages, root};
use super::steps::{CommandStep, Edit, PageSteps, Steps};
use crate::cli::process::{Place, Running, name};
use crate::cli::service::Served;
use crate::environment;
use crate::postgres::{self, Cluster};

/// Addresses of the pages that stand for the service of the test.
const ADDRESSES: [&str; 2] = ["http://127.0.0.1:8787", "https://records.example"];
/// Pages that are run at the same time.
const AT_ONCE: usize = 3;
/// The command that makes the world of the tasks.
const DEMO: &str = "sheetport demo";

#[test]
fn commands_of_the_pages_run() {
    let steps = Steps::load();
    // `FILTER=tasks` runs only these pages.
    let filter = std::env::var("FILTER").unwrap_or_default();
    let pages = Mutex::new(pages().into_iter().filter(|page| page.name.contains(&filter)));
    let failures = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let Some(page) = pages.lock().unwrap().next() else { break };
                    let found = run(&page, steps.of(&page.name));
                    failures.lock().unwrap().extend(found.into_iter().map(|text| format!("{}{text}", page.name)));
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "{} failures\n\n{}", failures.len(), failures.join("\n\n"));
}

/// The commands themselves are run with all others; `continue` sends what was corrected.
#[test]
fn the_first_corrected_upload_takes_at_most_five_commands() {
    let task = pages().into_iter().find(|page| page.name == "docs/tasks/price-list.md").unwrap();
    let commands: Vec<String> =
        task.blocks().filter(|block| block.language == "sh").flat_map(|block| commands(&block)).collect();
    let last = commands.iter().position(|command| command.starts_with("sheetport continue"));
    // After the installation.
    assert!(last.is_some_and(|before| before + 2 <= 5), "{commands:?}");
}

#[test]
fn the_table_of_commands_names_pages_that_exist() {
    let names: BTreeSet<String> = pages().into_iter().map(|page| page.name).collect();
    let unknown: Vec<String> =
        Steps::load().page.into_iter().map(|page| page.path).filter(|path| !names.contains(path)).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}

#[test]
fn blocks_without_a_language_have_no_commands() {
    for page in pages() {
        for block in page.blocks().filter(|block| block.language.is_empty()) {
            let command = block.lines.iter().find(|line| line.starts_with("sheetport "));
            assert_eq!(command, None, "{}:{}: mark the block with sh", page.name, block.line);
        }
    }
}

/// Runs the commands of a page. Returns what is wrong.
fn run(page: &Page, steps: PageSteps) -> Vec<String> {
    let blocks: Vec<Block> = page.blocks().filter(|block| matches!(&*block.language, "sh" | "text" | "toml")).collect();
    let lacks_postgres = steps.needs_postgres && !postgres::is_there();
    if steps.not_run.is_some() || lacks_postgres || !blocks.iter().any(|block| block.language == "sh") {
        return Vec::new();
    }
    let commands: Vec<String> = blocks.iter().filter(|block| block.language == "sh").flat_map(commands).collect();
    let mut failures: Vec<String> = steps
        .command
        .iter()
        .filter(|step| !commands.iter().any(|command| command.starts_with(&step.run)))
        .map(|step| format!(": commands.toml has a command that the page does not have: {}", step.run))
        .collect();
    failures.extend(run_blocks(&blocks, &mut Session::new(&commands, steps)));
    failures
}

/// The demo is one world: what was done for one task does not get into the way of another.
#[test]
fn the_tasks_can_be_done_in_one_home_and_in_any_order() {
    let all = Steps::load();
    let tasks = || pages().into_iter().filter(|page| page.name.starts_with("docs/tasks/"));
    let mut orders = [tasks().collect::<Vec<_>>(), tasks().collect()];
    orders[1].reverse();
    for pages in orders {
        let mut session: Option<Session> = None;
        for page in pages {
            let blocks: Vec<Block> =
                page.blocks().filter(|block| matches!(&*block.language, "sh" | "text" | "toml")).collect();
            let session = session.get_or_insert_with(|| Session::new(&[DEMO.to_owned()], PageSteps::default()));
            session.steps = all.of(&page.name);
            // A person ends the page of the task before.
            session.background = None;
            let failures = run_blocks(&blocks, session);
            assert!(failures.is_empty(), "{}{}", page.name, failures.join("\n\n"));
        }
    }
}

/// Runs the commands of blocks in their order. Returns what is wrong.
fn run_blocks(blocks: &[Block], session: &mut Session) -> Vec<String> {
    let mut failures = Vec::new();
    let mut output: Option<String> = None;
    for block in blocks {
        let at = |text: String| format!(":{}: {text}", block.line);
        match &*block.language {
            "toml" => session.store(block),
            "text" => match output.take() {
                // A demo that was run for an earlier page.
                Some(output) if output.is_empty() => {}
                Some(output) => failures.extend(missing(&block.lines, &output).map(at)),
                None => failures.push(at("no command comes before this output".to_owned())),
            },
            _ => {
                let mut all = String::new();
                for command in commands(block) {
                    match session.run(&command) {
                        Ok(printed) => all += &printed,
                        Err(failure) => failures.push(at(format!("{command}\n{failure}"))),
                    }
                }
                output = Some(all);
            }
        }
    }
    failures
}

/// Returns the commands of a block, without comments.
fn commands(block: &Block) -> Vec<String> {
    let mut commands: Vec<String> = Vec::new();
    let mut continues = false;
    for line in &block.lines {
        let line = if line.trim_start().starts_with('#') { "" } else { line };
        let line = line.split_once(" #").map_or(line, |(command, _)| command).trim_end();
        match commands.last_mut() {
            Some(last) if continues => *last = format!("{}\n{line}", *last),
            _ if line.is_empty() => {}
            _ => commands.push(line.to_owned()),
        }
        continues = line.ends_with('\\');
    }
    commands
}

/// The shell of one page.
struct Session {
    place: Place,
    steps: PageSteps,
    /// The folder that the last command has ended in.
    folder: PathBuf,
    /// None of a page for the demo.
    served: Option<Served>,
    /// Whether the environment has the address and the tokens of the service.
    has_tokens: bool,
    /// What the page has started and keeps running.
    background: Option<Running>,
    address: String,
    /// A database, if the page needs one.
    cluster: Option<Cluster>,
    /// The address on the page that stands for it.
    shown: &'static str,
}

impl Session {
    fn new(commands: &[String], steps: PageSteps) -> Session {
        let place = Place::new();
        let is_demo = commands.first().is_some_and(|command| command == DEMO);
        if !is_demo {
            copy(&root().join("samples"), &place.path("samples"));
        }
        for (to, from) in &steps.files {
            copy(&root().join(from), &place.path(to));
        }
        let served = (!is_demo).then(|| Served::demo(&place));
        let address = served.as_ref().map(Served::url).unwrap_or_default();
        let has_tokens = !is_demo && !commands.iter().any(|command| is_login(command));
        let before = steps.before.clone();
        let shown = ADDRESSES.into_iter().find(|address| commands.iter().any(|command| command.contains(address)));
        let shown = shown.unwrap_or(ADDRESSES[0]);
        let cluster = steps.needs_postgres.then(Cluster::start).flatten();
        if let Some(cluster) = &cluster {
            cluster.database("sheetport");
        }
        let folder = place.path("");
        let mut session =
            Session { place, steps, folder, served, has_tokens, background: None, address, cluster, shown };
        for command in before {
            session.run(&command).unwrap_or_else(|failure| panic!("{command}\n{failure}"));
        }
        session
    }

    /// Stores a TOML file whose first line has its name as a comment.
    fn store(&self, block: &Block) {
        let first = block.lines.first().and_then(|line| line.strip_prefix("# ")).unwrap_or_default();
        let file = first.split([';', ' ']).next().unwrap_or_default();
        if Path::new(file).extension().is_some_and(|extension| extension == "toml") {
            fs::write(self.folder.join(file), self.replaced(&(block.lines.join("\n") + "\n"))).unwrap();
        }
    }

    fn replaced(&self, text: &str) -> String {
        let folder = self.place.path("");
        let mut text = text.to_owned();
        for (from, to) in &self.steps.replace {
            let to = to.replace("{folder}", name(&folder).trim_end_matches('/'));
            let postgres = self.cluster.as_ref().map(|cluster| cluster.address("sheetport"));
            text = text.replace(from, &to.replace("{postgres}", &postgres.unwrap_or_default()));
        }
        ADDRESSES.iter().fold(text, |text, address| text.replace(address, &self.address))
    }

    /// Runs a command. Returns its output, or what is wrong.
    fn run(&mut self, command: &str) -> Result<String, String> {
        let step = self.steps.command.iter().find(|step| command.starts_with(&step.run));
        let step = step.cloned().unwrap_or_default();
        let needs_terminal = !step.answers.is_empty() && !environment::has_program("script");
        if step.not_run.is_some()
            || needs_terminal
            || step.needs.as_ref().is_some_and(|program| !environment::has_program(program))
        {
            return Ok(String::new());
        }
        if step.stop {
            self.background = None;
        }
        if let Some(first) = &step.first {
            self.wait_for(first, &CommandStep::default())?;
        }
        for edit in &step.edit {
            self.edit(edit)?;
        }
        if is_serve(command) || command.starts_with("sheetport review") {
            return self.start(command);
        }
        if command == DEMO {
            return self.enter_demo(&step);
        }
        self.wait_for(step.replace.as_deref().unwrap_or(command), &step)
    }

    /// Runs the demo, and enters the lines that it prints for the terminal. Returns nothing if the demo is there.
    fn enter_demo(&mut self, step: &CommandStep) -> Result<String, String> {
        if self.folder.ends_with("sheetport-demo") {
            return Ok(String::new());
        }
        let output = self.wait_for(DEMO, step)?;
        if self.served.is_some() {
            return Ok(output);
        }
        let lines: Vec<&str> = output.lines().map(str::trim).collect();
        let for_terminal = lines.iter().filter(|line| line.starts_with("cd ") || line.starts_with("export "));
        let for_terminal: Vec<String> = for_terminal.map(|line| (*line).to_owned()).collect();
        assert_eq!(for_terminal.len(), 2, "{output}");
        for line in for_terminal {
            self.wait_for(&line, &CommandStep::default())?;
        }
        Ok(output)
    }

    fn wait_for(&mut self, command: &str, step: &CommandStep) -> Result<String, String> {
        let command = self.replaced(command);
        let command = if step.answers.is_empty() { command } else { on_terminal(&command, &step.answers) };
        // Variables and the folder stay for the next command.
        let (before, root) = (self.before(), name(&self.place.path("")).to_owned());
        let script = format!(
            "exec 2>&1; {before}\n{command}\ncode=$?; export -p > '{root}/.variables'; pwd > '{root}/.folder'; exit $code"
        );
        let mut shell = self.shell(&script);
        if is_login(&command) {
            let (access, refresh) = self.served.as_ref().expect("a page with a service").tokens();
            shell = shell.fed(format!("{access}\n{refresh}\n"));
        }
        let ended = shell.run();
        if let Ok(folder) = fs::read_to_string(self.place.path(".folder")) {
            self.folder = PathBuf::from(folder.trim_end());
        }
        let output = ended.stdout.replace('\r', "");
        let output = if self.address.is_empty() { output } else { output.replace(&self.address, self.shown) };
        match ended.code {
            Some(code) if code == step.exit.unwrap_or(0) => Ok(output),
            code => Err(format!("exit code {code:?}\n{output}")),
        }
    }

    /// Returns what restores the variables and the folder of the last command.
    fn before(&self) -> String {
        let (root, folder) = (self.place.path(""), name(&self.folder).to_owned());
        format!("[ ! -e '{0}/.variables' ] || . '{0}/.variables'; cd '{folder}'", name(&root))
    }

    /// Starts a program that does not end, in place of the one that was started before.
    fn start(&mut self, command: &str) -> Result<String, String> {
        self.background = None;
        let free_port = if is_serve(command) { " --listen 127.0.0.1:0" } else { "" };
        let no_browser = if is_serve(command) || command.contains("--no-open") { "" } else { " --no-open" };
        let running =
            self.shell(&format!("{}; exec {}{free_port}{no_browser}", self.before(), self.replaced(command))).start();
        let line = running.try_line().unwrap_or_default();
        let Some((_, rest)) = line.split_once("http://127.0.0.1:") else {
            return Err(format!("no address: {line}{}", running.kill().stderr));
        };
        if is_serve(command) {
            let port = rest.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
            self.address = format!("http://127.0.0.1:{port}");
            // The page has to provide the tokens of this service.
            self.has_tokens = false;
            let _ = fs::remove_file(self.place.path(".variables"));
        }
        self.background = Some(running);
        Ok(String::new())
    }

    fn shell(&self, script: &str) -> crate::cli::process::Sheetport {
        let folder = Path::new(env!("CARGO_BIN_EXE_sheetport")).parent().unwrap();
        let path = format!("{}:{}", name(folder), std::env::var("PATH").unwrap());
        let shell = match &self.served {
            Some(served) if self.has_tokens => served.shell(&self.place, script),
            _ => self.place.command("sh", ["-c", script]),
        };
        shell.env("PATH", &path)
    }

    fn edit(&self, edit: &Edit) -> Result<(), String> {
        let path = self.folder.join(&edit.file);
        let bytes = fs::read(&path).map_err(|error| format!("{}: {error}", edit.file))?;
        let changed = if bytes.starts_with(b"PK") {
            edit_workbook(&path, &edit.from, &edit.to)
        } else {
            let text = String::from_utf8(bytes).map_err(|error| format!("{}: {error}", edit.file))?;
            fs::write(&path, text.replacen(&edit.from, &edit.to, 1)).unwrap();
            text.contains(&edit.from)
        };
        if changed { Ok(()) } else { Err(format!("{} does not contain {:?}", edit.file, edit.from)) }
    }
}

/// Returns a command that runs another one on a terminal, where it is answered.
fn on_terminal(command: &str, answers: &[String]) -> String {
    let answers: Vec<String> = answers.iter().map(|answer| format!("'{answer}'")).collect();
    format!("printf '%s\\n' {} | NO_COLOR=1 script -qec '{command}' /dev/null", answers.join(" "))
}

fn is_serve(command: &str) -> bool {
    let mut words = command.split(' ');
    (words.next(), words.next()) == (Some("sheetport"), Some("serve"))
        && !matches!(words.next(), Some("token" | "load" | "show" | "--print-plan"))
}

fn is_login(command: &str) -> bool {
    command.starts_with("sheetport login") || command.starts_with("sheetport init")
}

/// Copies a file or a folder.
fn copy(from: &Path, to: &Path) {
    if !from.is_dir() {
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(from, to).unwrap_or_else(|error| panic!("{}: {error}", from.display()));
        return;
    }
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        copy(&entry.path(), &to.join(entry.file_name()));
    }
}

/// Replaces the text of cells in a workbook. Returns whether there was such a text.
pub fn edit_workbook(path: &Path, from: &str, to: &str) -> bool {
    let mut archive = ZipArchive::new(File::open(path).unwrap()).unwrap();
    let edited = path.with_extension("edited");
    let mut copy = ZipWriter::new(File::create(&edited).unwrap());
    let (from, to) = (format!(">{from}</t>"), format!(">{to}</t>"));
    let mut is_found = false;
    for index in 0..archive.len() {
        let mut part = archive.by_index(index).unwrap();
        let name = part.name().unwrap().into_owned();
        let mut bytes = Vec::new();
        part.read_to_end(&mut bytes).unwrap();
        if name.starts_with("xl/worksheets/sheet") || name == "xl/sharedStrings.xml" {
            let text = String::from_utf8(bytes).unwrap();
            let is_here = !is_found && text.contains(&from);
            is_found |= is_here;
            bytes = if is_here { text.replacen(&from, &to, 1) } else { text }.into_bytes();
        }
        copy.start_file(name, SimpleFileOptions::default()).unwrap();
        copy.write_all(&bytes).unwrap();
    }
    copy.finish().unwrap();
    fs::rename(edited, path).unwrap();
    is_found
}

/// Returns the first expected line that the output does not have. A line `…` stands for any lines, and `…` within a line for
/// any text.
fn missing(expected: &[String], output: &str) -> Option<String> {
    let output: Vec<&str> = output.lines().map(str::trim_end).collect();
    let mut from = 0;
    for (index, part) in expected.split(|line| line.trim() == "…").enumerate() {
        if part.is_empty() {
            continue;
        }
        let fits = |start: usize| {
            output.len() >= start + part.len()
                && part.iter().zip(&output[start..]).all(|(line, shown)| is_like(line, shown))
        };
        match (from..output.len()).find(|start| fits(*start)) {
            Some(start) => from = start + part.len(),
            None => {
                let part = part.join("\n");
                return Some(format!(
                    "part {} is not printed:\n{part}\n\nbut this is:\n{}",
                    index + 1,
                    output.join("\n")
                ));
            }
        }
    }
    None
}

fn is_like(expected: &str, shown: &str) -> bool {
    let parts: Vec<&str> = expected.trim_end().split('…').collect();
    let [first, between @ .., last] = parts.as_slice() else {
        return expected.trim_end() == shown;
    };
    let Some(mut rest) = shown.strip_prefix(first) else { return false };
    for part in between {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

#[test]
fn outputs_are_compared_line_by_line() {
    let fails = |expected: &str, output: &str| {
        missing(&expected.lines().map(str::to_owned).collect::<Vec<_>>(), output).is_some()
    };
    let output = "one\ntwo 2 in 0.3 s\n\nthree\nfour";
    for good in ["one", "two 2 in … s", "one\n…\nfour", "…\nthree\n…", "…\nthree\nfour"] {
        assert!(!fails(good, output), "{good}");
    }
    for bad in ["five", "one\nthree", "three\n…\none", "two 3 in … s", "thre"] {
        assert!(fails(bad, output), "{bad}");
    }
}

#[test]
fn commands_are_found_in_blocks() {
    let lines = ["# first", "sheetport a  # why", "", "sheetport b \\", "    --c", "echo 'x'"];
    let block = Block { lines: lines.map(str::to_owned).to_vec(), ..Block::default() };
    assert_eq!(commands(&block), ["sheetport a", "sheetport b \\\n    --c", "echo 'x'"]);
}
