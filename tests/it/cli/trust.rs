//! Templates that come with a file: nothing is sent with one that nobody trusted.

use super::process::{Ended, Place};
use super::service::Served;
use super::{accounting, summary};

const ITEMS: &str = "SKU,Name,Price,Cur\nA-1,Bolt,1.50,Euro\nA-2,Nut,0.20,Euro\n";
/// Uses more columns than the built-in template, and sends what the sheet does not say.
const HOSTILE: &str = "\
record = \"item\"
duplicates = \"last\"
[sheet]
skip_where = 'Name == \"None\"'
[fields.externalId]
column = \"SKU\"
[fields.name]
column = \"Name\"
[fields.price]
column = \"Price\"
scale = 100
[fields.status]
value = \"deleted\"
[fields.currency]
column = \"Cur\"
lookup = { file = \"cur.csv\", from = \"Word\", to = \"Code\" }
";

struct Scene {
    place: Place,
    served: Served,
}

impl Scene {
    fn new() -> Scene {
        let place = Place::new();
        let served = Served::start(&place);
        std::fs::create_dir_all(place.path("home")).unwrap();
        std::fs::create_dir(place.path("from supplier")).unwrap();
        place.write("from supplier/items.csv", ITEMS);
        place.write("from supplier/list.toml", HOSTILE);
        place.write("from supplier/cur.csv", "Word,Code\nEuro,EUR\n");
        Scene { place, served }
    }

    fn run(&self, words: &[&str], exit: i32) -> Ended {
        self.served.sheetport(&self.place, words.iter().copied()).exits(exit)
    }

    fn upload(&self, flags: &[&str], exit: i32) -> Ended {
        let words = [&["upload", "from supplier/items.csv"], flags].concat();
        self.run(&words, exit)
    }

    /// An upload with --yes is refused, and nothing is sent.
    #[track_caller]
    fn is_refused(&self) {
        for flags in [&["--yes"][..], &[], &["--yes", "--json"]] {
            let refused = self.upload(flags, 2);
            refused.says(&[
                "not trusted yet",
                "sheetport template trust 'from supplier/list.toml'",
                "-t 'from supplier/list.toml'",
            ]);
        }
        assert_eq!(self.served.total(), 0);
    }
}

#[test]
fn a_template_beside_the_file_sends_nothing_before_it_is_trusted() {
    let scene = Scene::new();
    scene.is_refused();
    // Agreed in general, but not to this template.
    scene.place.write("home/sheetport.toml", "[profiles.default]\naccept_recognized = true\n");
    scene.is_refused();
    // Nothing is sent, so it may be looked at.
    for words in [&["check", "from supplier/items.csv"][..], &["upload", "from supplier/items.csv", "--dry-run"]] {
        let looked = scene.run(words, 0);
        let looked =
            looked.says(&["next to the file, not trusted yet", "status = 'deleted'", "cur.csv", "template trust"]);
        looked.says(&["price: scale = 100", "skip_where = 'Name == \"None\"'", "duplicates = \"last\""]);
    }
    scene.is_refused();

    let trusted = scene.run(&["template", "trust", "from supplier/list.toml"], 0);
    let trusted = trusted.shows(&["trusted as it is now, for items"]);
    trusted.says(&["'SKU' → externalId", "status = 'deleted'", "cur.csv"]);
    assert_eq!(accounting(&summary(&scene.upload(&["--yes", "--json"], 0))), "2: sent 2");
}

#[test]
fn trust_ends_when_the_template_or_a_lookup_table_changes() {
    for (changed, content) in [
        ("from supplier/list.toml", HOSTILE.replace("100", "1000")),
        ("from supplier/cur.csv", "Word,Code\nEuro,USD\n".to_owned()),
    ] {
        let scene = Scene::new();
        scene.run(&["template", "trust", "from supplier/list.toml"], 0);
        scene.place.write(changed, content);
        scene.is_refused();
    }
}

#[test]
fn sending_with_a_named_template_trusts_it_as_it_is() {
    let scene = Scene::new();
    scene.run(&["check", "from supplier/items.csv", "-t", "from supplier/list.toml"], 0);
    scene.is_refused();
    scene.upload(&["-t", "from supplier/list.toml"], 0);
    assert_eq!(accounting(&summary(&scene.upload(&["--yes", "--json"], 0))), "2: sent 2");
    // Also from elsewhere, as a template of a run, but not after a change.
    scene.place.write("next.csv", ITEMS.replace("A-", "B-"));
    let upload = |exit| scene.run(&["upload", "next.csv", "--yes"], exit);
    upload(0);
    scene.place.write("from supplier/list.toml", HOSTILE.replace("100", "1000"));
    upload(2).says(&["of run", "not trusted yet"]);
}

#[test]
fn built_in_templates_need_no_trust_and_settings_beside_a_file_are_not_read() {
    let scene = Scene::new();
    std::fs::remove_file(scene.place.path("from supplier/list.toml")).unwrap();
    scene
        .place
        .write("from supplier/sheetport.toml", "[profiles.default]\nbase_url = \"http://192.0.2.1\"\nprofile = 1\n");
    scene.place.write("sheetport.toml", "[profiles.default]\nbase_url = \"http://192.0.2.1\"\nprofile = 1\n");
    assert_eq!(accounting(&summary(&scene.upload(&["--yes", "--json"], 0))), "2: sent 2");
    let refused = scene.run(&["template", "trust", "items"], 2);
    refused.says(&["items is a built-in template"]);
}

#[cfg(unix)]
#[test]
fn trusted_templates_are_the_users_own() {
    use std::os::unix::fs::MetadataExt;

    let scene = Scene::new();
    for _ in 0..2 {
        scene.run(&["template", "trust", "from supplier/list.toml"], 0);
    }
    let path = scene.place.path("home/trusted-templates");
    assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text.lines().count(), 1, "{text}");
}

/// Many tables that fit in memory one by one do not together.
#[test]
fn lookup_tables_of_templates_beside_a_file_are_bounded() {
    let scene = Scene::new();
    let keys: String = (0..8_000).map(|key| format!("{key:x<3000},EUR\n")).collect();
    scene.place.write("from supplier/cur.csv", format!("Word,Code\n{keys}"));
    for copy in 0..4 {
        scene.place.write(&format!("from supplier/list-{copy}.toml"), HOSTILE.replace("100", &copy.to_string()));
    }
    let looked = scene.run(&["check", "from supplier/items.csv"], 0);
    looked.says(&["the lookup tables of the templates beside the file are large"]);
}
