//! How people name a topic: `words:…`, `like:URL|FILE`, `model:FILE`, `regex:…`.

use crate::naming::{TopicPattern, TopicWords};
use std::str::FromStr;

/// One `--topic`, before what it names was read.
#[derive(Clone, Debug)]
pub enum Spec {
    Words(TopicWords),
    /// A file, a folder of files or an address with an example.
    Like(String),
    /// A file that `rhumb topic train` or fastText has made.
    Model(String),
    Pattern(TopicPattern),
}

/// Phrases of a `words:` that are looked for.
const PHRASES_MAX: usize = 1_000;

impl FromStr for Spec {
    type Err = String;

    fn from_str(text: &str) -> Result<Spec, String> {
        let unknown = || {
            format!(
                "{text:?} is no topic: it begins with words:, like:, model: or regex:, as in \
                 words:\"solar energy, photovoltaics\""
            )
        };
        let (kind, rest) = text.split_once(':').ok_or_else(unknown)?;
        let rest = rest.trim();
        let named = |rest: &str| match rest {
            "" => Err(format!("{kind}: names nothing: {kind}:FILE")),
            rest => Ok(rest.to_owned()),
        };
        match kind {
            "words" => {
                let words = TopicWords::parse(rest);
                match words.phrases.len() {
                    0 => Err("words: holds no word: words:solar,photovoltaics".to_owned()),
                    1..=PHRASES_MAX => Ok(Spec::Words(words)),
                    n => Err(format!(
                        "words: holds {n} phrases, and {PHRASES_MAX} are looked for at most: make \
                         a model of examples with rhumb topic train"
                    )),
                }
            }
            "like" => named(rest).map(Spec::Like),
            "model" => named(rest).map(Spec::Model),
            "regex" => TopicPattern::parse(rest)
                .map(Spec::Pattern)
                .map_err(|why| format!("regex:{rest}: {why}")),
            _ => Err(unknown()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_topic_says_what_it_is_and_what_is_wrong_with_it() {
        assert!(matches!("words:a, b".parse(), Ok(Spec::Words(words)) if words.phrases.len() == 2));
        assert!(
            matches!("like:http://e.org/a".parse(), Ok(Spec::Like(at)) if at == "http://e.org/a")
        );
        assert!(matches!("model:m.topic".parse(), Ok(Spec::Model(_))));
        assert!(matches!("regex:solar|wind".parse(), Ok(Spec::Pattern(_))));
        for (wrong, word) in [
            ("solar", "begins with"),
            ("word:solar", "begins with"),
            ("words: ,", "no word"),
            ("like:", "names nothing"),
            ("regex:(", "regex:("),
            ("regex:.*", "every page"),
        ] {
            let error = wrong.parse::<Spec>().unwrap_err();
            assert!(error.contains(word), "{wrong}: {error}");
        }
    }
}
