//! The reference of all settings as Markdown, made from their definitions: the flags, the sections
//! and the defaults that a new crawl's `crawl.toml` would have.

use std::fmt::Write;
use std::path::PathBuf;

use clap::{Args, Command};
use toml::{Table, Value};

use super::Settings;
use super::sections::{LimitsSection, RetrySection, TrapsSection};
use super::written::WrittenSettings;

const HEAD: &str = "\
# Configuration

Every setting has one name: a flag `--max-pages 100` is the line `max_pages = 100` in a file for
`--config` and in the `crawl.toml` of a crawl's directory. Flags win over `--config`, and that wins
over the `crawl.toml` of the last run. `max_pages`, `max_bytes`, `max_time` and `coverage` hold for
one run; a bound that an earlier run set is lifted with `none`. Unknown keys are refused, with the
nearest known one. Durations are `300ms`, `5s`, `10m`, `2h`, `7d`; sizes `500kB`, `64MB`, `1GiB`.

This page is made from the definitions of the settings by `rhumb man --configuration`.
";

const RULES: &str = "
## [[hours]]

When hosts may be asked, in order; the first rule whose pattern matches decides. A rule that matches
a host's front page holds for the whole host, its robots.txt included: it sleeps until its hours
begin, and the crawl waits for it. One that matches single URLs puts those off.

| key | meaning |
|---|---|
| `pattern` | a regular expression, searched in the whole URL |
| `from`, `to` | times of day, as in `from = \"22:00\"` and `to = \"06:00\"`, or over midnight |
| `zone` | the zone of these times: `Europe/Berlin`, `UTC`, `+02:00`; the system's, if left out |

## [[priority]]

Rules on URLs, in order; the first whose pattern matches decides. A rule has a pattern and at least
one of the others.

| key | meaning |
|---|---|
| `pattern` | a regular expression, searched in the whole URL |
| `class` | the front queue, 0 the most urgent |
| `weight` | doubling it moves a URL up by a class, and makes its visits worth twice as much |
| `max_interval` | --continuous sees such a page at least this often, as far as its budget goes |

## Seeds

`seeds = [\"https://example.org/\", \"https://example.com/ 2\"]`: URLs, each perhaps with the weight
of your trust in it after a space.
";

/// The whole page.
pub fn reference() -> String {
    let defaults = defaults();
    let mut page = String::from(HEAD);
    let command = WrittenSettings::augment_args(Command::new("crawl"));
    for heading in headings(&command) {
        let _ = write!(
            page,
            "\n## {heading}\n\n| key | values | default | meaning |\n|---|---|---|---|\n"
        );
        let below = command.get_arguments().filter(|a| a.get_help_heading() == Some(&heading));
        for argument in below {
            let key = argument.get_id().as_str();
            let values = argument.get_value_names().map(|names| names[0].to_string());
            let values = cell(&values.unwrap_or_default());
            let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
            let (meaning, said) = split_default(&help);
            let default = defaults.get(key).map_or_else(|| said.to_owned(), shown);
            let _ =
                writeln!(page, "| `{key}` | {values} | {} | {} |", code(&default), cell(meaning));
        }
    }
    section(&mut page, &defaults, "retry", RetrySection::KEYS);
    section(&mut page, &defaults, "traps", TrapsSection::KEYS);
    section(&mut page, &defaults, "limits", LimitsSection::KEYS);
    page.push_str(RULES);
    page
}

/// In the order in which the flags are defined.
fn headings(command: &Command) -> Vec<String> {
    let mut headings: Vec<String> = Vec::new();
    for heading in command.get_arguments().filter_map(|argument| argument.get_help_heading()) {
        if !headings.iter().any(|known| known == heading) {
            headings.push(heading.to_owned());
        }
    }
    headings
}

fn section(page: &mut String, defaults: &Table, name: &str, keys: &[(&str, &str)]) {
    let _ = write!(page, "\n## [{name}]\n\n| key | default | meaning |\n|---|---|---|\n");
    let values = defaults.get(name).and_then(Value::as_table);
    for (key, meaning) in keys {
        let default = values.and_then(|table| table.get(*key)).map(shown).unwrap_or_default();
        let _ = writeln!(page, "| `{key}` | {} | {} |", code(&default), cell(meaning.trim()));
    }
}

/// What `crawl.toml` would say of a crawl for which nothing was set.
fn defaults() -> Table {
    let settings = Settings::new(PathBuf::from("rhumb-crawl"), Vec::new());
    Table::try_from(settings.written()).unwrap_or_default()
}

/// A help text ends with its default in brackets: `Requests in flight to one address [2]`.
fn split_default(help: &str) -> (&str, &str) {
    let split = help.strip_suffix(']').and_then(|rest| rest.rsplit_once(" ["));
    split.unwrap_or((help, ""))
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(values) if values.is_empty() => String::new(),
        other => other.to_string(),
    }
}

fn code(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("`{}`", cell(text)) }
}

/// A bar would end the cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_of_a_new_crawls_settings_is_in_the_reference() {
        let page = reference();
        for (key, value) in &defaults() {
            let keys = value
                .as_table()
                .map_or_else(|| vec![key.clone()], |section| section.keys().cloned().collect());
            for key in keys {
                let is_there =
                    page.contains(&format!("| `{key}` |")) || page.contains(&format!("`{key} ="));
                assert!(is_there, "{key} is not in the reference");
            }
        }
        assert!(page.contains("| `delay` | DUR | `1s` |"), "{page}");
    }
}
