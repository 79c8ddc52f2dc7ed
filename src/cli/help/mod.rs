//! Flags of the commands that describe the command line and its output, and the texts of `--help`.

mod groups;
mod language;
mod schema;
mod terminal;

use clap::Args;

pub(super) use language::translated;
pub use language::{language, texts};
pub use schema::Schema;
pub use terminal::{Completions, Man};
pub(super) use terminal::{GLOBAL, with_short_help};

#[derive(Args, Debug)]
pub struct Help {
    /// A command such as `upload`, codes of problems such as `not-a-number`, a key of templates such as `fill_down`, a state such as
    /// `unknown`, or an exit code such as 3; `codes` and `keys` list them all
    #[arg(value_name = "TOPIC")]
    pub topic: Vec<String>,
}
