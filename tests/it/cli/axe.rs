//! axe, which finds violations of the WCAG in a page.

use std::fs;

use serde_json::Value;

use super::browser::Browser;
use crate::environment;

/// Where `tests/run` installs it.
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/target/programs/node_modules/axe-core/axe.min.js");
/// WCAG 2.2 AA, and habits that help.
const RULES: &str = "['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']";

const SCREENS: [(u32, u32, &str); 3] = [(1280, 900, "light"), (820, 1100, "dark"), (390, 844, "light")];

pub struct Axe {
    script: String,
}

impl Axe {
    /// Returns `None` with a message if axe is not installed.
    pub fn find() -> Option<Axe> {
        let Ok(script) = fs::read_to_string(SCRIPT) else {
            environment::report_missing(SCRIPT);
            return None;
        };
        Some(Axe { script })
    }

    /// Asserts that the page in the browser has no violation and is not too wide, at the widths of a desk, a tablet and a phone.
    #[track_caller]
    pub fn finds_nothing_at_any_width(&self, browser: &mut Browser, what: &str) {
        for (width, height, scheme) in SCREENS {
            browser.screen(width, height, scheme);
            let wide = browser.eval("document.documentElement.scrollWidth > document.documentElement.clientWidth");
            assert_eq!(wide, false, "{what} is wider than {width} pixels");
            self.finds_nothing(browser, &format!("{what}, {width} pixels, {scheme}"));
        }
        browser.screen(1280, 900, "light");
    }

    #[track_caller]
    fn finds_nothing(&self, browser: &mut Browser, what: &str) {
        if browser.eval("typeof axe") != "object" {
            browser.eval(&format!("{}; null", self.script));
        }
        let run = format!(
            "axe.run(document, {{runOnly: {RULES}}}).then((found) => ({{violations: found.violations.flatMap((rule) => \
             rule.nodes.map((node) => `${{rule.id}}: ${{node.html.slice(0, 200)}} ${{node.failureSummary}}`)), \
             passes: found.passes.filter((rule) => rule.tags.includes('wcag2aa')).length}}))"
        );
        let found = browser.eval(&run);
        assert_eq!(found["violations"], Value::Array(Vec::new()), "{what}");
        // Otherwise nothing was looked at.
        assert!(found["passes"].as_u64() > Some(0), "{what}");
    }
}
