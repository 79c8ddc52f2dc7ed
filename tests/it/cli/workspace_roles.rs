//! Roles of PostgreSQL for single workspaces, as `packaging/postgres/workspaces.sql` makes them.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use super::desk::{Desk, late, moves};
use super::process::Ended;
use super::{accounting, items, summary};
use crate::faults::server::Reply;

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/packaging/postgres/workspaces.sql");
/// The tables in which every row belongs to one workspace.
const OWN: [&str; 12] = [
    "run",
    "total",
    "record_block",
    "source_block",
    "outcome",
    "claim",
    "accepted",
    "intent",
    "event",
    "part",
    "turn",
    "run_workspace",
];

fn token_of(workspace: &str) -> String {
    let part = |value: &Value| BASE64_URL_SAFE_NO_PAD.encode(value.to_string());
    let claims = json!({"workspace": workspace, "access": "full", "exp": 4_000_000_000_u64});
    format!("{}.{}.c2ln", part(&json!({"alg": "HS256", "typ": "JWT"})), part(&claims))
}

/// A ledger for roles of two workspaces.
struct Roles {
    desk: Desk,
}

impl Roles {
    async fn new() -> Option<Roles> {
        let roles = Roles { desk: Desk::new(|_| late(Reply::Accept)).await? };
        roles.desk.run("owner", &["runs"], 0).await;
        // Again, as after a new version.
        for _ in 0..2 {
            roles.run_script();
        }
        let roles_of_workspaces = "CREATE ROLE shop LOGIN; CREATE ROLE other LOGIN; GRANT sheetport_member TO shop, other; \
                                   INSERT INTO workspace_role VALUES ('shop', 'shop'), ('other', 'other')";
        roles.desk.server.query("ledger", roles_of_workspaces);
        roles.desk.place.write("items.csv", items(70));
        roles.desk.place.write("moves.csv", moves(5));
        Some(roles)
    }

    fn run_script(&self) {
        let script = std::fs::read_to_string(SCRIPT).unwrap();
        let statements: Vec<&str> = script.lines().filter(|line| !line.starts_with('\\')).collect();
        self.desk.server.query("ledger", &statements.join("\n"));
    }

    /// Runs a command as a role with a token of a workspace.
    async fn run_as(&self, role: &str, workspace: &str, args: &[&str], code: i32) -> Ended {
        let ledger = self.desk.ledger.replace("user=sheetport", &format!("user={role}"));
        let command = self.desk.on(role, args).env("SHEETPORT_LEDGER", &ledger);
        let command = command.secret("SHEETPORT_ACCESS_TOKEN", &token_of(workspace));
        tokio::task::spawn_blocking(move || command.exits(code)).await.unwrap()
    }

    /// Runs a statement as a role.
    fn query_as(&self, role: &str, statement: &str) -> String {
        self.desk.server.query("ledger", &format!("SET ROLE {role}; {statement}"))
    }

    /// Returns all rows of a table that a role sees.
    fn rows(&self, role: &str, table: &str) -> Vec<String> {
        let rows = self
            .query_as(role, &format!("SELECT row_to_json({table}) FROM {table} ORDER BY row_to_json({table})::TEXT"));
        rows.lines().map(str::to_owned).collect()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_role_works_with_the_runs_of_its_workspace_and_sees_no_others() {
    let Some(roles) = Roles::new().await else { return };
    for (role, first, second) in [("shop", "1", "2"), ("other", "4", "5")] {
        let queued = ["upload", "items.csv", "-t", "items", "--queue", "-q"];
        roles.run_as(role, role, &queued, 0).await;
        let sent = roles.run_as(role, role, &["upload", "moves.csv", "-t", "movements.toml", "--json"], 0).await;
        assert_eq!(accounting(&summary(&sent)), "5: sent 5");
        roles.run_as(role, role, &["work", "--until-idle"], 0).await;
        let ended = roles.run_as(role, role, &["runs", "wait", first, "--json"], 0).await;
        assert_eq!(accounting(&summary(&ended)), "70: sent 70");
        roles.run_as(role, role, &["report", first, "-o", &format!("{role}.csv")], 0).await;
        roles
            .run_as(role, role, &["upload", "moves.csv", "-t", "movements.toml", "--queue", "-q", "--allow-repeat"], 0)
            .await;
        let third = (second.parse::<i64>().unwrap() + 1).to_string();
        roles.run_as(role, role, &["runs", "stop", &third, "--by", "Ann"], 0).await;
        roles.run_as(role, role, &["resume", &third], 0).await;
        let runs: Value = roles.run_as(role, role, &["runs", "--json"], 0).await.json();
        assert_eq!(runs["runs"].as_array().unwrap_or_else(|| panic!("{runs}")).len(), 3, "{runs}");
    }
    assert_eq!(roles.desk.service.received(), 2 * (70 + 5 + 5));

    // Nothing of the other workspace can be seen, in any table, or changed by any command or statement.
    for args in [
        vec!["runs", "show", "1"],
        vec!["report", "1", "-o", "x.csv"],
        vec!["resume", "1"],
        vec!["runs", "stop", "1", "--by", "Eve"],
    ] {
        roles.run_as("other", "other", &args, 2).await.says(&["there is no run 1"]);
    }
    for table in OWN {
        let (of_owner, of_shop, of_other) =
            (roles.rows("sheetport", table), roles.rows("shop", table), roles.rows("other", table));
        assert!(!of_shop.is_empty() || table == "accepted", "{table}");
        let mut of_both: Vec<String> = of_shop.iter().chain(&of_other).cloned().collect();
        of_both.sort_unstable();
        let mut all = of_owner;
        all.sort_unstable();
        assert_eq!(of_both, all, "{table}");
        // The triggers alone change this one.
        if table != "run_workspace" {
            roles.query_as("other", &format!("DELETE FROM {table}"));
        }
        assert_eq!(roles.rows("shop", table), of_shop, "{table}");
    }
    // What a role has no workspace for is refused, too.
    roles
        .run_as("other", "shop", &["upload", "items.csv", "-t", "items", "--queue", "-q"], 1)
        .await
        .says(&["row-level security"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_sent_stays_known_to_a_role_and_a_failover_concerns_all_roles() {
    let Some(roles) = Roles::new().await else { return };
    let upload = ["upload", "moves.csv", "-t", "movements.toml", "--json"];
    roles.run_as("shop", "shop", &upload, 0).await;
    roles.run_as("shop", "shop", &["runs", "prune", "--older-than", "0h"], 0).await;
    let again = roles.run_as("shop", "shop", &upload, 0).await;
    assert_eq!(accounting(&summary(&again)), "5: unchanged 5");

    // Another role is the first to notice that the database is another one, and its own runs are not the only ones in doubt.
    roles.desk.place.write("more.csv", moves(7).replace("S-", "T-"));
    let queue = ["upload", "more.csv", "-t", "movements.toml", "--queue", "-q"];
    roles.run_as("shop", "shop", &queue, 0).await;
    roles.desk.server.query("ledger", "UPDATE place SET identity = '0 0 0'");
    roles.run_as("other", "other", &["upload", "items.csv", "-t", "items", "-q"], 0).await;
    assert_eq!(roles.desk.server.query("ledger", "SELECT COUNT(*) FROM doubt"), "1");
    roles.run_as("shop", "shop", &["work", "--until-idle"], 0).await;
    let shown = roles.run_as("shop", "shop", &["runs", "show", "3", "--json"], 0).await.json();
    assert_eq!(super::count(&shown, "unknown"), 7, "{shown}");
}
